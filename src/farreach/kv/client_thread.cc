#include "farreach/kv/client_thread.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>

#include "common/clock.h"
#include "common/data_path_thread.h"
#include "common/errno_error.h"
#include "farreach/kv/value.h"

namespace turntable::kv {
namespace {

std::size_t longest_value(const ClientThread::Settings& settings) {
  return std::max(settings.value_bytes, settings.variations.large_bytes);
}

std::size_t datagram_bytes(const ClientThread::Settings& settings) {
  return longest_value(settings) > kMaxValueBytes ? net::kLargeDatagramBytes : net::kDatagramBytes;
}

}  // namespace

ClientThread::ClientThread(const Settings& settings, const Replay& replay, UniqueFd socket)
    : socket_(std::move(socket)),
      wake_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      loops_(settings, replay, *this),
      value_(longest_value(settings)),
      received_(net::ReceiveBatch::Details::kOldestStamp, datagram_bytes(settings)),
      large_answers_(2 * settings.clients),  // twice: room for stale answers
      sending_(datagram_bytes(settings)) {
  if (!wake_event_) throw errno_error("cannot create an eventfd");
}

void ClientThread::set_schedule(const Schedule& schedule) {
  schedule_ = schedule;
  loops_.set_window(schedule.window_from_ns, schedule.window_until_ns);
}

void ClientThread::stop() noexcept {
  stopping_ = true;
  ::eventfd_write(wake_event_.get(), 1);
}

void ClientThread::read_waiting() noexcept {
  if (reads_done_ == kNotReading) return;
  const std::uint64_t asked = ++reads_asked_;
  ::eventfd_write(wake_event_.get(), 1);
  for (std::uint64_t done = reads_done_; done < asked; done = reads_done_) reads_done_.wait(done);
}

void ClientThread::note_reads(std::uint64_t done) noexcept {
  if (done == reads_done_.load(std::memory_order_relaxed)) return;
  reads_done_ = done;
  reads_done_.notify_all();
}

void ClientThread::run() {
  use_precise_timers();
  wait_until(schedule_.start_ns, /*for_answers=*/false);
  if (stopping()) return;
  reads_done_ = 0;
  std::int64_t now = monotonic_ns();
  timing_.start_lateness_ns = now - schedule_.start_ns;
  loops_.begin(now);
  flush();
  while (!finished() && !stopping()) {
    const std::uint64_t reads_asked = reads_asked_;
    const int count = received_.receive(socket_.get());
    now = monotonic_ns();
    advance_phase(now);
    if (count < 0) ++loops_.statistics().receive_errors;
    if (count > 0 && phase_ == Phase::kMeasure) note_lateness();
    for (int i = 0; i < count; ++i) handle(received_.at(static_cast<std::size_t>(i)), now);
    loops_.retry_late(now);
    flush();
    if (count == 0) note_reads(reads_asked);
    if (count == 0 && !finished()) wait_until(next_event_ns(), /*for_answers=*/true);
  }
  loops_.statistics().unanswered = static_cast<std::int64_t>(loops_.outstanding());
  loops_.end();
  note_reads(kNotReading);
}

bool ClientThread::finished() const noexcept {
  return phase_ == Phase::kDrain &&
         (loops_.outstanding() == 0 || monotonic_ns() >= schedule_.drain_until_ns);
}

void ClientThread::advance_phase(std::int64_t now_ns) {
  if (phase_ == Phase::kWarmUp && now_ns >= schedule_.window_from_ns) {
    enter(Phase::kMeasure);
    window_opened_ns_ = now_ns;
    scheduling_before_ = scheduling_of_this_thread();
  }
  if (phase_ == Phase::kMeasure && now_ns >= schedule_.window_until_ns) {
    enter(Phase::kDrain);
    timing_.measured_ns = now_ns - window_opened_ns_;
    timing_.window_lateness_ns = now_ns - schedule_.window_until_ns;
    if (const auto scheduling = scheduling_of_this_thread(); scheduling && scheduling_before_)
      timing_.scheduling = *scheduling - *scheduling_before_;
    loops_.statistics().in_flight_at_stop = static_cast<std::int64_t>(loops_.outstanding());
  }
}

void ClientThread::enter(Phase phase) noexcept {
  phase_ = phase;
  loops_.enter(phase);
}

// Of the oldest datagram of the batch, by the kernel's stamp.
void ClientThread::note_lateness() noexcept {
  const auto oldest = received_.at(0);
  if (!oldest.has_stamp) return;
  timing_.read_lateness_max_ns =
      std::max(timing_.read_lateness_max_ns, realtime_ns() - oldest.received_ns);
}

std::int64_t ClientThread::next_event_ns() const noexcept {
  const std::int64_t next = phase_ == Phase::kWarmUp    ? schedule_.window_from_ns
                            : phase_ == Phase::kMeasure ? schedule_.window_until_ns
                                                        : schedule_.drain_until_ns;
  return std::min(next, loops_.next_deadline_ns());
}

void ClientThread::wait_until(std::int64_t at_ns, bool for_answers) noexcept {
  std::array<pollfd, 2> polled = {
      {{wake_event_.get(), POLLIN, 0}, {for_answers ? socket_.get() : -1, POLLIN, 0}}};
  for (;;) {
    const std::int64_t left_ns = at_ns - monotonic_ns();
    if (left_ns <= 0) return;
    const timespec left = to_timespec(left_ns);
    if (::ppoll(polled.data(), polled.size(), &left, nullptr) <= 0) continue;
    eventfd_t ignored = 0;
    if (polled[0].revents != 0) ::eventfd_read(wake_event_.get(), &ignored);
    return;
  }
}

void ClientThread::send(const ClientRequest& request) noexcept {
  Packet packet{
      .type = request.type, .key = workload::wire_key(request.key), .request_id = request.id};
  if (request.type == PacketType::kPutRequest || request.type == PacketType::kLargePutRequest) {
    const auto bytes = std::span(value_).first(request.value_bytes);
    fill_value(bytes, request.key, request.version);
    packet.value = bytes;
    if (is_large(request.type)) {
      packet.fragment = {.client = static_cast<std::uint16_t>(request.client),
                         .transmission = request.id};  // every transmission has a new id
      return send_fragments(packet, request.running);
    }
  }
  sending_.add(encode(packet, sending_.buffer()), nullptr, /*dscp=*/0, request.running);
  if (sending_.full()) flush();
}

void ClientThread::send_fragments(const Packet& whole, std::uint32_t running) noexcept {
  for (std::size_t i = 0; i < fragments_of(whole.value.size()); ++i) {
    sending_.add(encode(fragment_of(whole, i), sending_.buffer()), nullptr, /*dscp=*/0, running);
    if (sending_.full()) flush();
  }
}

void ClientThread::flush() noexcept {
  sending_.flush(socket_.get(), sending_.size(), [&](std::uint32_t running, int) {
    --loops_.statistics().partitions[running].requests_total;
    ++loops_.statistics().send_errors;
  });
}

void ClientThread::handle(const net::ReceiveBatch::Datagram& datagram,
                          std::int64_t now_ns) noexcept {
  Packet answer;
  if (datagram.truncated || decode(datagram.bytes, answer) != DecodeStatus::kOk) {
    ++loops_.statistics().malformed;
    return;
  }
  const bool is_part = answer.type == PacketType::kLargeGetResponse ||
                       answer.type == PacketType::kLargeGetResponseSeq;
  if (is_part && !large_answers_.add(/*sender=*/0, answer)) return loops_.handle_part(answer);
  loops_.handle(answer, now_ns);
}

}  // namespace turntable::kv
