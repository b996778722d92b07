// Follows softswitch: connects when it is there, notices when it ends, and connects again.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "bfrt_server/running_switch.h"

namespace turntable::bfrt_server {

// Thread-safe.
class SwitchKeeper {
 public:
  // `lost` is called, on the keeper's thread, after softswitch ended.
  SwitchKeeper(SwitchOptions options, std::function<void()> lost);
  ~SwitchKeeper();
  SwitchKeeper(const SwitchKeeper&) = delete;
  SwitchKeeper& operator=(const SwitchKeeper&) = delete;

  // Throws Failure UNAVAILABLE, which says why, where softswitch does not run.
  std::shared_ptr<RunningSwitch> current() const;

 private:
  void follow();
  void connect_and_wait();
  bool stopped_within(std::chrono::milliseconds time);

  SwitchOptions options_;
  std::function<void()> lost_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::shared_ptr<RunningSwitch> current_;
  std::string why_not_ = "it was not looked for yet";
  std::thread thread_;
};

}  // namespace turntable::bfrt_server
