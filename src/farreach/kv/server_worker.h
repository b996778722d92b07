// The data path of one logical server: receives requests, executes them in order of arrival, and
// sends each answer when the server's capacity allows (load/capacity.h).
//
// The kernel's socket buffer is the queue. The worker takes up a request only when the one before
// has finished in virtual time, so it wakes up once per operation and never spins; when it is late
// it executes what is due in one go and sends those answers together.
//
// A request that the method holds back (NetCache: a write whose key's last update the switch has
// not acknowledged) holds up all behind it; that time is added to its service time.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "common/counter.h"
#include "common/unique_fd.h"
#include "farreach/kv/reassembly.h"
#include "farreach/kv/request_handler.h"
#include "load/busy_timer.h"
#include "load/capacity.h"
#include "load/window.h"
#include "net/udp.h"

namespace turntable::kv {

struct WorkerCounters {
  Counter realtime;           // 1: the worker has real-time priority
  Counter served_total;       // operations answered
  Counter served_in_window;   // of these, finished (in virtual time) in the window
  Counter busy_in_window_ns;  // service time that lies in the window
  Counter malformed;          // datagrams that are no request
  Counter receive_errors;
  Counter send_errors;
  Counter late_max_ns;   // an answer's sending after its finish, at most
  Counter lost_ns;       // capacity lost to scheduling delay beyond what may be caught up
  Counter store_ns;      // elapsed while executing
  Counter blocked_ns;    // service time beyond 1/c: the store held the worker up, or the method
  Counter held_back_ns;  // of that, what the method held requests back
  Counter held_back_in_window_ns;  // of that, what lies in the window
};

class ServerWorker {
 public:
  struct Settings {
    double capacity_ops_per_s = 0;  // 0: no limit
    std::size_t clients = 64;       // that many large values can be under way at once
    bool large_values = false;      // whether there can be any
  };

  // Socket and handler must outlive the worker.
  ServerWorker(int socket, RequestHandler& handler, const Settings& settings);

  // Serves until stop(). Call it on a thread of its own.
  void run();
  void stop() noexcept;  // thread-safe

  load::Window& window() { return window_; }
  const WorkerCounters& counters() const { return counters_; }
  const ReassemblyCounters& large_values() const { return large_values_.counters(); }

 private:
  bool stopping() const noexcept { return stopping_.load(std::memory_order_relaxed); }
  bool receive();
  void wait_for_request() noexcept;
  void wait_until(std::int64_t at_ns) noexcept;
  void wait(std::int64_t until_ns, bool for_requests) noexcept;
  void serve(const net::ReceiveBatch::Datagram& datagram);
  void execute(const Packet& request, const net::ReceiveBatch::Datagram& datagram);
  RequestHandler::Outcome execute_or_wait(const Packet& request, const sockaddr_in& client,
                                          Packet& answer);
  std::size_t add_answer(Packet& answer, const sockaddr_in& client) noexcept;
  void send(std::size_t count) noexcept;

  int socket_;
  RequestHandler& handler_;
  BackgroundWork* background_;  // null: none
  load::FifoCapacity capacity_;
  std::optional<load::BusyTimer> timer_;  // of the worker's thread
  UniqueFd stop_event_;
  std::atomic<bool> stopping_{false};
  load::Window window_;
  WorkerCounters counters_;

  net::ReceiveBatch requests_;
  std::size_t next_request_ = 0;
  std::size_t request_count_ = 0;
  std::int64_t to_monotonic_ns_ = 0;  // from CLOCK_REALTIME, as of the last receive

  Reassembly large_values_;
  std::uint32_t transmission_ = 0;  // of large answers

  std::int64_t executing_since_ns_ = 0;
  net::SendBatch answers_;
  std::int64_t first_due_ns_ = 0;  // finish of the oldest answer not sent
};

}  // namespace turntable::kv
