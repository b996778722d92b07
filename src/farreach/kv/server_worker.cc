#include "farreach/kv/server_worker.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>

#include "common/clock.h"
#include "common/data_path_thread.h"
#include "common/errno_error.h"

namespace turntable::kv {

namespace {

std::size_t datagram_bytes(const ServerWorker::Settings& settings) {
  return settings.large_values ? net::kLargeDatagramBytes : net::kDatagramBytes;
}

std::uint64_t sender_of(const sockaddr_in& address) {
  return std::uint64_t{address.sin_addr.s_addr} << 16 | address.sin_port;
}

}  // namespace

ServerWorker::ServerWorker(int socket, RequestHandler& handler, const Settings& settings)
    : socket_(socket),
      handler_(handler),
      background_(handler.background()),
      capacity_(settings.capacity_ops_per_s),
      stop_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      requests_(net::ReceiveBatch::Details::kSenderAndStamp, datagram_bytes(settings)),
      large_values_(settings.large_values ? 2 * settings.clients : 1),
      answers_(datagram_bytes(settings)) {
  if (!stop_event_) throw errno_error("cannot create an eventfd");
  handler_.set_large_values(large_values_);
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
  wait(INT64_MAX, /*for_requests=*/true);
}

void ServerWorker::wait_until(std::int64_t at_ns) noexcept {
  while (monotonic_ns() < at_ns && !stopping()) wait(at_ns, /*for_requests=*/false);
}

// Until that instant, a request, stop() or background work, which it does.
void ServerWorker::wait(std::int64_t until_ns, bool for_requests) noexcept {
  std::array<pollfd, 3> polled = {
      {{stop_event_.get(), POLLIN, 0},
       {for_requests ? socket_ : -1, POLLIN, 0},
       {background_ != nullptr ? background_->event_fd() : -1, POLLIN, 0}}};
  if (background_ != nullptr) until_ns = std::min(until_ns, background_->next_ns());
  const timespec left = to_timespec(std::max<std::int64_t>(0, until_ns - monotonic_ns()));
  ::ppoll(polled.data(), polled.size(), until_ns == INT64_MAX ? nullptr : &left, nullptr);
  if (background_ != nullptr) background_->run(monotonic_ns());
}

void ServerWorker::serve(const net::ReceiveBatch::Datagram& datagram) {
  Packet request;
  if (datagram.truncated || decode(datagram.bytes, request) != DecodeStatus::kOk) {
    counters_.malformed.add();
    return;
  }
  // Of a large value, the type that counts is fragment 0's: others keep what the client gave them.
  // What can be no part of a value that is served here must not take the place of one that can.
  const bool is_part = request.type == PacketType::kLargePutRequest && request.fragment.index > 0;
  if ((!is_part && !handler_.accepts(request.type)) || request.sequence > kLargestSequence) {
    counters_.malformed.add();
    return;
  }
  if (!handler_.owns(request)) return;
  if (is_large(request.type) && !large_values_.add(sender_of(datagram.from), request)) return;
  execute(request, datagram);
}

RequestHandler::Outcome ServerWorker::execute_or_wait(const Packet& request,
                                                      const sockaddr_in& client, Packet& answer) {
  auto outcome = handler_.execute(request, client, answer);
  while (outcome == RequestHandler::Outcome::kHeldBack && !stopping()) {
    send(answers_.size());  // what is due must not wait for this request
    wait(INT64_MAX, /*for_requests=*/false);
    executing_since_ns_ = monotonic_ns();
    if (capacity_.limited()) timer_->begin(executing_since_ns_);
    outcome = handler_.execute(request, client, answer);
  }
  return outcome;
}

void ServerWorker::execute(const Packet& request, const net::ReceiveBatch::Datagram& datagram) {
  const std::int64_t begin = monotonic_ns();
  if (background_ != nullptr) background_->run(begin);
  const std::int64_t arrival = datagram.has_stamp ? datagram.received_ns + to_monotonic_ns_ : begin;
  const std::int64_t begin_service = capacity_.begin(arrival, begin);

  executing_since_ns_ = begin;
  if (capacity_.limited()) timer_->begin(begin);
  Packet answer;
  const auto outcome = execute_or_wait(request, datagram.from, answer);
  const std::int64_t end = monotonic_ns();
  const std::int64_t busy =
      capacity_.limited() ? timer_->end(end, capacity_.service_ns()) : end - executing_since_ns_;
  const std::int64_t held_back =
      background_ != nullptr
          ? std::max<std::int64_t>(0, background_->free_since_ns() - begin_service)
          : 0;
  const auto [start, finish] = capacity_.end(busy, held_back);
  if (background_ != nullptr) background_->finished(finish);

  counters_.store_ns.add(end - executing_since_ns_);
  if (capacity_.limited()) {
    counters_.blocked_ns.add(held_back + std::max<std::int64_t>(0, busy - capacity_.service_ns()));
    counters_.lost_ns.raise_to(capacity_.lost_ns());
    counters_.held_back_ns.add(held_back);
    counters_.held_back_in_window_ns.add(window_.overlap_ns(start, start + held_back));
  }
  counters_.busy_in_window_ns.add(window_.overlap_ns(start, finish));
  std::size_t added = 0;
  if (outcome == RequestHandler::Outcome::kAnswer) {
    counters_.served_total.add();
    if (window_.contains(finish)) counters_.served_in_window.add();
    if (answers_.size() == 0) first_due_ns_ = finish;
    added = add_answer(answer, datagram.from);
  }

  if (finish > end) {
    // Everything before this operation is due; its own answer, and the next operation, must wait.
    send(answers_.size() - added);
    first_due_ns_ = finish;
    wait_until(finish);
    send(answers_.size());
  } else if (answers_.full()) {
    send(answers_.size());
  }
}

// Answers how many datagrams it has become.
std::size_t ServerWorker::add_answer(Packet& answer, const sockaddr_in& client) noexcept {
  if (!is_large(answer.type)) {
    answers_.add(encode(answer, answers_.buffer()), &client);
    return 1;
  }
  answer.fragment.transmission = ++transmission_;
  const std::size_t fragments = fragments_of(answer.value.size());
  if (answers_.size() + fragments > net::kBatch) send(answers_.size());
  for (std::size_t i = 0; i < fragments; ++i) {
    answers_.add(encode(fragment_of(answer, i), answers_.buffer()), &client);
  }
  return fragments;
}

void ServerWorker::send(std::size_t count) noexcept {
  if (count == 0) return;
  counters_.late_max_ns.raise_to(monotonic_ns() - first_due_ns_);
  answers_.flush(socket_, count, [&](std::uint32_t, int) { counters_.send_errors.add(); });
}

}  // namespace turntable::kv
