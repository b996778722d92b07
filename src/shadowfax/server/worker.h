// A worker of a server: one thread with a port of its own. A client's connection is served by one
// worker alone, so no request ever passes from one thread to another.
#pragma once

#include <netinet/in.h>
#include <sys/epoll.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/unique_fd.h"
#include "hybridlog/store.h"
#include "load/capacity.h"
#include "shadowfax/server/connection.h"

namespace turntable::shadowfax {

struct WorkerSettings {
  std::string address = "127.0.0.1";  // IPv4
  // What clients prove that they know, and the worker to them. Nothing: they prove nothing, and it
  // listens at addresses of this machine alone, 127.0.0.0/8.
  std::optional<std::string> secret{};
  std::uint16_t port = 0;         // 0: any that is free
  std::size_t most_pending = 64;  // of a session, above which its batches are refused
  std::chrono::nanoseconds opening_time{SessionOpening::kDeadlineNs};  // another one for tests
  // Without anything to do it looks again and again for so long, then waits to be woken.
  std::chrono::nanoseconds spin{50'000};
  // Operations it does in a second, at most: a FIFO service time (load/capacity.h). 0: as many as
  // it can.
  double capacity_per_s = 0;
};

// What a worker has counted at one instant.
struct WorkerReading {
  std::int64_t operations = 0, pending = 0;  // pending: had to wait, for instance for the device
  std::int64_t batches = 0, refused_batches = 0;
  std::int64_t sessions = 0;                                          // that were opened
  std::array<std::int64_t, kRefusalNames.size()> refused_openings{};  // by OpeningRefusal
  std::int64_t cpu_ns = 0;                                            // of its thread
  std::optional<std::int64_t> waited_ns;  // ready, without a processor; where the kernel counts it
};

class Worker {
 public:
  // Listens. Throws std::system_error, std::invalid_argument.
  // ranges: null where views alone say who owns what.
  Worker(hybridlog::Store& store, const Commits& commits, const Serving& serving,
         const RangeCheck* ranges, const WorkerSettings& settings);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  std::uint16_t port() const noexcept { return port_; }

  void run();   // until stop(); by one thread
  void stop();  // by any thread

  // Since it began. By any thread, while run() runs or has not begun.
  WorkerReading read() const;

 private:
  void handle(std::span<const epoll_event> events);
  void accept();
  void make_room();
  void close(Connection& connection);
  void end_late_openings(std::int64_t now_ns);
  int longest_wait_ms(std::int64_t now_ns) const noexcept;
  void watch_listening();
  void go_on();
  void keep(Connection& connection, Connection::State state);
  bool is_waited_for() const noexcept;
  void take_part();
  void take_time(std::size_t operations);

  void wake() const noexcept;

  hybridlog::Store& store_;
  const Commits& commits_;
  const Serving& serving_;
  const RangeCheck* const ranges_;
  const WorkerSettings settings_;
  UniqueFd listening_, epoll_, wake_;
  std::uint16_t port_ = 0;
  std::atomic<bool> stops_{false};
  std::atomic<pid_t> tid_{0};  // of the thread in run(); 0: none yet
  clockid_t cpu_clock_{};      // its own; before tid_
  WorkerCounts counts_;
  // Of the thread in run().
  std::int64_t listen_again_ns_ = 0;  // 0: it listens
  load::FifoCapacity capacity_;
  std::int64_t free_ns_ = 0;  // when it had done what it was given last
  bool was_idle_ = true;      // since
  std::optional<hybridlog::Epoch::Thread> thread_;
  std::unordered_map<int, std::unique_ptr<Connection>> connections_;  // by descriptor
  struct Opened {
    int fd;
    in_addr_t from;
    std::int64_t until_ns;
  };
  std::vector<Opened> unopened_;  // connections without a session yet, the oldest first
  // Sessions whose connections have ended, and that have still something to do: what they wait for
  // may be another server.
  std::vector<std::unique_ptr<BatchServer>> left_;
};

}  // namespace turntable::shadowfax
