// One client that keeps its limit of outstanding requests full: a closed loop, to learn what a
// server can do at most. Its latencies begin at the sending, and say how long its own queue is.
//
// The same functions as OpenLoop (load/open_loop.h), so that one thread can run either. Not
// thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/clock.h"
#include "load/open_loop.h"

namespace turntable::load {

class SaturatedLoop {
 public:
  explicit SaturatedLoop(const OpenLoop::Settings& settings)
      : limit_(settings.outstanding_max), caller_records_(settings.caller_records) {}

  void set_schedule(const Schedule& schedule, const Gap& /*gap*/) {
    schedule_ = schedule;
    statistics_.seconds.resize(
        static_cast<std::size_t>((schedule.window_ns() + kSecondNs - 1) / kSecondNs));
  }

  void start_at(std::int64_t start_ns) noexcept { schedule_ = schedule_.starting_at(start_ns); }

  std::optional<std::uint64_t> take_due(std::int64_t now_ns) {
    is_over_ = now_ns >= schedule_.window_until_ns;
    if (outstanding_ >= limit_ || is_over_) return std::nullopt;
    requests_.push_back({now_ns, State::kSent});
    ++outstanding_;
    ++statistics_.requests_total;
    if (schedule_.in_window(now_ns)) {
      ++statistics_.offered;
      ++second_of(now_ns).offered;
      to_count_.record(statistics_.send_late_ns, 0);
    }
    return requests_.size() - 1;
  }

  OpenLoop::Counted answered(std::uint64_t number, std::int64_t arrived_ns,
                             std::int64_t read_ns) noexcept {
    using Answer = OpenLoop::Answer;
    if (number >= requests_.size()) return {.number = number, .answer = Answer::kUnknown};
    ++statistics_.answers_total;
    Request& request = requests_[number];
    OpenLoop::Counted counted = {.number = number,
                                 .answer = Answer::kFirst,
                                 .intended_ns = request.sent_ns,
                                 .sent_ns = request.sent_ns,
                                 .arrived_ns = std::clamp(arrived_ns, request.sent_ns, read_ns),
                                 .in_window = schedule_.in_window(request.sent_ns)};
    if (request.state != State::kSent) {
      ++statistics_.redundant;
      counted.answer = Answer::kRedundant;
      return counted;
    }
    request.state = State::kAnswered;
    --outstanding_;
    record(counted, read_ns);
    return counted;
  }

  void abandon(std::uint64_t number) noexcept {
    if (number >= requests_.size() || requests_[number].state != State::kSent) return;
    requests_[number].state = State::kAbandoned;
    --outstanding_;
  }
  void set_limit(std::size_t outstanding_max) noexcept { limit_ = outstanding_max; }

  // A client that has room sends at once.
  std::int64_t next_due_ns() const noexcept {
    return outstanding_ < limit_ && !is_over_ ? 0 : INT64_MAX;
  }
  std::size_t open() const noexcept { return outstanding_; }

  void end() noexcept {
    to_count_.flush();
    for (const Request& request : requests_)
      if (request.state != State::kAnswered) ++statistics_.unanswered;
    for_each_unanswered([this](std::uint64_t /*number*/, bool /*sent*/) { ++statistics_.lost; });
  }
  template <typename Visit>
  void for_each_unanswered(const Visit& visit) const {
    for (std::size_t number = 0; number < requests_.size(); ++number) {
      const Request& request = requests_[number];
      if (request.state != State::kAnswered && schedule_.in_window(request.sent_ns))
        visit(number, true);
    }
  }
  std::int64_t sent_ns(std::uint64_t number) const { return requests_[number].sent_ns; }
  const OpenLoopStatistics& statistics() const noexcept {
    to_count_.flush();
    return statistics_;
  }

 private:
  enum class State : std::uint8_t { kSent, kAnswered, kAbandoned };
  struct Request {
    std::int64_t sent_ns;
    State state;
  };

  OpenLoopSecond& second_of(std::int64_t at_ns) noexcept {
    return statistics_
        .seconds[static_cast<std::size_t>((at_ns - schedule_.window_from_ns) / kSecondNs)];
  }

  void record(const OpenLoop::Counted& counted, std::int64_t read_ns) noexcept {
    const std::int64_t latency_ns = counted.arrived_ns - counted.sent_ns;
    if (counted.in_window) {
      if (!caller_records_) {
        to_count_.record(statistics_.latency_ns, latency_ns);
        to_count_.record(statistics_.from_send_ns, latency_ns);
      }
      to_count_.record(statistics_.read_late_ns, read_ns - counted.arrived_ns);
    }
    if (!schedule_.in_window(counted.arrived_ns)) return;
    ++statistics_.delivered;
    OpenLoopSecond& second = second_of(counted.arrived_ns);
    ++second.delivered;
    second.latency_sum_ns += latency_ns;
    second.latency_max_ns = std::max(second.latency_max_ns, latency_ns);
  }

  Schedule schedule_{};
  std::size_t limit_;
  bool caller_records_;
  bool is_over_ = false;  // the window
  std::size_t outstanding_ = 0;
  std::vector<Request> requests_;  // by their numbers; grows: nobody knows how many will be
  OpenLoopStatistics statistics_;
  mutable stats::RecordQueue to_count_;  // in the statistics' histograms
};

}  // namespace turntable::load
