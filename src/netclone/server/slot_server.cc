#include "netclone/server/slot_server.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>

#include "common/clock.h"
#include "common/data_path_thread.h"
#include "common/errno_error.h"

namespace turntable::netclone {

SlotServer::SlotServer(const ServerSettings& settings, std::unique_ptr<net::Datagrams> datagrams)
    : settings_(settings),
      datagrams_(std::move(datagrams)),
      wake_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      slots_(settings.workers, settings.drop_clones) {
  if (!wake_event_) throw errno_error("cannot create an eventfd");
  thread_ = std::thread([this] { run(); });
}

SlotServer::~SlotServer() {
  stopping_ = true;
  ::eventfd_write(wake_event_.get(), 1);
  thread_.join();
}

void SlotServer::set_window(const ServerWindow& window) {
  const std::lock_guard lock(mutex_);
  window_ = window;
  window_opened_ = window_closed_ = false;
  ::eventfd_write(wake_event_.get(), 1);  // it must be awake at the window's edges
}

ServerStatistics SlotServer::statistics() {
  const std::lock_guard lock(mutex_);
  statistics_.lost_ns = slots_.lost_ns();
  statistics_.socket_drops = datagrams_->drops();
  return statistics_;
}

void SlotServer::run() {
  use_precise_timers();
  // It stands for a machine of its own, and must not wait for other threads of this one.
  statistics_.realtime = use_realtime_priority();
  while (!stopping_) {
    {
      const std::lock_guard lock(mutex_);
      serve();
    }
    wait();
  }
}

// All that waits, and all that is due.
void SlotServer::serve() {
  while (receive()) {
  }
  const std::int64_t now = monotonic_ns();
  complete_until(now);
  flush();
  note_window(now);
}

// False: nothing more waits.
bool SlotServer::receive() {
  const int count = datagrams_->receive();
  if (count < 0) ++statistics_.receive_errors;
  if (count <= 0) return false;
  to_monotonic_ns_ = realtime_to_monotonic_ns();
  const std::int64_t now = monotonic_ns();
  for (int i = 0; i < count; ++i) handle(datagrams_->at(static_cast<std::size_t>(i)), now);
  flush();
  return true;
}

void SlotServer::handle(const net::Datagrams::Received& datagram, std::int64_t now_ns) {
  Packet packet;
  if (datagram.truncated || decode(datagram.bytes, packet) != DecodeStatus::kOk ||
      packet.op != Op::kRequest) {
    ++statistics_.malformed;
    return;
  }
  const std::int64_t arrival =
      datagram.has_stamp ? std::min(now_ns, datagram.received_ns + to_monotonic_ns_) : now_ns;
  complete_until(arrival);
  if (packet.operation == Operation::kProbe) {
    answer_probe(packet, datagram.from);
  } else {
    admit(packet, datagram.from, arrival, now_ns);
  }
}

void SlotServer::admit(const Packet& packet, const sockaddr_in& from, std::int64_t arrival_ns,
                       std::int64_t now_ns) {
  const std::uint32_t queue = slots_.queue();
  const auto admission = slots_.arrive({.packet = packet,
                                        .from = from,
                                        .arrival_ns = arrival_ns,
                                        .service_ns = settings_.service_ns(packet)},
                                       now_ns);
  statistics_.count_arrival(window_, packet, arrival_ns, queue,
                            admission == Slots::Admission::kDropped);
}

void SlotServer::answer_probe(Packet& packet, const sockaddr_in& from) {
  ++statistics_.probes;
  make_answer(packet, settings_.index, slots_.queue(), slots_.busy() == settings_.workers);
  answer(packet, from);
}

void SlotServer::complete_until(std::int64_t until_ns) {
  while (slots_.next_due_ns() <= until_ns) {
    const std::int64_t now = monotonic_ns();
    Slots::Completion completion = slots_.complete(now);
    statistics_.count_answer(window_, completion, now);
    Packet& packet = completion.job.packet;
    make_answer(packet, settings_.index, completion.queue, completion.job.arrived_at_all_busy);
    answer(packet, completion.job.from);
  }
}

void SlotServer::answer(const Packet& packet, const sockaddr_in& to) {
  if (datagrams_->full()) flush();
  datagrams_->add(encode(packet, datagrams_->buffer()), &to);
}

void SlotServer::flush() noexcept {
  datagrams_->flush([&](std::uint32_t, int) { ++statistics_.send_errors; });
}

void SlotServer::note_window(std::int64_t now_ns) {
  if (!window_opened_ && window_.until_ns > 0 && now_ns >= window_.from_ns) {
    window_opened_ = true;
    scheduling_before_ = scheduling_of_this_thread();
  }
  if (window_opened_ && !window_closed_ && now_ns >= window_.until_ns) {
    window_closed_ = true;
    if (const auto after = scheduling_of_this_thread(); after && scheduling_before_) {
      statistics_.cpu_ns = after->run_ns - scheduling_before_->run_ns;
      statistics_.wait_ns = after->wait_ns - scheduling_before_->wait_ns;
    }
  }
}

// Until a request comes, a slot is due, the window opens or closes, or stop. Only this thread
// changes the slots, so it may read them without the mutex.
void SlotServer::wait() noexcept {
  std::int64_t until = slots_.next_due_ns();
  {
    const std::lock_guard lock(mutex_);
    if (window_.until_ns > 0 && !window_closed_)
      until = std::min(until, window_opened_ ? window_.until_ns : window_.from_ns);
  }
  std::array<pollfd, 2> polled = {{{wake_event_.get(), POLLIN, 0}, {datagrams_->fd(), POLLIN, 0}}};
  const timespec left = to_timespec(std::max<std::int64_t>(0, until - monotonic_ns()));
  ::ppoll(polled.data(), polled.size(), until == INT64_MAX ? nullptr : &left, nullptr);
  eventfd_t ignored = 0;
  if (polled[0].revents != 0) ::eventfd_read(wake_event_.get(), &ignored);
}

}  // namespace turntable::netclone
