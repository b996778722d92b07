// An open loop: requests leave at instants that were drawn before, whether answers come or not.
//
//   start            window_from       window_until       drain_until
//   |--- warm-up ----|--- measuring ---|----- drain ------|
//    not counted      counted           nothing is sent
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/schedstat.h"
#include "common/unique_fd.h"
#include "stats/histogram.h"

namespace turntable::echo {

// CLOCK_MONOTONIC, in this order.
struct Schedule {
  std::int64_t start_ns = 0;
  std::int64_t window_from_ns = 0;
  std::int64_t window_until_ns = 0;
  std::int64_t drain_until_ns = 0;
};

// Instants of a Poisson process from `from_ns` to `until_ns`. The same seed gives the same
// distances.
std::vector<std::int64_t> poisson_instants(double rate_per_s, std::uint64_t seed,
                                           std::int64_t from_ns, std::int64_t until_ns);

struct Second {
  std::int64_t offered = 0;
  std::int64_t delivered = 0;
  std::int64_t latency_sum_ns = 0;
  std::int64_t latency_max_ns = 0;
};

struct Statistics {
  static constexpr std::int64_t kMaxLatencyNs = 60'000'000'000;

  // In the window: requests whose instant lies in it, answers that were read in it.
  std::int64_t offered = 0;
  std::int64_t delivered = 0;
  std::vector<Second> seconds;
  // Of the window's requests that were answered, in the drain too.
  stats::Histogram latency_ns{kMaxLatencyNs};    // from the instant at which it was to be sent
  stats::Histogram from_send_ns{kMaxLatencyNs};  // from the sending itself
  stats::Histogram send_late_ns{
      kMaxLatencyNs};                         // of the window's requests: the loop's own lateness
  std::int64_t unanswered = 0;                // of the window's requests
  std::int64_t start_late_ns = 0;             // of the first request
  std::optional<SchedulingTimes> scheduling;  // of the thread, in the window

  // Over the whole iteration.
  std::int64_t requests_total = 0;
  std::int64_t answers_total = 0;
  std::int64_t malformed = 0;  // no answer to a request that has none yet
  std::int64_t send_errors = 0;
  std::int64_t receive_errors = 0;
};

class OpenLoop {
 public:
  // `socket` is connected to the server.
  OpenLoop(UniqueFd socket, double rate_per_s, std::uint64_t seed);

  // Before run().
  void set_schedule(const Schedule& schedule);

  // Until the drain is over, or stop(). Once.
  void run();
  void stop() noexcept { stopping_ = true; }  // thread-safe; takes effect within 100 ms

  const Statistics& statistics() const { return statistics_; }  // after run()
  std::uint32_t drops() const;

 private:
  struct Request {
    std::int64_t intended_ns;
    std::int64_t sent_ns = 0;  // 0: not yet
    bool answered = false;
  };

  bool in_window(std::int64_t at_ns) const noexcept;
  Second& second_of(std::int64_t at_ns) noexcept;
  void send_due() noexcept;
  void read_waiting() noexcept;
  void answered(Request& request, std::int64_t now_ns) noexcept;
  void note_window(std::int64_t now_ns);
  void wait() noexcept;
  bool finished(std::int64_t now_ns) const noexcept;

  UniqueFd socket_;
  double rate_per_s_;
  std::uint64_t seed_;
  std::atomic<bool> stopping_{false};
  Schedule schedule_{};
  std::vector<Request> requests_;  // by their numbers
  std::size_t next_ = 0;           // to be sent
  std::optional<SchedulingTimes> scheduling_before_;
  bool window_opened_ = false;
  bool window_closed_ = false;
  Statistics statistics_;
};

}  // namespace turntable::echo
