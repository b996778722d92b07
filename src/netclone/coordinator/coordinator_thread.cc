#include "netclone/coordinator/coordinator_thread.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/clock.h"
#include "common/data_path_thread.h"
#include "common/errno_error.h"
#include "net/udp.h"

namespace turntable::netclone {
namespace {

constexpr std::int64_t kLookForLossesNs = 100'000'000;

bool is_of(const sockaddr_in& from, const std::vector<sockaddr_in>& known, std::size_t index) {
  return index < known.size() && net::same_endpoint(from, known[index]);
}

}  // namespace

CoordinatorThread::CoordinatorThread(const Coordinator::Settings& settings, Peers peers,
                                     std::unique_ptr<net::Datagrams> datagrams)
    : peers_(std::move(peers)),
      datagrams_(std::move(datagrams)),
      wake_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      coordinator_(settings) {
  if (!wake_event_) throw errno_error("cannot create an eventfd");
}

void CoordinatorThread::stop() noexcept {
  stopping_ = true;
  ::eventfd_write(wake_event_.get(), 1);
}

void CoordinatorThread::set_window(std::int64_t from_ns, std::int64_t until_ns) {
  const std::lock_guard lock(mutex_);
  from_ns_ = from_ns;
  until_ns_ = until_ns;
  next_edge_ = Edge::kOpens;
  ::eventfd_write(wake_event_.get(), 1);
}

// Stands for a machine of its own, so it does not wait for other threads of this one.
void CoordinatorThread::run() {
  use_precise_timers();
  const bool realtime = use_realtime_priority();
  {
    const std::lock_guard lock(mutex_);
    statistics_.realtime = realtime;
  }
  while (!stopping_) {
    int count = 0;
    {
      const std::lock_guard lock(mutex_);
      count = datagrams_->receive();
      const std::int64_t now = monotonic_ns();
      note_edges(now);
      if (count < 0) ++statistics_.receive_errors;
      if (count > 0 && in_window(now)) note_lateness(now);
      for (int i = 0; i < count; ++i) handle(datagrams_->at(static_cast<std::size_t>(i)), now);
      if (count == 0)
        while (const auto sendings = coordinator_.give_up(now)) send(*sendings);
      flush();
    }
    if (count == 0) wait();
  }
}

void CoordinatorThread::handle(const net::Datagrams::Received& datagram, std::int64_t now_ns) {
  Packet packet;
  if (datagram.truncated || decode(datagram.bytes, packet) != DecodeStatus::kOk) {
    ++statistics_.malformed;
  } else if (packet.op == Op::kRequest) {
    request(packet, datagram.from, now_ns);
  } else {
    answer(packet, datagram.from, now_ns);
  }
}

void CoordinatorThread::request(const Packet& packet, const sockaddr_in& from,
                                std::int64_t now_ns) {
  if (!is_of(from, peers_.clients, packet.client)) {
    ++statistics_.no_client;
    return;
  }
  if (in_window(now_ns)) {
    const std::size_t before = coordinator_.queue_length();
    statistics_.queue_length_at_arrival.record(static_cast<std::int64_t>(before));
  }
  const Coordinator::Sendings sendings = coordinator_.request(packet, now_ns);
  if (sendings.count > 0 && in_window(now_ns)) statistics_.queue_wait_ns.record(0);
  send(sendings);
}

void CoordinatorThread::answer(const Packet& packet, const sockaddr_in& from,
                               std::int64_t now_ns) noexcept {
  if (!is_of(from, peers_.servers, packet.server) || packet.client >= peers_.clients.size()) {
    coordinator_.refuse();
    return;
  }
  const Coordinator::Handled handled = coordinator_.answer(packet, now_ns);
  if (handled.answer == Coordinator::Answer::kForward) {
    Packet forwarded = packet;
    forwarded.seq =
        static_cast<std::uint32_t>(std::min<std::int64_t>(handled.credit_ns, kCreditTooLong));
    add(forwarded, peers_.clients[packet.client]);
  }
  if (handled.next.count == 0) return;
  if (in_window(now_ns)) statistics_.queue_wait_ns.record(handled.next.waited_ns);
  send(handled.next);
}

void CoordinatorThread::send(const Coordinator::Sendings& sendings) noexcept {
  for (const Coordinator::Sending& sending : sendings.all())
    add(sending.packet, peers_.servers[sending.server]);
}

void CoordinatorThread::add(const Packet& packet, const sockaddr_in& to) noexcept {
  if (datagrams_->full()) flush();
  datagrams_->add(encode(packet, datagrams_->buffer()), &to);
}

void CoordinatorThread::flush() noexcept {
  datagrams_->flush([this](std::uint32_t, int) { ++statistics_.send_errors; });
}

void CoordinatorThread::note_lateness(std::int64_t now_ns) noexcept {
  const auto oldest = datagrams_->at(0);
  if (!oldest.has_stamp) return;
  const std::int64_t lay_ns = now_ns - (oldest.received_ns + realtime_to_monotonic_ns());
  statistics_.read_lateness_max_ns = std::max(statistics_.read_lateness_max_ns, lay_ns);
}

void CoordinatorThread::note_edges(std::int64_t now_ns) {
  if (next_edge_ == Edge::kOpens && now_ns >= from_ns_) {
    next_edge_ = Edge::kCloses;
    before_ = coordinator_.counts();
    cpu_before_ns_ = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    scheduling_before_ = scheduling_of_this_thread();
  }
  if (next_edge_ == Edge::kCloses && now_ns >= until_ns_) {
    next_edge_ = Edge::kNone;
    statistics_.window = coordinator_.counts() - before_;
    statistics_.window_closed = true;
    statistics_.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before_ns_;
    if (const auto now = scheduling_of_this_thread(); now && scheduling_before_)
      statistics_.scheduling = *now - *scheduling_before_;
  }
}

CoordinatorThread::Statistics CoordinatorThread::statistics() const {
  const std::lock_guard lock(mutex_);
  Statistics now = statistics_;
  now.total = coordinator_.counts();
  now.under_way = coordinator_.under_way();
  now.queue_length = coordinator_.queue_length();
  now.socket_drops = datagrams_->drops();
  return now;
}

// For a datagram, an edge of the window, or time to look for what was lost.
void CoordinatorThread::wait() noexcept {
  std::int64_t left_ns = INT64_MAX;
  {
    const std::lock_guard lock(mutex_);
    const std::int64_t now = monotonic_ns();
    if (next_edge_ == Edge::kOpens) left_ns = from_ns_ - now;
    if (next_edge_ == Edge::kCloses) left_ns = until_ns_ - now;
    if (coordinator_.under_way() > 0) left_ns = std::min(left_ns, kLookForLossesNs);
  }
  std::array<pollfd, 2> polled = {{{wake_event_.get(), POLLIN, 0}, {datagrams_->fd(), POLLIN, 0}}};
  const timespec left = to_timespec(std::clamp<std::int64_t>(left_ns, 0, 3'600'000'000'000));
  ::ppoll(polled.data(), polled.size(), &left, nullptr);
  eventfd_t ignored = 0;
  if (polled[0].revents != 0) ::eventfd_read(wake_event_.get(), &ignored);
}

}  // namespace turntable::netclone
