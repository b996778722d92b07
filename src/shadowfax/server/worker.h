// A worker of a server: one thread with a port of its own. A client's connection is served by one
// worker alone, so no request ever passes from one thread to another.
#pragma once

#include <sys/epoll.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "common/unique_fd.h"
#include "hybridlog/store.h"
#include "shadowfax/server/connection.h"

namespace turntable::shadowfax {

struct WorkerSettings {
  std::string address = "127.0.0.1";  // IPv4
  std::uint16_t port = 0;             // 0: any that is free
  std::size_t most_pending = 64;      // of a session, above which its batches are refused
  // Without anything to do it looks again and again for so long, then waits to be woken.
  std::chrono::nanoseconds spin{50'000};
};

class Worker {
 public:
  // Listens. Throws std::system_error, std::invalid_argument.
  Worker(hybridlog::Store& store, const WorkerSettings& settings);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  std::uint16_t port() const noexcept { return port_; }

  void run();   // until stop(); by one thread
  void stop();  // by any thread

 private:
  void handle(std::span<const epoll_event> events);
  void accept();
  void go_on();
  void keep(Connection& connection, Connection::State state);
  bool is_waited_for() const noexcept;

  hybridlog::Store& store_;
  const WorkerSettings settings_;
  UniqueFd listening_, epoll_, wake_;
  std::uint16_t port_ = 0;
  std::atomic<bool> stops_{false};
  std::uint64_t view_ = 1;
  // Of the thread in run().
  std::optional<hybridlog::Epoch::Thread> thread_;
  std::unordered_map<int, std::unique_ptr<Connection>> connections_;  // by descriptor
};

}  // namespace turntable::shadowfax
