// softswitch as it runs now: connected when it is there, forgotten when it ends, connected again.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "bfrt_server/running_switch.h"
#include "bfrt_server/switch_follower.h"

namespace turntable::bfrt_server {

// Thread-safe.
class SwitchKeeper {
 public:
  // `lost` is called, on the keeper's thread, after softswitch ended.
  SwitchKeeper(const SwitchOptions& options, std::function<void()> lost);

  // Throws Failure UNAVAILABLE, which says why, where softswitch does not run.
  std::shared_ptr<RunningSwitch> current() const;

 private:
  void appeared();
  void ended();

  SwitchOptions options_;
  std::function<void()> lost_;
  mutable std::mutex mutex_;
  std::shared_ptr<RunningSwitch> current_;
  std::string why_not_ = "it was not looked for yet";
  SwitchFollower follower_;  // last: its thread uses the others
};

}  // namespace turntable::bfrt_server
