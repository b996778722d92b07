#include "kv/server_worker.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>

#include "common/errno_error.h"
#include "kv/clock.h"
#include "kv/data_path_thread.h"

namespace turntable::kv {

ServerWorker::ServerWorker(int socket, RequestHandler& handler, double capacity_ops_per_s)
    : socket_(socket),
      handler_(handler),
      capacity_(capacity_ops_per_s),
      stop_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!stop_event_) throw errno_error("cannot create an eventfd");
}

void ServerWorker::stop() noexcept {
  stopping_ = true;
  ::eventfd_write(stop_event_.get(), 1);
}

void ServerWorker::run() {
  use_precise_timers();
  // A server that sleeps until its next operation is due stands for a machine of its own: it must
  // not wait for other threads of this machine. Without a limit it could starve them.
  if (capacity_.limited() && use_realtime_priority()) counters_.realtime.add();
  timer_.emplace();
  while (!stopping()) {
    if (next_request_ == request_count_) {
      send(answers_.size());
      if (!receive()) wait_for_request();
      continue;
    }
    serve(requests_.at(next_request_++));
  }
}

bool ServerWorker::receive() {
  const int count = requests_.receive(socket_);
  if (count < 0) counters_.receive_errors.add();
  to_monotonic_ns_ = realtime_to_monotonic_ns();
  next_request_ = 0;
  request_count_ = static_cast<std::size_t>(std::max(count, 0));
  return count > 0;
}

void ServerWorker::wait_for_request() noexcept {
  std::array<pollfd, 2> polled = {{{stop_event_.get(), POLLIN, 0}, {socket_, POLLIN, 0}}};
  ::poll(polled.data(), polled.size(), -1);
}

void ServerWorker::wait_until(std::int64_t at_ns) noexcept {
  pollfd polled = {stop_event_.get(), POLLIN, 0};
  for (std::int64_t now = monotonic_ns(); now < at_ns && !stopping(); now = monotonic_ns()) {
    const timespec left = to_timespec(at_ns - now);
    ::ppoll(&polled, 1, &left, nullptr);
  }
}

void ServerWorker::serve(const ReceiveBatch::Datagram& datagram) {
  Packet request;
  if (datagram.truncated || decode(datagram.bytes, request) != DecodeStatus::kOk ||
      !RequestHandler::accepts(request.type)) {
    counters_.malformed.add();
    return;
  }
  if (handler_.owns(request)) execute(request, datagram);
}

void ServerWorker::execute(const Packet& request, const ReceiveBatch::Datagram& datagram) {
  const std::int64_t begin = monotonic_ns();
  const std::int64_t arrival = datagram.has_stamp ? datagram.received_ns + to_monotonic_ns_ : begin;
  capacity_.begin(arrival, begin);

  if (capacity_.limited()) timer_->begin(begin);
  const std::size_t size = handler_.execute(request, answers_.buffer());
  const std::int64_t end = monotonic_ns();
  const std::int64_t busy =
      capacity_.limited() ? timer_->end(end, capacity_.service_ns()) : end - begin;
  const auto [start, finish] = capacity_.end(busy);

  counters_.store_ns.add(end - begin);
  if (capacity_.limited()) {
    counters_.blocked_ns.add(std::max<std::int64_t>(0, busy - capacity_.service_ns()));
    counters_.lost_ns.raise_to(capacity_.lost_ns());
  }
  counters_.busy_in_window_ns.add(window_.overlap_ns(start, finish));
  if (size > 0) {
    counters_.served_total.add();
    if (window_.contains(finish)) counters_.served_in_window.add();
    if (answers_.size() == 0) first_due_ns_ = finish;
    answers_.add(size, &datagram.from);
  }

  if (finish > end) {
    // Everything before this operation is due; its own answer, and the next operation, must wait.
    send(answers_.size() - (size > 0 ? 1 : 0));
    first_due_ns_ = finish;
    wait_until(finish);
    send(answers_.size());
  } else if (answers_.full()) {
    send(answers_.size());
  }
}

void ServerWorker::send(std::size_t count) noexcept {
  if (count == 0) return;
  counters_.late_max_ns.raise_to(monotonic_ns() - first_due_ns_);
  answers_.flush(socket_, count, [&](std::uint32_t, int) { counters_.send_errors.add(); });
}

}  // namespace turntable::kv
