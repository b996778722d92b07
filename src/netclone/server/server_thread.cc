#include "netclone/server/server_thread.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "common/clock.h"
#include "common/data_path_thread.h"
#include "common/errno_error.h"

namespace turntable::netclone {

ServerThread::ServerThread(const ServerSettings& settings,
                           std::unique_ptr<net::Datagrams> datagrams)
    : settings_(settings),
      datagrams_(std::move(datagrams)),
      wake_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_event_) throw errno_error("cannot create an eventfd");
}

void ServerThread::begin() {
  thread_ = std::thread([this] { run(); });
}

void ServerThread::end() noexcept {
  if (!thread_.joinable()) return;
  stopping_ = true;
  wake();
  thread_.join();
}

void ServerThread::wake() noexcept {
  ::eventfd_write(wake_event_.get(), 1);
}

void ServerThread::set_window(const ServerWindow& window) {
  const std::lock_guard lock(mutex_);
  window_ = window;
  window_opened_ = window_closed_ = false;
  wake();  // it must be awake at the window's edges
}

ServerStatistics ServerThread::statistics() {
  const std::lock_guard lock(mutex_);
  statistics_.socket_drops = datagrams_->drops();
  add_statistics(statistics_);
  return statistics_;
}

void ServerThread::count_thread(pid_t thread) noexcept {
  threads_.push_back(thread);
}

void ServerThread::run() {
  use_precise_timers();
  {
    const std::lock_guard lock(mutex_);
    count_thread(::gettid());
    settle();
  }
  while (!stopping_) {
    {
      const std::lock_guard lock(mutex_);
      serve();
    }
    wait();
  }
}

// All that waits, and all that is done.
void ServerThread::serve() {
  while (receive()) {
  }
  const std::int64_t now = monotonic_ns();
  complete_until(now);
  flush();
  note_window(now);
}

// False: nothing more waits.
bool ServerThread::receive() {
  const int count = datagrams_->receive();
  if (count < 0) ++statistics_.receive_errors;
  if (count <= 0) return false;
  to_monotonic_ns_ = realtime_to_monotonic_ns();
  const std::int64_t now = monotonic_ns();
  for (int i = 0; i < count; ++i) handle(datagrams_->at(static_cast<std::size_t>(i)), now);
  flush();
  return true;
}

void ServerThread::handle(const net::Datagrams::Received& datagram, std::int64_t now_ns) {
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

void ServerThread::answer_probe(Packet& packet, const sockaddr_in& from) {
  ++statistics_.probes;
  make_answer(packet, settings_.index, queue(), all_busy());
  send(packet, from);
}

void ServerThread::answer(const Slots::Completion& completion, std::int64_t done_ns) {
  statistics_.count_answer(window_, completion, done_ns);
  Packet packet = completion.job.packet;
  make_answer(packet, settings_.index, completion.queue, completion.job.arrived_at_all_busy);
  send(packet, completion.job.from);
}

void ServerThread::send(const Packet& packet, const sockaddr_in& to) {
  if (datagrams_->full()) flush();
  datagrams_->add(encode(packet, datagrams_->buffer()), &to);
}

void ServerThread::flush() noexcept {
  datagrams_->flush([&](std::uint32_t, int) { ++statistics_.send_errors; });
}

void ServerThread::note_window(std::int64_t now_ns) {
  if (!window_opened_ && window_.until_ns > 0 && now_ns >= window_.from_ns) {
    window_opened_ = true;
    scheduling_before_ = scheduling();
  }
  if (!window_opened_ || window_closed_ || now_ns < window_.until_ns) return;
  window_closed_ = true;
  if (const auto after = scheduling(); after && scheduling_before_) {
    const auto times = *after - *scheduling_before_;
    statistics_.cpu_ns = times.run_ns;
    statistics_.wait_ns = times.wait_ns;
  }
}

std::optional<SchedulingTimes> ServerThread::scheduling() const {
  SchedulingTimes sum;
  for (const pid_t thread : threads_) {
    const auto times = scheduling_of_thread(thread);
    if (!times) return std::nullopt;
    sum.run_ns += times->run_ns;
    sum.wait_ns += times->wait_ns;
  }
  return sum;
}

// Until a request comes, work is done, the window opens or closes, or end().
void ServerThread::wait() noexcept {
  std::int64_t until = INT64_MAX;
  {
    const std::lock_guard lock(mutex_);
    until = next_due_ns();
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
