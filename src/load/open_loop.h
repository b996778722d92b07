// One client's open loop: requests leave at instants that were drawn before, whether answers come
// or not. How requests look and travel is somebody else's business (load/open_loop_thread.h).
//
// Instants never shift: a request that is late, because its thread was or because the limit of
// outstanding requests withheld it, delays no other, and its latency counts from its instant.
//
// After set_schedule() nothing here allocates, and until end() it must stay where it is. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "load/arrivals.h"
#include "load/open_loop_statistics.h"
#include "load/schedule.h"
#include "stats/record_queue.h"

namespace turntable::load {

class OpenLoop {
 public:
  static constexpr std::size_t kMaxRequests = 100'000'000;  // 2.4 GB

  struct Settings {
    std::size_t outstanding_max = 0;  // requests without an answer; 0: any number
    // A request that has had no answer for so long is given up: it does not count for the limit.
    std::int64_t give_up_ns = 5'000'000'000;
    std::vector<std::int64_t> over_ns = {};  // count the latencies above each
    bool record_latencies = false;           // of the window, in the order of their answers
    // Latencies are not in the histograms: the caller records them, by kinds that only it knows.
    bool caller_records = false;
  };

  explicit OpenLoop(Settings settings);

  // Draws all instants, from the start to the end of the window. Throws std::length_error for more
  // than kMaxRequests.
  void set_schedule(const Schedule& schedule, const Gap& gap);

  // The same requests from another start on, before the first is taken: to draw them takes a while,
  // and a start that was chosen before would be over.
  void start_at(std::int64_t start_ns) noexcept;

  // The next request if it is to be sent now; it then counts as sent. Call it until it has none.
  std::optional<std::uint64_t> take_due(std::int64_t now_ns) noexcept;

  enum class Answer : std::uint8_t { kFirst, kRedundant, kUnknown };  // kUnknown: never sent
  // What became of an answer.
  struct Counted {
    std::uint64_t number;
    Answer answer;
    // Of a request that was sent.
    std::int64_t intended_ns = 0;
    std::int64_t sent_ns = 0;
    std::int64_t arrived_ns = 0;  // at the host
    bool in_window = false;       // its intended instant is
  };
  // `arrived_ns` is when the answer reached the host, `read_ns` when it was read.
  Counted answered(std::uint64_t number, std::int64_t arrived_ns, std::int64_t read_ns) noexcept;

  // A sent request will have no answer any more (its connection is closed): it does not count for
  // the limit, and nobody waits for it. It is lost unless it is answered all the same.
  void abandon(std::uint64_t number) noexcept;
  // Another limit of outstanding requests from now on; 0: nothing can be sent for the moment.
  void set_limit(std::size_t outstanding_max) noexcept { limit_ = outstanding_max; }

  // When to call take_due() again; INT64_MAX: after an answer, or never.
  std::int64_t next_due_ns() const noexcept;
  // Requests to be sent or answered.
  std::size_t open() const noexcept { return requests_.size() - first_answers_ - abandoned_; }

  std::size_t requests() const noexcept { return requests_.size(); }
  std::int64_t intended_ns(std::uint64_t number) const { return requests_[number].intended_ns; }
  std::int64_t sent_ns(std::uint64_t number) const { return requests_[number].sent_ns; }  // 0: not
  bool in_window(std::uint64_t number) const noexcept {
    return schedule_.in_window(requests_[number].intended_ns);
  }

  // After the last answer: counts what is missing.
  void end() noexcept;
  // visit(number, whether it was sent) for each of the window's requests that has no answer.
  template <typename Visit>
  void for_each_unanswered(const Visit& visit) const {
    for (std::size_t number = 0; number < requests_.size(); ++number) {
      const Request& request = requests_[number];
      if (!request.answered && schedule_.in_window(request.intended_ns))
        visit(number, request.sent_ns != 0);
    }
  }
  const OpenLoopStatistics& statistics() const noexcept {
    to_count_.flush();
    return statistics_;
  }
  const std::vector<std::int64_t>& latencies_ns() const noexcept { return latencies_ns_; }

 private:
  struct Request {
    std::int64_t intended_ns = 0;
    std::int64_t sent_ns = 0;  // 0: not yet
    bool answered = false;
    bool given_up = false;
    bool abandoned = false;
    bool withheld = false;
  };

  bool limit_reached() const noexcept { return outstanding_ >= limit_; }
  void give_up_old(std::int64_t now_ns) noexcept;
  void withhold_due(std::int64_t now_ns, std::int64_t room_ns) noexcept;
  void record(const Request& request, std::int64_t arrived_ns, std::int64_t read_ns) noexcept;
  OpenLoopSecond& second_of(std::int64_t at_ns) noexcept;

  Settings settings_;
  Schedule schedule_{};
  std::vector<Request> requests_;  // by their numbers
  std::size_t next_ = 0;           // to be sent
  std::size_t due_ = 0;            // so many have been looked at: those from next_ on are withheld
  std::size_t oldest_ = 0;         // that may count for the limit
  std::size_t outstanding_ = 0;    // that count for the limit
  std::size_t limit_ = SIZE_MAX;
  std::int64_t behind_ns_ = 0;  // the most that a sending was late since nothing was due
  std::size_t first_answers_ = 0;
  std::size_t abandoned_ = 0;  // and not answered
  std::vector<std::int64_t> latencies_ns_;
  OpenLoopStatistics statistics_;
  mutable stats::RecordQueue to_count_;  // in the statistics' histograms
};

}  // namespace turntable::load
