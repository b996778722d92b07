#include "bfrt_server/switch_keeper.h"

#include <cstdio>

#include "bfrt_server/failure.h"

namespace turntable::bfrt_server {

SwitchKeeper::SwitchKeeper(const SwitchOptions& options,
                           std::function<void(const std::string& why)> lost)
    : options_(options),
      lost_(std::move(lost)),
      follower_(options.directory, options.name,
                {[this] { appeared(); }, [this] { go_on(); }, [this] { ended(); },
                 [this](const std::string& why) {
                   std::fprintf(stderr, "bfrt-server: no switch: %s\n", why.c_str());
                   const std::lock_guard lock(mutex_);
                   why_not_ = why;
                 }}) {}

std::shared_ptr<RunningSwitch> SwitchKeeper::current() const {
  const std::lock_guard lock(mutex_);
  if (current_ != nullptr) return current_;
  throw not_ready("the switch behind this server does not run: " + why_not_ + ";");
}

std::shared_ptr<RunningSwitch> SwitchKeeper::ask_current() {
  const std::lock_guard asking(asking_);
  auto before = current();
  if (before->link().has_program()) return before;
  auto now = std::make_shared<RunningSwitch>(options_, *before);
  lost_("the switch runs program " + now->program() + " now;");
  put(now);
  return now;
}

void SwitchKeeper::go_on() {
  try {
    ask_current();
  } catch (const Failure&) {  // it has just ended
  }
}

void SwitchKeeper::appeared() {
  put(std::make_shared<RunningSwitch>(options_));
}

void SwitchKeeper::put(std::shared_ptr<RunningSwitch> running) {
  std::fprintf(stderr, "bfrt-server: serves program %s\n", running->program().c_str());
  const std::lock_guard lock(mutex_);
  current_ = std::move(running);
}

void SwitchKeeper::ended() {
  {
    const std::lock_guard lock(mutex_);
    current_ = nullptr;
    why_not_ = "softswitch ended";
  }
  lost_("softswitch ended, and with it all that was written;");
}

}  // namespace turntable::bfrt_server
