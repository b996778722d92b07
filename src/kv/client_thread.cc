#include "kv/client_thread.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>

#include "common/errno_error.h"
#include "kv/clock.h"
#include "kv/data_path_thread.h"
#include "kv/value.h"

namespace turntable::kv {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

PacketType request_type(workload::OperationType type) {
  switch (type) {
    case workload::OperationType::kPut:
      return PacketType::kPutRequest;
    case workload::OperationType::kDelete:
      return PacketType::kDeleteRequest;
    default:
      return PacketType::kGetRequest;
  }
}

PacketType response_type(workload::OperationType type) {
  switch (type) {
    case workload::OperationType::kPut:
      return PacketType::kPutResponse;
    case workload::OperationType::kDelete:
      return PacketType::kDeleteResponse;
    default:
      return PacketType::kGetResponse;
  }
}

}  // namespace

ClientThread::ClientThread(const Settings& settings, const Replay& replay, UniqueFd socket)
    : settings_(settings),
      replay_(replay),
      socket_(std::move(socket)),
      stop_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      clients_(settings.clients),
      waiting_(settings.clients),
      statistics_(replay.partitions().size(), 0) {
  if (!stop_event_) throw errno_error("cannot create an eventfd");
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    const std::size_t client = settings.first_client + i;
    clients_[i].operations = replay.of(client);
    clients_[i].version = (settings.first_global_client + client + 1) << 40;
  }
}

void ClientThread::set_schedule(const Schedule& schedule) {
  schedule_ = schedule;
  const std::int64_t window = schedule.window_until_ns - schedule.window_from_ns;
  statistics_ = ClientStatistics(replay_.partitions().size(),
                                 static_cast<std::size_t>((window + kSecondNs - 1) / kSecondNs));
}

void ClientThread::stop() noexcept {
  stopping_ = true;
  ::eventfd_write(stop_event_.get(), 1);
}

void ClientThread::run() {
  use_precise_timers();
  wait_until(schedule_.start_ns, /*for_answers=*/false);
  if (stopping()) return;
  std::int64_t now = monotonic_ns();
  timing_.start_lateness_ns = now - schedule_.start_ns;
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    if (!clients_[i].operations.empty()) issue(i, now);
  }
  flush();
  while (!finished() && !stopping()) {
    const int count = received_.receive(socket_.get());
    now = monotonic_ns();
    advance_phase(now);
    if (count < 0) ++statistics_.receive_errors;
    if (count > 0 && phase_ == Phase::kMeasure) note_lateness();
    for (int i = 0; i < count; ++i) handle(received_.at(static_cast<std::size_t>(i)), now);
    retry_late(now);
    flush();
    if (count == 0 && !finished()) wait_until(next_event_ns(), /*for_answers=*/true);
  }
  statistics_.unanswered = static_cast<std::int64_t>(outstanding_);
}

bool ClientThread::finished() const noexcept {
  return phase_ == Phase::kDrain &&
         (outstanding_ == 0 || monotonic_ns() >= schedule_.drain_until_ns);
}

void ClientThread::advance_phase(std::int64_t now_ns) {
  if (phase_ == Phase::kWarmUp && now_ns >= schedule_.window_from_ns) {
    phase_ = Phase::kMeasure;
    window_opened_ns_ = now_ns;
    scheduling_before_ = scheduling_of_this_thread();
  }
  if (phase_ == Phase::kMeasure && now_ns >= schedule_.window_until_ns) {
    phase_ = Phase::kDrain;
    timing_.measured_ns = now_ns - window_opened_ns_;
    timing_.window_lateness_ns = now_ns - schedule_.window_until_ns;
    if (const auto scheduling = scheduling_of_this_thread(); scheduling && scheduling_before_)
      timing_.scheduling = *scheduling - *scheduling_before_;
    statistics_.in_flight_at_stop = static_cast<std::int64_t>(outstanding_);
  }
}

// Of the oldest datagram of the batch, by the kernel's stamp.
void ClientThread::note_lateness() noexcept {
  const auto oldest = received_.at(0);
  if (!oldest.has_stamp) return;
  timing_.read_lateness_max_ns =
      std::max(timing_.read_lateness_max_ns, realtime_ns() - oldest.received_ns);
}

std::int64_t ClientThread::next_event_ns() const noexcept {
  std::int64_t next = phase_ == Phase::kWarmUp    ? schedule_.window_from_ns
                      : phase_ == Phase::kMeasure ? schedule_.window_until_ns
                                                  : schedule_.drain_until_ns;
  if (const auto oldest = waiting_.oldest(); oldest != TimeoutQueue::kNone) {
    next = std::min(next, clients_[oldest].deadline_ns);
  }
  return next;
}

void ClientThread::wait_until(std::int64_t at_ns, bool for_answers) noexcept {
  std::array<pollfd, 2> polled = {
      {{stop_event_.get(), POLLIN, 0}, {for_answers ? socket_.get() : -1, POLLIN, 0}}};
  for (;;) {
    const std::int64_t left_ns = at_ns - monotonic_ns();
    if (left_ns <= 0) return;
    const timespec left = to_timespec(left_ns);
    if (::ppoll(polled.data(), polled.size(), &left, nullptr) > 0) return;
  }
}

void ClientThread::issue(std::uint32_t index, std::int64_t now_ns) noexcept {
  Client& client = clients_[index];
  client.current = client.operations[client.next];
  client.next = client.next + 1 == client.operations.size() ? 0 : client.next + 1;
  ++client.version;
  client.first_sent_ns = now_ns;
  client.outstanding = true;
  ++outstanding_;
  send(index, now_ns);
}

void ClientThread::send(std::uint32_t index, std::int64_t now_ns) noexcept {
  Client& client = clients_[index];
  client.sequence = (client.sequence + 1) & ((1U << kSequenceBits) - 1);
  client.request_id = index << kSequenceBits | client.sequence;
  client.deadline_ns = now_ns + settings_.timeout_ns;
  client.timed = true;
  waiting_.push(index);

  Packet request{.type = request_type(client.current.type),
                 .key = workload::wire_key(client.current.key),
                 .request_id = client.request_id};
  std::array<std::uint8_t, kMaxValueBytes> value;
  if (request.type == PacketType::kPutRequest) {
    const auto bytes = std::span(value).first(settings_.value_bytes);
    fill_value(bytes, client.current.key, client.version);
    request.value = bytes;
  }
  const std::uint16_t running = client.current.running;
  sending_.add(encode(request, sending_.buffer()), nullptr, running);
  ++statistics_.partitions[running].requests_total;
  if (sending_.full()) flush();
}

void ClientThread::retry_late(std::int64_t now_ns) noexcept {
  for (auto index = waiting_.oldest();
       index != TimeoutQueue::kNone && clients_[index].deadline_ns <= now_ns;
       index = waiting_.oldest()) {
    waiting_.remove(index);
    clients_[index].timed = false;
    ++statistics_.timeouts;
    if (phase_ == Phase::kDrain) continue;  // its answer may still come, but nothing is sent
    ++statistics_.retries;
    if (phase_ == Phase::kMeasure) {
      const auto second = static_cast<std::size_t>((now_ns - schedule_.window_from_ns) / kSecondNs);
      ++statistics_.seconds[second].retries;
    }
    send(index, now_ns);
  }
}

void ClientThread::flush() noexcept {
  sending_.flush(socket_.get(), sending_.size(), [&](std::uint32_t running, int) {
    --statistics_.partitions[running].requests_total;
    ++statistics_.send_errors;
  });
}

void ClientThread::handle(const ReceiveBatch::Datagram& datagram, std::int64_t now_ns) noexcept {
  Packet answer;
  const bool decoded = !datagram.truncated && decode(datagram.bytes, answer) == DecodeStatus::kOk;
  const std::uint32_t index = answer.request_id >> kSequenceBits;
  if (!decoded || index >= clients_.size()) {
    ++statistics_.malformed;
    return;
  }
  Client& client = clients_[index];
  if (!client.outstanding || client.request_id != answer.request_id) return ignore_stale(answer);
  if (answer.type != response_type(client.current.type) ||
      answer.key != workload::wire_key(client.current.key)) {
    ++statistics_.mismatched;
    return;
  }
  ++statistics_.partitions[client.current.running].answers_total;
  answers_.add();
  check_contents(answer, client);
  if (phase_ == Phase::kMeasure) record(answer, client, now_ns);
  if (phase_ == Phase::kDrain) ++statistics_.answered_in_drain;

  if (client.timed) waiting_.remove(index);
  client.timed = client.outstanding = false;
  --outstanding_;
  if (phase_ != Phase::kDrain) issue(index, now_ns);
}

void ClientThread::ignore_stale(const Packet& answer) noexcept {
  const auto key = workload::key_id_from_wire(answer.key);
  const int running = key ? replay_.running_index(*key) : -1;
  if (running < 0) {
    ++statistics_.malformed;
    return;
  }
  ++statistics_.stale_answers;
  ++statistics_.partitions[static_cast<std::size_t>(running)].answers_total;
}

void ClientThread::check_contents(const Packet& answer, const Client& client) noexcept {
  const unsigned partition = replay_.partitions()[client.current.running];
  if (answer.node != kSwitchNode && answer.node != partition) ++statistics_.wrong_node;
  if (answer.type != PacketType::kGetResponse) return;
  if (answer.stat == kStatAbsent) {
    ++statistics_.not_found;
  } else if (answer.value.size() != settings_.value_bytes ||
             !value_matches(answer.value, client.current.key)) {
    ++statistics_.wrong_values;
  }
}

void ClientThread::record(const Packet& answer, const Client& client,
                          std::int64_t now_ns) noexcept {
  const std::size_t running = client.current.running;
  const std::int64_t latency = now_ns - client.first_sent_ns;
  const auto second_index =
      static_cast<std::size_t>((now_ns - schedule_.window_from_ns) / kSecondNs);
  PartitionStatistics& partition = statistics_.partitions[running];
  PartitionSecond& second = statistics_.seconds[second_index].partitions[running];
  if (answer.node == kSwitchNode) {
    ++partition.switch_ops;
    ++second.switch_ops;
    partition.switch_latency_ns.record(latency);
  } else {
    ++partition.server_ops;
    ++second.server_ops;
    partition.server_latency_ns.record(latency);
  }
  second.latency_sum_ns += latency;
  second.latency_max_ns = std::max(second.latency_max_ns, latency);
}

}  // namespace turntable::kv
