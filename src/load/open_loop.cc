#include "load/open_loop.h"

#include <algorithm>

#include "common/clock.h"

namespace turntable::load {
namespace {

// A queue that a pause has made drains while the requests behind it come: none of them waits for
// longer than the pause and the one before it.
constexpr std::int64_t kMostOfAPause = 2;

}  // namespace

OpenLoop::OpenLoop(Settings settings) : settings_(std::move(settings)) {
  for (const std::int64_t over : settings_.over_ns)
    statistics_.over.push_back({.over_ns = over, .requests = 0});
  if (settings_.outstanding_max > 0) limit_ = settings_.outstanding_max;
}

void OpenLoop::set_schedule(const Schedule& schedule, const Gap& gap) {
  schedule_ = schedule;
  statistics_.seconds.resize(
      static_cast<std::size_t>((schedule.window_ns() + kSecondNs - 1) / kSecondNs));
  const std::vector<std::int64_t> all =
      instants(gap, schedule.start_ns, schedule.window_until_ns, kMaxRequests);
  requests_.reserve(all.size());
  for (const std::int64_t at_ns : all) {
    requests_.push_back({.intended_ns = at_ns});
    if (!schedule.in_window(at_ns)) continue;
    ++statistics_.offered;
    ++second_of(at_ns).offered;
  }
  if (settings_.record_latencies)
    latencies_ns_.reserve(static_cast<std::size_t>(statistics_.offered));
}

void OpenLoop::start_at(std::int64_t start_ns) noexcept {
  for (Request& request : requests_) request.intended_ns += start_ns - schedule_.start_ns;
  schedule_ = schedule_.starting_at(start_ns);
}

std::optional<std::uint64_t> OpenLoop::take_due(std::int64_t now_ns) noexcept {
  if (limit_reached()) {
    withhold_due(now_ns, now_ns);
    give_up_old(now_ns);
    if (limit_reached()) return std::nullopt;
  }
  if (next_ == requests_.size() || requests_[next_].intended_ns > now_ns) {
    behind_ns_ = 0;
    return std::nullopt;
  }
  Request& request = requests_[next_];
  request.sent_ns = now_ns;
  ++outstanding_;
  ++statistics_.requests_total;
  if (request.withheld) {
    if (now_ns - request.intended_ns > kMostOfAPause * behind_ns_) behind_ns_ = 0;
  } else {
    const std::int64_t late_ns = now_ns - request.intended_ns;
    behind_ns_ = std::max(behind_ns_, late_ns);
    if (schedule_.in_window(request.intended_ns))
      to_count_.record(statistics_.send_late_ns, late_ns);
  }
  return next_++;
}

// Those that have become due while the limit was reached. A thread that was late finds many due at
// once, and what it then sends makes the limit withhold those that follow, until it has caught up:
// each waits for that lateness, and for no more of it, since it moves a whole queue. Where a
// request has waited for much longer than the thread was late by, the queue is the server's: an
// overloaded one never lets the thread catch up.
//
// An answer made room at `room_ns`, and the thread reads it only now: until then the server let
// them wait, and from then on the thread does. The queue that follows is the thread's if most of it
// came while it did not look, else the server's.
void OpenLoop::withhold_due(std::int64_t now_ns, std::int64_t room_ns) noexcept {
  due_ = std::max(due_, next_);
  std::size_t waited_for_room = due_ - next_, found_room = 0;
  std::int64_t found_late_ns = 0;
  for (; due_ < requests_.size() && requests_[due_].intended_ns <= now_ns; ++due_) {
    Request& request = requests_[due_];
    request.withheld = true;
    const std::int64_t late_ns = now_ns - std::max(request.intended_ns, room_ns);
    if (request.intended_ns < room_ns) {
      ++waited_for_room;
    } else {
      ++found_room;
      found_late_ns = std::max(found_late_ns, late_ns);
    }
    if (!schedule_.in_window(request.intended_ns)) continue;
    ++statistics_.withheld;
    to_count_.record(statistics_.send_late_ns, std::max(behind_ns_, late_ns));
  }
  if (found_room > waited_for_room) behind_ns_ = std::max(behind_ns_, found_late_ns);
}

// Requests are sent in their order, so the oldest is the first to be given up.
void OpenLoop::give_up_old(std::int64_t now_ns) noexcept {
  for (; oldest_ < next_; ++oldest_) {
    Request& request = requests_[oldest_];
    if (request.answered || request.given_up) continue;
    if (request.sent_ns > now_ns - settings_.give_up_ns) return;
    request.given_up = true;
    --outstanding_;
    ++statistics_.given_up;
  }
}

void OpenLoop::abandon(std::uint64_t number) noexcept {
  if (number >= next_) return;
  Request& request = requests_[number];
  if (request.answered || request.abandoned) return;
  request.abandoned = true;
  ++abandoned_;
  if (request.given_up) return;
  request.given_up = true;
  --outstanding_;
}

OpenLoop::Counted OpenLoop::answered(std::uint64_t number, std::int64_t arrived_ns,
                                     std::int64_t read_ns) noexcept {
  if (number >= next_) return {.number = number, .answer = Answer::kUnknown};
  ++statistics_.answers_total;
  Request& request = requests_[number];
  Counted counted = {.number = number,
                     .answer = Answer::kFirst,
                     .intended_ns = request.intended_ns,
                     .sent_ns = request.sent_ns,
                     // A clock that was set a little may put the arrival before the sending.
                     .arrived_ns = std::clamp(arrived_ns, request.sent_ns, read_ns),
                     .in_window = schedule_.in_window(request.intended_ns)};
  if (request.answered) {
    ++statistics_.redundant;
    if (counted.in_window) ++statistics_.redundant_window;
    counted.answer = Answer::kRedundant;
    return counted;
  }
  // One that was given up made room earlier.
  if (limit_reached()) withhold_due(read_ns, request.given_up ? read_ns : counted.arrived_ns);
  request.answered = true;
  ++first_answers_;
  if (request.abandoned) --abandoned_;
  if (!request.given_up) --outstanding_;
  record(request, counted.arrived_ns, read_ns);
  return counted;
}

void OpenLoop::record(const Request& request, std::int64_t arrived_ns,
                      std::int64_t read_ns) noexcept {
  const std::int64_t latency_ns = arrived_ns - request.intended_ns;
  if (schedule_.in_window(request.intended_ns)) {
    if (!settings_.caller_records) {
      const std::int64_t middle_ns = schedule_.window_from_ns + schedule_.window_ns() / 2;
      to_count_.record(statistics_.latency_ns, latency_ns);
      to_count_.record(statistics_.halves[request.intended_ns < middle_ns ? 0 : 1], latency_ns);
      to_count_.record(statistics_.from_send_ns, arrived_ns - request.sent_ns);
    }
    to_count_.record(statistics_.read_late_ns, read_ns - arrived_ns);
    for (OverCount& over : statistics_.over)
      if (latency_ns > over.over_ns) ++over.requests;
    if (settings_.record_latencies) latencies_ns_.push_back(latency_ns);
  }
  if (!schedule_.in_window(arrived_ns)) return;
  ++statistics_.delivered;
  OpenLoopSecond& second = second_of(arrived_ns);
  ++second.delivered;
  second.latency_sum_ns += latency_ns;
  second.latency_max_ns = std::max(second.latency_max_ns, latency_ns);
}

OpenLoopSecond& OpenLoop::second_of(std::int64_t at_ns) noexcept {
  return statistics_
      .seconds[static_cast<std::size_t>((at_ns - schedule_.window_from_ns) / kSecondNs)];
}

std::int64_t OpenLoop::next_due_ns() const noexcept {
  // At the limit an answer makes room, or the oldest request's age does.
  if (limit_reached()) {
    std::size_t oldest = oldest_;
    while (oldest < next_ && requests_[oldest].answered) ++oldest;
    return oldest < next_ ? requests_[oldest].sent_ns + settings_.give_up_ns : INT64_MAX;
  }
  return next_ < requests_.size() ? requests_[next_].intended_ns : INT64_MAX;
}

void OpenLoop::end() noexcept {
  to_count_.flush();
  for (const Request& request : requests_)
    if (!request.answered && request.sent_ns != 0) ++statistics_.unanswered;
  for_each_unanswered([this](std::uint64_t /*number*/, bool sent) {
    ++(sent ? statistics_.lost : statistics_.unsent);
  });
}

}  // namespace turntable::load
