#include "echo/open_loop.h"

#include <poll.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "common/clock.h"
#include "echo/datagrams.h"

namespace turntable::echo {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kLookForStopNs = 100'000'000;

}  // namespace

std::vector<std::int64_t> poisson_instants(double rate_per_s, std::uint64_t seed,
                                           std::int64_t from_ns, std::int64_t until_ns) {
  // The distributions of the standard library differ between its versions; this one does not.
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> instants;
  double after_s = 0;
  for (;;) {
    const double uniform = static_cast<double>(random() >> 11) * 0x1p-53;  // from 0 to below 1
    after_s -= std::log1p(-uniform) / rate_per_s;
    const std::int64_t at_ns = from_ns + std::llround(after_s * 1e9);
    if (at_ns >= until_ns) return instants;
    instants.push_back(at_ns);
  }
}

OpenLoop::OpenLoop(UniqueFd socket, double rate_per_s, std::uint64_t seed)
    : socket_(std::move(socket)), rate_per_s_(rate_per_s), seed_(seed) {}

void OpenLoop::set_schedule(const Schedule& schedule) {
  schedule_ = schedule;
  const std::int64_t window_ns = schedule.window_until_ns - schedule.window_from_ns;
  statistics_.seconds.resize(static_cast<std::size_t>((window_ns + kSecondNs - 1) / kSecondNs));
  for (const std::int64_t at_ns :
       poisson_instants(rate_per_s_, seed_, schedule.start_ns, schedule.window_until_ns)) {
    requests_.push_back({.intended_ns = at_ns});
    if (!in_window(at_ns)) continue;
    ++statistics_.offered;
    ++second_of(at_ns).offered;
  }
}

void OpenLoop::run() {
  ::prctl(PR_SET_TIMERSLACK, 1UL);  // timers fire when they are due, not up to 50 us later
  for (;;) {
    send_due();
    read_waiting();
    const std::int64_t now = monotonic_ns();
    note_window(now);
    if (finished(now) || stopping_) break;
    wait();
  }
  statistics_.unanswered = static_cast<std::int64_t>(std::count_if(
      requests_.begin(), requests_.end(),
      [&](const Request& request) { return in_window(request.intended_ns) && !request.answered; }));
}

std::uint32_t OpenLoop::drops() const {
  return socket_drops(socket_.get());
}

bool OpenLoop::in_window(std::int64_t at_ns) const noexcept {
  return at_ns >= schedule_.window_from_ns && at_ns < schedule_.window_until_ns;
}

Second& OpenLoop::second_of(std::int64_t at_ns) noexcept {
  return statistics_
      .seconds[static_cast<std::size_t>((at_ns - schedule_.window_from_ns) / kSecondNs)];
}

void OpenLoop::send_due() noexcept {
  for (; next_ < requests_.size(); ++next_) {
    Request& request = requests_[next_];
    const std::int64_t now = monotonic_ns();
    if (request.intended_ns > now) return;
    const std::int64_t late_ns = now - request.intended_ns;
    if (next_ == 0) statistics_.start_late_ns = late_ns;
    if (in_window(request.intended_ns)) statistics_.send_late_ns.record(late_ns);
    request.sent_ns = now;
    const RequestNumber number = next_;
    if (::send(socket_.get(), &number, sizeof number, 0) == sizeof number)
      ++statistics_.requests_total;
    else
      ++statistics_.send_errors;
  }
}

void OpenLoop::read_waiting() noexcept {
  std::array<char, 2 * sizeof(RequestNumber)> bytes;
  for (;;) {
    const ssize_t length = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (length < 0) {
      if (errno != EAGAIN) ++statistics_.receive_errors;
      return;
    }
    ++statistics_.answers_total;
    RequestNumber number = 0;
    std::copy_n(bytes.data(), sizeof number, reinterpret_cast<char*>(&number));
    if (length != sizeof number || number >= next_ || requests_[number].answered)
      ++statistics_.malformed;
    else
      answered(requests_[number], monotonic_ns());
  }
}

void OpenLoop::answered(Request& request, std::int64_t now_ns) noexcept {
  request.answered = true;
  const std::int64_t latency_ns = now_ns - request.intended_ns;
  if (in_window(request.intended_ns)) {
    statistics_.latency_ns.record(latency_ns);
    statistics_.from_send_ns.record(now_ns - request.sent_ns);
  }
  if (!in_window(now_ns)) return;
  ++statistics_.delivered;
  Second& second = second_of(now_ns);
  ++second.delivered;
  second.latency_sum_ns += latency_ns;
  second.latency_max_ns = std::max(second.latency_max_ns, latency_ns);
}

void OpenLoop::note_window(std::int64_t now_ns) {
  if (!window_opened_ && now_ns >= schedule_.window_from_ns) {
    window_opened_ = true;
    scheduling_before_ = scheduling_of_this_thread();
  }
  if (!window_closed_ && now_ns >= schedule_.window_until_ns) {
    window_closed_ = true;
    if (const auto now = scheduling_of_this_thread(); now && scheduling_before_)
      statistics_.scheduling = *now - *scheduling_before_;
  }
}

bool OpenLoop::finished(std::int64_t now_ns) const noexcept {
  const bool all_sent = next_ == requests_.size() && now_ns >= schedule_.window_until_ns;
  const bool all_answered = statistics_.answers_total >= statistics_.requests_total;
  return all_sent && (all_answered || now_ns >= schedule_.drain_until_ns);
}

// For an answer, or the next thing that is due.
void OpenLoop::wait() noexcept {
  const std::int64_t now = monotonic_ns();
  std::int64_t until = now + kLookForStopNs;
  if (next_ < requests_.size()) until = std::min(until, requests_[next_].intended_ns);
  for (const std::int64_t edge :
       {schedule_.window_from_ns, schedule_.window_until_ns, schedule_.drain_until_ns})
    if (edge > now) until = std::min(until, edge);
  if (until <= now) return;
  pollfd polled{socket_.get(), POLLIN, 0};
  const timespec left = to_timespec(until - now);
  ::ppoll(&polled, 1, &left, nullptr);
}

}  // namespace turntable::echo
