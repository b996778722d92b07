#include "bfrt_server/switch_keeper.h"

#include <chrono>
#include <cstdio>

#include "bfrt_server/failure.h"
#include "common/deadline.h"

namespace turntable::bfrt_server {
namespace {

constexpr std::chrono::milliseconds kTryAgain{200};
// How soon the keeper ends when it is told to.
constexpr std::chrono::milliseconds kLookUp{200};

}  // namespace

SwitchKeeper::SwitchKeeper(SwitchOptions options, std::function<void()> lost)
    : options_(std::move(options)), lost_(std::move(lost)), thread_([this] { follow(); }) {}

SwitchKeeper::~SwitchKeeper() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

std::shared_ptr<RunningSwitch> SwitchKeeper::current() const {
  const std::lock_guard lock(mutex_);
  if (current_ != nullptr) return current_;
  throw not_ready("the switch behind this server does not run: " + why_not_ + ";");
}

bool SwitchKeeper::stopped_within(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return wake_.wait_for(lock, time, [&] { return stopping_; });
}

void SwitchKeeper::follow() {
  do {
    std::string why;
    try {
      connect_and_wait();
      why = "softswitch ended";
    } catch (const std::exception& error) {
      why = error.what();
    }
    const std::lock_guard lock(mutex_);
    if (why != why_not_) std::fprintf(stderr, "bfrt-server: no switch: %s\n", why.c_str());
    why_not_ = why;
  } while (!stopped_within(kTryAgain));
}

// Returns when softswitch has ended, or this object ends.
void SwitchKeeper::connect_and_wait() {
  const auto connection =
      node::ControlClient(options_.directory, options_.name);  // its process is watched
  auto running = std::make_shared<RunningSwitch>(options_);
  std::fprintf(stderr, "bfrt-server: serves program %s\n", running->program().c_str());
  {
    const std::lock_guard lock(mutex_);
    current_ = std::move(running);
  }
  bool ended = false;
  while (!ended && !stopped_within(std::chrono::milliseconds(0)))
    ended = connection.wait_for_exit(Deadline::after(kLookUp));
  {
    const std::lock_guard lock(mutex_);
    current_ = nullptr;
    why_not_ = "softswitch ended";
  }
  if (ended) lost_();
}

}  // namespace turntable::bfrt_server
