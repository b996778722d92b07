// Follows softswitch: connects when it is there, notices when it ends, and connects again.
#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace turntable::bfrt_server {

// A thread of its own.
class SwitchFollower {
 public:
  // Called on that thread.
  struct Events {
    // softswitch is there. May throw: what it says is why there is no switch, and it is tried
    // again.
    std::function<void()> appeared;
    // It is there still: about every 0.2 s. May throw CommandError, and is called again.
    std::function<void()> goes_on;
    // It has ended, after it appeared.
    std::function<void()> lost;
    // Why there is none; told when it changes.
    std::function<void(const std::string& why)> absent;
  };

  // `name`: the node name of softswitch, whose control socket is in the directory.
  SwitchFollower(std::filesystem::path directory, std::string name, Events events);
  ~SwitchFollower();
  SwitchFollower(const SwitchFollower&) = delete;
  SwitchFollower& operator=(const SwitchFollower&) = delete;

 private:
  void follow();
  bool connect_and_wait();
  bool stopped_within(std::chrono::milliseconds time);

  std::filesystem::path directory_;
  std::string name_;
  Events events_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace turntable::bfrt_server
