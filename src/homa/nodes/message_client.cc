#include "homa/nodes/message_client.h"

#include <poll.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/clock.h"
#include "common/command_error.h"
#include "common/data_path_thread.h"

namespace turntable::homa {
namespace {

constexpr unsigned kLeastIdleCalls = 3;
constexpr std::int64_t kHighestSecondRttNs = 100 * kSecondNs;

// No two endpoints have the same, not those of one client in two iterations either: packets of the
// first may still be on their way in the second.
std::uint64_t new_client_id(std::uint32_t client) {
  return (static_cast<std::uint64_t>(realtime_ns()) << 12U) + client;
}

// Not of none.
MessageClient::RoundTrips summary_of(std::vector<std::int64_t> times_ns) {
  std::sort(times_ns.begin(), times_ns.end());
  const std::size_t calls = times_ns.size();
  const std::int64_t sum_ns = std::accumulate(times_ns.begin(), times_ns.end(), std::int64_t{0});
  return {.calls = calls,
          .min_ns = times_ns.front(),
          .mean_ns = sum_ns / static_cast<std::int64_t>(calls),
          .median_ns = times_ns[calls / 2],
          .p90_ns = times_ns[calls * 900 / 1000],
          .p99_ns = times_ns[calls * 990 / 1000],
          .p999_ns = times_ns[calls * 999 / 1000]};
}

}  // namespace

MessageClient::MessageClient(ClientSettings settings, Peers peers,
                             const net::DatagramSettings& local)
    : settings_(std::move(settings)),
      peers_(std::move(peers)),
      contents_(settings_.seed),
      transport_(open_transport(settings_.transport, Role::kClient, local,
                                new_client_id(settings_.client), peers_, *this)),
      traffic_(settings_.sizes, settings_.process, settings_.calls_per_s,
               static_cast<std::uint32_t>(peers_.size()), settings_.seed, settings_.client,
               settings_.fan_out),
      next_(traffic_.next()),
      second_rtt_ns_(kHighestSecondRttNs),
      frame_(*this, settings_.frame) {}

void MessageClient::set_schedule(const load::Schedule& schedule) {
  schedule_ = schedule;
  const std::int64_t seconds = (schedule.window_ns() + kSecondNs - 1) / kSecondNs;
  statistics_ = CallStatistics(static_cast<std::size_t>(seconds));
  second_rtt_ns_.clear();
  seconds_over_ = 0;
  frame_.set_schedule(schedule);
}

// The last second is a part if somebody stops the run.
void MessageClient::run() {
  frame_.run();
  if (seconds_over_ < statistics_.seconds.size())
    summarize_second(statistics_.seconds[seconds_over_]);
}

// --- The loop

void MessageClient::begin(std::int64_t /*now_ns*/) noexcept {}

void MessageClient::enter(load::Phase phase) noexcept {
  if (phase == load::Phase::kDrain) statistics_.open_bytes_at_end = statistics_.open_bytes;
}

std::optional<std::int64_t> MessageClient::oldest_arrival_ns() const noexcept {
  return transport_->first_came_ns();
}

std::optional<std::int64_t> MessageClient::read_late_max_ns() const noexcept {
  if (!transport_->knows_arrivals()) return std::nullopt;
  return frame_.timing().read_lateness_max_ns;
}

std::int64_t MessageClient::next_arrival_ns() const noexcept {
  return schedule_.start_ns + next_.at_ps / 1000;
}

void MessageClient::act(std::int64_t now_ns) noexcept {
  std::int64_t ready_ns = INT64_MAX;
  while (!arrivals_are_over_ && next_arrival_ns() <= now_ns) {
    const std::int64_t at_ns = next_arrival_ns();
    arrivals_are_over_ = at_ns >= schedule_.window_until_ns;
    if (arrivals_are_over_) break;
    ready_ns = std::min(ready_ns, at_ns);
    arrive(next_, at_ns, now_ns);
    next_ = traffic_.next();
  }
  transport_->act(now_ns, ready_ns);
  end_seconds(now_ns);
}

std::int64_t MessageClient::next_due_ns() const noexcept {
  const std::int64_t due_ns = std::min(transport_->next_due_ns(), second_ends_ns());
  return arrivals_are_over_ ? due_ns : std::min(due_ns, next_arrival_ns());
}

void MessageClient::arrive(const Arrival& arrival, std::int64_t at_ns, std::int64_t now_ns) {
  Call call{at_ns,          number_++,
            arrival.bytes,  arrival.percentile,
            arrival.server, schedule_.in_window(at_ns)};
  const bool has_place = transport_->outstanding_calls() < settings_.outstanding;
  if (call.counts) {
    ++statistics_.offered;
    ++statistics_.open;
    statistics_.offered_bytes += call.bytes;
    statistics_.open_bytes += call.bytes;
    statistics_.begin_late_ns.record(now_ns - at_ns);
    if (!has_place) ++statistics_.waited;
  }
  if (has_place) {
    this->call(call);
  } else {
    waiting_.push(call);
  }
  if (auto* second = second_of(at_ns)) {
    ++second->offered;
    second->offered_bytes += call.bytes;
    second->waiting_max = std::max<std::uint64_t>(second->waiting_max, waiting_.size());
  }
}

void MessageClient::call(const Call& call) {
  std::uint64_t tag = calls_.size();
  if (free_tags_.empty()) {
    calls_.push_back(call);
  } else {
    tag = free_tags_.back();
    free_tags_.pop_back();
    calls_[tag] = call;
  }
  transport_->call(call.server, contents_.of(call.number, call.bytes), tag);
  statistics_.outstanding_max =
      std::max<std::uint64_t>(statistics_.outstanding_max, transport_->outstanding_calls());
}

// --- What became of a call

MessageClient::Call MessageClient::end(std::uint64_t tag) {
  const Call ended = calls_[tag];
  free_tags_.push_back(tag);
  if (ended.counts) {
    --statistics_.open;
    statistics_.open_bytes -= ended.bytes;
  }
  if (!waiting_.empty() && transport_->outstanding_calls() < settings_.outstanding)
    call(waiting_.pop());
  return ended;
}

void MessageClient::response(std::uint64_t tag, Content content) {
  const Call call = end(tag);
  const std::int64_t came_ns = transport_->now_ns();
  ++answers_;
  if (!is_right(call, content)) {
    ++statistics_.wrong;
    return;
  }
  if (auto* second = second_of(came_ns)) {
    ++second->answered;
    second->answered_bytes += call.bytes;
    second_rtt_ns_.record(came_ns - call.at_ns);
    statistics_.answered_bytes += call.bytes;
  }
  if (call.counts) count_answer(call, came_ns);
}

void MessageClient::count_answer(const Call& call, std::int64_t came_ns) {
  ++statistics_.answered;
  const std::int64_t rtt_ns = came_ns - call.at_ns;
  auto& percentile = statistics_.percentiles[call.percentile];
  percentile.rtt_ns.record(rtt_ns);
  if (settings_.idle.empty()) return;
  const double slowdown = static_cast<double>(rtt_ns) / settings_.idle.ns(call.bytes);
  percentile.slowdown_1000.record(std::llround(1000 * slowdown));
}

void MessageClient::aborted(std::uint64_t tag, AbortReason /*reason*/) {
  if (end(tag).counts) ++statistics_.aborted;
}

bool MessageClient::is_right(const Call& call, const Content& content) const {
  const std::uint32_t bytes = settings_.response_bytes == 0 ? call.bytes : settings_.response_bytes;
  return content.size == bytes &&
         contents_.begins(content, call.number, std::min(call.bytes, bytes));
}

// --- Seconds

// Of what is handled late, after its second was over: the second that runs.
CallStatistics::Second* MessageClient::second_of(std::int64_t at_ns) {
  if (!schedule_.in_window(at_ns)) return nullptr;
  const auto second = static_cast<std::size_t>((at_ns - schedule_.window_from_ns) / kSecondNs);
  return &statistics_.seconds[std::max(second, seconds_over_.load(std::memory_order_relaxed))];
}

// The last one is over with the run: answers that came in it may still have to be read.
std::int64_t MessageClient::second_ends_ns() const noexcept {
  const std::size_t over = seconds_over_.load(std::memory_order_relaxed);
  if (over + 1 >= statistics_.seconds.size()) return INT64_MAX;
  return schedule_.window_from_ns + static_cast<std::int64_t>(over + 1) * kSecondNs;
}

void MessageClient::end_seconds(std::int64_t now_ns) noexcept {
  while (now_ns >= second_ends_ns()) {
    const std::size_t over = seconds_over_.load(std::memory_order_relaxed);
    summarize_second(statistics_.seconds[over]);
    seconds_over_.store(over + 1, std::memory_order_release);
  }
}

void MessageClient::summarize_second(CallStatistics::Second& second) noexcept {
  second.rtt_p50_ns = second_rtt_ns_.value_at_percentile(50);
  second.rtt_p99_ns = second_rtt_ns_.value_at_percentile(99);
  second.rtt_p999_ns = second_rtt_ns_.value_at_percentile(99.9);
  second.open = transport_->outstanding_calls() + waiting_.size();
  second_rtt_ns_.clear();
}

// --- The idle network

MessageClient::RoundTrips MessageClient::measure_idle(std::uint32_t bytes, unsigned calls,
                                                      std::int64_t each_ns,
                                                      std::int64_t deadline_ns) {
  const std::int64_t begin_ns = monotonic_ns();
  use_precise_timers();
  std::vector<std::int64_t> times_ns;
  for (unsigned i = 0; i < calls; ++i) {
    if (i >= kLeastIdleCalls && monotonic_ns() - begin_ns >= each_ns) break;
    const Call one{.at_ns = monotonic_ns(),
                   .number = number_++,
                   .bytes = bytes,
                   .server = static_cast<std::uint32_t>(i % peers_.size())};
    const std::uint64_t answers_before = answers_;
    call(one);
    transport_->act(one.at_ns, one.at_ns);
    while (transport_->outstanding_calls() > 0) {
      std::int64_t now_ns = monotonic_ns();
      if (now_ns >= deadline_ns) break;
      pollfd polled{fd(), POLLIN, 0};
      const std::int64_t until_ns = std::min(deadline_ns, transport_->next_due_ns());
      const timespec left = to_timespec(std::max<std::int64_t>(0, until_ns - now_ns));
      ::ppoll(&polled, 1, &left, nullptr);
      if (transport_->receive() > 0) transport_->handle_batch(monotonic_ns());
      now_ns = monotonic_ns();
      transport_->act(now_ns, now_ns);
    }
    if (answers_ == answers_before) {
      throw CommandError("timeout", "a call of " + std::to_string(bytes) + " bytes to " +
                                        net::text_of(peers_.address(one.server)) +
                                        " has no answer; is its server prepared?");
    }
    if (statistics_.wrong > 0)
      throw CommandError("failed", "an answer of " + net::text_of(peers_.address(one.server)) +
                                       " has other bytes than were sent");
    times_ns.push_back(transport_->now_ns() - one.at_ns);
  }
  return summary_of(std::move(times_ns));
}

}  // namespace turntable::homa
