#include "bfrt_server/switch_follower.h"

#include "common/command_error.h"
#include "common/deadline.h"
#include "node/control_client.h"

namespace turntable::bfrt_server {
namespace {

constexpr std::chrono::milliseconds kTryAgain{200};
// How soon the follower ends when it is told to.
constexpr std::chrono::milliseconds kLookUp{200};

}  // namespace

SwitchFollower::SwitchFollower(std::filesystem::path directory, std::string name, Events events)
    : directory_(std::move(directory)),
      name_(std::move(name)),
      events_(std::move(events)),
      thread_([this] { follow(); }) {}

SwitchFollower::~SwitchFollower() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

bool SwitchFollower::stopped_within(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return wake_.wait_for(lock, time, [&] { return stopping_; });
}

void SwitchFollower::follow() {
  std::string before;
  do {
    std::string why = "softswitch ended";
    try {
      if (!connect_and_wait()) return;
    } catch (const std::exception& error) {
      why = error.what();
    }
    if (why != before) events_.absent(why);
    before = why;
  } while (!stopped_within(kTryAgain));
}

// Whether softswitch has ended; otherwise this object ends.
bool SwitchFollower::connect_and_wait() {
  const auto connection = node::ControlClient(directory_, name_);  // its process is watched
  events_.appeared();
  bool ended = false;
  while (!ended && !stopped_within(std::chrono::milliseconds(0))) {
    ended = connection.wait_for_exit(Deadline::after(kLookUp));
    try {
      if (!ended) events_.goes_on();
    } catch (const CommandError&) {  // it is slow, or ends
    }
  }
  if (ended) events_.lost();
  return ended;
}

}  // namespace turntable::bfrt_server
