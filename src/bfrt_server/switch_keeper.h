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
  // `lost` is called after softswitch ended, or runs another program: with the reason.
  SwitchKeeper(const SwitchOptions& options, std::function<void(const std::string& why)> lost);

  // Throws Failure UNAVAILABLE, which says why, where softswitch does not run.
  std::shared_ptr<RunningSwitch> current() const;
  // The same, after the switch was asked whether it still runs that program. Throws CommandError
  // where it does not answer, too.
  std::shared_ptr<RunningSwitch> ask_current();

 private:
  void appeared();
  void go_on();
  void put(std::shared_ptr<RunningSwitch> running);
  void ended();

  SwitchOptions options_;
  std::function<void(const std::string& why)> lost_;
  std::mutex asking_;
  mutable std::mutex mutex_;
  std::shared_ptr<RunningSwitch> current_;
  std::string why_not_ = "it was not looked for yet";
  SwitchFollower follower_;  // last: its thread uses the others
};

}  // namespace turntable::bfrt_server
