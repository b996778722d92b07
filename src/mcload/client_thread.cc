#include "mcload/client_thread.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <stdexcept>

#include "common/clock.h"
#include "common/command_error.h"
#include "common/errno_error.h"
#include "common/pinning.h"
#include "mcload/kernel_calls.h"

namespace turntable::mcload {
namespace {

static_assert(key_offset(Protocol::kBinary, /*is_set=*/true) + Content::kKeyRoom <=
              kMaxHeaderBytes);

constexpr std::int64_t kCloseReadingsNs = 2'000;
constexpr std::int64_t kOffsetHoldsNs = 1'000'000;  // a clock that is set right drifts 0.5 us

std::int64_t ns_of(const timeval& time) {
  return (std::int64_t{time.tv_sec} * 1'000'000 + time.tv_usec) * 1000;
}

load::OpenLoop::Settings loop_settings(const GeneratorSettings& settings) {
  // A reply comes in its place or never: no request stops counting for the limit before.
  return {.outstanding_max =
              settings.servers.size() * std::size_t{settings.connections} * settings.depth,
          .give_up_ns = INT64_MAX / 4,
          .caller_records = true};
}

void pin(const GeneratorSettings& settings, std::uint32_t thread) {
  if (settings.one_cpu_each) {
    pin_this_thread(settings.cpus, thread);
  } else if (!settings.cpus.empty()) {
    pin_this_thread(settings.cpus);
  }
}

}  // namespace

std::unique_ptr<ClientThread> ClientThread::make(const std::string& where,
                                                 const GeneratorSettings& settings,
                                                 std::uint32_t thread) {
  if (settings.is_closed_loop)
    return std::make_unique<LoopThread<load::SaturatedLoop>>(where, settings, thread);
  return std::make_unique<LoopThread<load::OpenLoop>>(where, settings, thread);
}

template <typename RequestLoop>
LoopThread<RequestLoop>::LoopThread(const std::string& where, const GeneratorSettings& settings,
                                    std::uint32_t thread)
    : settings_(settings),
      thread_(thread),
      draws_(settings.seed, settings.client, thread, settings.content->records(),
             static_cast<std::uint32_t>(settings.servers.size()) * settings.connections,
             settings.update),
      loop_(loop_settings(settings)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      buffer_(kReadBytes),
      frame_(*this, settings.frame) {
  if (!epoll_) throw errno_error("cannot create an epoll");
  connect_all(where);
}

template <typename RequestLoop>
void LoopThread<RequestLoop>::connect_all(const std::string& where) {
  const std::size_t count = settings_.servers.size() * settings_.connections;
  connections_.reserve(count);
  dirty_.reserve(count);
  closed_.reserve(count);
  const std::int64_t deadline_ns = monotonic_ns() + settings_.connect_timeout_ns;
  for (std::size_t index = 0; index < count; ++index) {
    const ServerAddress& server = settings_.servers[index % settings_.servers.size()];
    Connection& connection = connections_.emplace_back(settings_.protocol, settings_.depth);
    connection.connecting(server.connect(where, deadline_ns, settings_.no_delay));
    connection.open(server.is_tcp());
    watch(index, /*is_new=*/true, /*for_room=*/false);
    ++open_connections_;
  }
  set_limit();
}

template <typename RequestLoop>
void LoopThread<RequestLoop>::set_schedule(const load::Schedule& schedule) {
  load::Gap gap;
  if (!settings_.is_closed_loop) {
    gap = draws_.gaps(load::Arrivals(
        load::arrivals_of(settings_.arrivals, settings_.rate_per_s / settings_.threads)));
  }
  try {
    loop_.set_schedule(schedule, gap);
  } catch (const std::length_error& error) {
    throw bad_argument(std::string("start: ") + error.what());
  }
  schedule_ = schedule;
  frame_.set_schedule(schedule);
}

template <typename RequestLoop>
void LoopThread<RequestLoop>::start_at(std::int64_t start_ns) noexcept {
  loop_.start_at(start_ns);
  schedule_ = schedule_.starting_at(start_ns);
  frame_.set_schedule(schedule_);
}

template <typename RequestLoop>
void LoopThread<RequestLoop>::run() {
  pin(settings_, thread_);
  frame_.run();
  timing_ = frame_.timing();
  timing_.read_lateness_max_ns = read_late_max_ns_;
}

// GETs and SETs together are all.
template <typename RequestLoop>
load::OpenLoopStatistics LoopThread<RequestLoop>::loop_statistics() const {
  load::OpenLoopStatistics all = loop_.statistics();
  for (const Latencies* latencies : {&statistics_.get, &statistics_.set}) {
    all.latency_ns.merge(latencies->intended_ns);
    all.from_send_ns.merge(latencies->from_send_ns);
  }
  return all;
}

template <typename RequestLoop>
void LoopThread<RequestLoop>::begin(std::int64_t now_ns) noexcept {
  read_clock_offset(now_ns);
}

template <typename RequestLoop>
void LoopThread<RequestLoop>::enter(load::Phase phase) noexcept {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  in_window_ = phase == load::Phase::kMeasure;
  if (in_window_) {
    usage_before_ = usage;
    rx_before_ = rx_;
    tx_before_ = tx_;
    return;
  }
  statistics_.rx_bytes = rx_ - rx_before_;
  statistics_.tx_bytes = tx_ - tx_before_;
  statistics_.user_ns = ns_of(usage.ru_utime) - ns_of(usage_before_.ru_utime);
  statistics_.system_ns = ns_of(usage.ru_stime) - ns_of(usage_before_.ru_stime);
}

template <typename RequestLoop>
int LoopThread<RequestLoop>::receive() noexcept {
  if (waited_ > 0) {
    count_ = std::exchange(waited_, 0);
  } else if (std::exchange(emptied_, false)) {
    // After a batch that was not full there is nothing more for the moment: no need to ask.
    return count_ = 0;
  } else {
    count_ = static_cast<int>(std::max<std::int64_t>(0, epoll_events_now(epoll_.get(), events_)));
  }
  emptied_ = count_ > 0 && static_cast<std::size_t>(count_) < kEvents;
  return count_;
}

template <typename RequestLoop>
load::Loop::Woke LoopThread<RequestLoop>::wait(int wake, const timespec& left) noexcept {
  if (!std::exchange(wakes_, true)) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = kWake;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake, &event);
  }
  const auto count = static_cast<int>(epoll_events(epoll_.get(), events_, left));
  if (count == 0) {
    emptied_ = true;
    return Woke::kTimeOver;
  }
  if (count < 0) return Woke::kOther;  // interrupted
  waited_ = count;
  const bool is_woken =
      std::any_of(events_.begin(), events_.begin() + count,
                  [](const epoll_event& event) { return event.data.u64 == kWake; });
  return is_woken ? Woke::kOther : Woke::kAnswers;
}

// Readings that an interruption tore apart say nothing: the ones before still hold.
template <typename RequestLoop>
void LoopThread<RequestLoop>::read_clock_offset(std::int64_t now_ns) noexcept {
  if (to_monotonic_ns_ && now_ns - offset_read_ns_ < kOffsetHoldsNs) return;
  const std::int64_t before = monotonic_ns();
  const std::int64_t real = realtime_ns();
  const std::int64_t apart = monotonic_ns() - before;
  if (apart >= kCloseReadingsNs && to_monotonic_ns_) return;
  to_monotonic_ns_ = before + apart / 2 - real;
  offset_read_ns_ = before;
}

// All that is there is read before any of it is looked at: what reads and what counts stay in the
// processor's caches.
template <typename RequestLoop>
void LoopThread<RequestLoop>::handle_batch(std::int64_t now_ns) noexcept {
  read_clock_offset(now_ns);
  const std::size_t room = buffer_.size() / static_cast<std::size_t>(count_);
  for (int i = 0; i < count_; ++i) {
    const auto at = static_cast<std::size_t>(i);
    reads_[at] = read(events_[at], std::span(buffer_).subspan(at * room, room));
  }
  for (int i = 0; i < count_; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (events_[at].data.u64 == kWake) continue;
    const auto index = static_cast<std::size_t>(events_[at].data.u64);
    const Connection& connection = connections_[index];
    if (connection.state() == Connection::State::kConnecting) {
      end_connect(index, now_ns);
      continue;
    }
    if (reads_[at].bytes != -EAGAIN)
      take(index, reads_[at], std::span(buffer_).subspan(at * room), now_ns);
    if ((events_[at].events & EPOLLOUT) != 0 && connection.state() == Connection::State::kOpen)
      flush(index, now_ns);
  }
}

// -EAGAIN: there is nothing to read.
template <typename RequestLoop>
Connection::Read LoopThread<RequestLoop>::read(const epoll_event& event,
                                               std::span<char> into) const noexcept {
  const bool is_readable = (event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0;
  if (event.data.u64 == kWake || !is_readable) return {.bytes = -EAGAIN};
  const Connection& connection = connections_[static_cast<std::size_t>(event.data.u64)];
  if (connection.state() != Connection::State::kOpen) return {.bytes = -EAGAIN};
  Connection::Read read = connection.read(into);
  if (read.bytes == -EINTR) read.bytes = -EAGAIN;
  return read;
}

// `now_ns` is when the batch was begun: its bytes were there then, or arrived later.
template <typename RequestLoop>
void LoopThread<RequestLoop>::take(std::size_t index, const Connection::Read& read,
                                   std::span<const char> bytes, std::int64_t now_ns) noexcept {
  if (read.bytes <= 0) return lose(index, now_ns);
  Connection& connection = connections_[index];
  rx_ += static_cast<std::uint64_t>(read.bytes);
  std::int64_t arrived_ns = read.arrived_ns;
  if (read.is_stamped) arrived_ns += *to_monotonic_ns_;
  if (arrived_ns > now_ns) {
    now_ns = monotonic_ns();
    arrived_ns = std::min(arrived_ns, now_ns);  // the other clock may have been set
  }
  if (in_window_) read_late_max_ns_ = std::max(read_late_max_ns_, now_ns - arrived_ns);
  bytes = bytes.first(static_cast<std::size_t>(read.bytes));
  for (Reply reply;;) {
    // Memcached that has too many connections says so to those that have asked nothing yet: that is
    // no answer to a request.
    const bool is_awaited = !connection.empty();
    const auto status = connection.next_reply(bytes, reply);
    if (status == ReplyReader::Status::kMore) return;
    if (status == ReplyReader::Status::kBroken) {
      if (is_awaited) ++statistics_.errors.protocol;
      return lose(index, now_ns);
    }
    take_reply(connection, reply, arrived_ns, now_ns);
  }
}

// A server that answers with an error and closes is no better than one that only closes: such an
// answer ends no pauses.
template <typename RequestLoop>
void LoopThread<RequestLoop>::take_reply(Connection& connection, const Reply& reply,
                                         std::int64_t arrived_ns, std::int64_t read_ns) noexcept {
  const Connection::Request& request = connection.take_oldest();
  if (is_error(reply.outcome)) {
    count_error(reply.outcome);
  } else {
    connection.backoff_ns = 0;
  }
  count(loop_.answered(request.number, arrived_ns, read_ns), request, reply);
}

template <typename RequestLoop>
void LoopThread<RequestLoop>::count(const load::OpenLoop::Counted& counted,
                                    const Connection::Request& request,
                                    const Reply& reply) noexcept {
  if (reply.outcome == Outcome::kHit && reply.value_bytes != request.value_bytes)
    ++statistics_.errors.wrong_size;
  if (!counted.in_window || counted.answer != load::OpenLoop::Answer::kFirst) return;
  ++(request.is_set ? statistics_.sets : statistics_.gets);
  if (reply.outcome == Outcome::kHit) ++statistics_.hits;
  if (reply.outcome == Outcome::kMiss) ++statistics_.misses;
  Latencies& latencies = request.is_set ? statistics_.set : statistics_.get;
  to_count_.record(latencies.intended_ns, counted.arrived_ns - counted.intended_ns);
  to_count_.record(latencies.from_send_ns, counted.arrived_ns - counted.sent_ns);
}

template <typename RequestLoop>
void LoopThread<RequestLoop>::count_error(Outcome outcome) noexcept {
  Errors& errors = statistics_.errors;
  if (outcome == Outcome::kOutOfMemory) {
    ++errors.out_of_memory;
  } else if (outcome == Outcome::kClientError) {
    ++errors.client_error;
  } else if (outcome == Outcome::kRefused) {
    ++errors.protocol;
  } else {
    ++errors.server_error;
  }
}

// The clock is read again once a batch was sent, which takes its time; to write one does not.
template <typename RequestLoop>
void LoopThread<RequestLoop>::act(std::int64_t now_ns) noexcept {
  if (!closed_.empty()) reconnect_due(now_ns);
  int batch = 0;
  while (const auto number = loop_.take_due(now_ns)) {
    send(*number);
    if (++batch % kBatch != 0) continue;
    flush_dirty(now_ns);
    now_ns = monotonic_ns();
  }
  flush_dirty(now_ns);
}

template <typename RequestLoop>
std::size_t LoopThread<RequestLoop>::connection_for(std::uint32_t drawn) const noexcept {
  std::size_t index = drawn;
  // The loop's limit is the room of all, so one has it.
  while (!connections_[index].has_room())
    if (++index == connections_.size()) index = 0;
  return index;
}

template <typename RequestLoop>
void LoopThread<RequestLoop>::send(std::uint64_t number) noexcept {
  const Draws::Request drawn = draws_.request(number);
  const std::size_t index = connection_for(drawn.connection);
  Connection& connection = connections_[index];
  const Content& content = *settings_.content;
  const std::string_view key = content.key(drawn.record, connection.room_for_key(drawn.is_set));
  if (drawn.is_set) {
    connection.add_set(number, key, content.value(drawn.record));
  } else {
    connection.add_get(number, key, content.value_bytes(drawn.record));
  }
  if (in_window_)
    to_count_.record(statistics_.queued, static_cast<std::int64_t>(connection.waiting()));
  if (connection.dirty || connection.watched_for_room) return;
  connection.dirty = true;
  dirty_.push_back(index);
}

template <typename RequestLoop>
void LoopThread<RequestLoop>::flush_dirty(std::int64_t now_ns) noexcept {
  for (const std::size_t index : dirty_)
    if (connections_[index].dirty) flush(index, now_ns);
  dirty_.clear();
}

template <typename RequestLoop>
void LoopThread<RequestLoop>::flush(std::size_t index, std::int64_t now_ns) noexcept {
  Connection& connection = connections_[index];
  const auto flushed = connection.flush(tx_);
  if (flushed == Connection::Flushed::kFailed) return lose(index, now_ns);
  const bool is_blocked = flushed == Connection::Flushed::kBlocked;
  if (is_blocked == connection.watched_for_room) return;
  connection.watched_for_room = is_blocked;
  watch(index, /*is_new=*/false, is_blocked);
}

template <typename RequestLoop>
std::int64_t LoopThread<RequestLoop>::next_due_ns() const noexcept {
  std::int64_t next_ns = loop_.next_due_ns();
  for (const std::size_t index : closed_)
    next_ns = std::min(next_ns, connections_[index].reconnect_at_ns);
  return next_ns;
}

template <typename RequestLoop>
void LoopThread<RequestLoop>::end() noexcept {
  to_count_.flush();
  loop_.end();
  count_unanswered();
  for (Connection& connection : connections_) connection.close();
}

template <typename RequestLoop>
void LoopThread<RequestLoop>::count_unanswered() noexcept {
  loop_.for_each_unanswered([this](std::uint64_t number, bool sent) {
    Latencies& latencies = draws_.request(number).is_set ? statistics_.set : statistics_.get;
    ++(sent ? latencies.lost : latencies.unsent);
  });
  if (monotonic_ns() < schedule_.drain_until_ns) return;  // stop() has ended it
  for (Connection& connection : connections_) {
    const bool is_silent = !connection.empty() && loop_.sent_ns(connection.take_oldest().number) <
                                                      schedule_.window_until_ns;
    if (is_silent) ++statistics_.silent;
  }
}

template class LoopThread<load::OpenLoop>;
template class LoopThread<load::SaturatedLoop>;

}  // namespace turntable::mcload
