// A redis-server of one's own: a child process behind a Unix socket, with no port, no file on a
// disk and nothing in it at first. It ends with this object, and if this process is killed.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>

#include "node/process.h"

namespace turntable::netclone {

class RedisProcess {
 public:
  // Its socket and its log are NAME.redis.sock and NAME.redis.log in `directory`. Returns when it
  // takes connections. Throws CommandError that says what to do.
  RedisProcess(const std::filesystem::path& directory, const std::string& name);
  ~RedisProcess();
  RedisProcess(const RedisProcess&) = delete;
  RedisProcess& operator=(const RedisProcess&) = delete;

  const std::filesystem::path& socket() const { return socket_; }

 private:
  void keep();
  void start();
  void wait_for_socket() const;
  void stop() noexcept;

  const std::filesystem::path socket_;
  const std::filesystem::path log_;
  node::Process process_;

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  enum class State : std::uint8_t { kStarting, kRuns, kFailed, kStop } state_ = State::kStarting;
  std::string error_;

  // The kernel ends the child when the thread that started it ends, so that one stays.
  std::thread keeper_;
};

}  // namespace turntable::netclone
