// The thread of laedge-coordinator: datagrams around a Coordinator.
#pragma once

#include <netinet/in.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "common/schedstat.h"
#include "common/unique_fd.h"
#include "net/datagrams.h"
#include "netclone/coordinator/coordinator.h"
#include "stats/histogram.h"

namespace turntable::netclone {

class CoordinatorThread {
 public:
  struct Statistics {
    static constexpr std::int64_t kMaxQueue = 1'000'000;
    static constexpr std::int64_t kMaxWaitNs = 60'000'000'000;

    Coordinator::Counts total, window;
    std::int64_t malformed = 0;
    std::int64_t no_client = 0;  // requests of none of the clients, dropped
    std::int64_t send_errors = 0;
    std::int64_t receive_errors = 0;
    std::uint32_t socket_drops = 0;
    std::size_t under_way = 0;
    std::size_t queue_length = 0;
    bool window_closed = false;
    // Of the window.
    stats::Histogram queue_length_at_arrival{kMaxQueue};
    stats::Histogram queue_wait_ns{kMaxWaitNs};
    std::int64_t cpu_ns = 0;                    // of the thread
    std::int64_t read_lateness_max_ns = 0;      // a datagram lay in the socket so long
    std::optional<SchedulingTimes> scheduling;  // nothing where it is not counted
    bool realtime = false;                      // it runs before all ordinary threads
  };

  // By index. A packet in the name of one counts only from its address, so nobody else is given
  // answers, or gives them.
  struct Peers {
    std::vector<sockaddr_in> servers;
    std::vector<sockaddr_in> clients;
  };

  CoordinatorThread(const Coordinator::Settings& settings, Peers peers,
                    std::unique_ptr<net::Datagrams> datagrams);

  void run();            // until stop()
  void stop() noexcept;  // thread-safe

  // CLOCK_MONOTONIC. Thread-safe.
  void set_window(std::int64_t from_ns, std::int64_t until_ns);
  Statistics statistics() const;  // thread-safe

 private:
  enum class Edge : std::uint8_t { kOpens, kCloses, kNone };

  void handle(const net::Datagrams::Received& datagram, std::int64_t now_ns);
  void request(const Packet& packet, const sockaddr_in& from, std::int64_t now_ns);
  void answer(const Packet& packet, const sockaddr_in& from, std::int64_t now_ns) noexcept;
  void send(const Coordinator::Sendings& sendings) noexcept;
  void add(const Packet& packet, const sockaddr_in& to) noexcept;
  void flush() noexcept;
  void note_edges(std::int64_t now_ns);
  bool in_window(std::int64_t at_ns) const noexcept {
    return at_ns >= from_ns_ && at_ns < until_ns_;
  }
  void note_lateness(std::int64_t now_ns) noexcept;
  void wait() noexcept;

  Peers peers_;
  std::unique_ptr<net::Datagrams> datagrams_;
  UniqueFd wake_event_;
  std::atomic<bool> stopping_{false};

  mutable std::mutex mutex_;  // held by the thread except while it waits
  Coordinator coordinator_;
  std::int64_t from_ns_ = INT64_MAX, until_ns_ = INT64_MAX;
  Edge next_edge_ = Edge::kNone;
  Coordinator::Counts before_;
  std::int64_t cpu_before_ns_ = 0;
  std::optional<SchedulingTimes> scheduling_before_;
  Statistics statistics_;
};

}  // namespace turntable::netclone
