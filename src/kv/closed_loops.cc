#include "kv/closed_loops.h"

#include <algorithm>

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

ClosedLoops::ClosedLoops(const Settings& settings, const Replay& replay, RequestSink& sink)
    : settings_(settings),
      replay_(replay),
      sink_(sink),
      clients_(settings.clients),
      waiting_(settings.clients),
      statistics_(replay.partitions().size(), 0) {
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    const std::size_t client = settings.first_client + i;
    clients_[i].operations = replay.of(client);
    clients_[i].version = (settings.first_global_client + client + 1) << 40;
  }
}

void ClosedLoops::set_window(std::int64_t from_ns, std::int64_t until_ns) {
  window_from_ns_ = from_ns;
  const auto seconds = static_cast<std::size_t>((until_ns - from_ns + kSecondNs - 1) / kSecondNs);
  statistics_ = ClientStatistics(replay_.partitions().size(), seconds);
}

void ClosedLoops::begin(std::int64_t now_ns) noexcept {
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    if (!clients_[i].operations.empty()) issue(i, now_ns);
  }
}

std::int64_t ClosedLoops::next_deadline_ns() const noexcept {
  const auto oldest = waiting_.oldest();
  return oldest == TimeoutQueue::kNone ? INT64_MAX : clients_[oldest].deadline_ns;
}

void ClosedLoops::issue(std::uint32_t index, std::int64_t now_ns) noexcept {
  Client& client = clients_[index];
  client.current = client.operations[client.next];
  client.next = client.next + 1 == client.operations.size() ? 0 : client.next + 1;
  ++client.version;
  client.first_sent_ns = now_ns;
  client.outstanding = true;
  ++outstanding_;
  send(index, now_ns);
}

void ClosedLoops::send(std::uint32_t index, std::int64_t now_ns) noexcept {
  Client& client = clients_[index];
  client.sequence = (client.sequence + 1) & ((1U << kSequenceBits) - 1);
  client.request_id = index << kSequenceBits | client.sequence;
  client.deadline_ns = now_ns + settings_.timeout_ns;
  client.timed = true;
  waiting_.push(index);
  ++statistics_.partitions[client.current.running].requests_total;
  sink_.send({.type = request_type(client.current.type),
              .id = client.request_id,
              .key = client.current.key,
              .version = client.version,
              .running = client.current.running});
}

void ClosedLoops::retry_late(std::int64_t now_ns) noexcept {
  for (auto index = waiting_.oldest();
       index != TimeoutQueue::kNone && clients_[index].deadline_ns <= now_ns;
       index = waiting_.oldest()) {
    waiting_.remove(index);
    clients_[index].timed = false;
    ++statistics_.timeouts;
    if (phase_ == Phase::kDrain) continue;  // its answer may still come, but nothing is sent
    ++statistics_.retries;
    if (phase_ == Phase::kMeasure) {
      const auto second = static_cast<std::size_t>((now_ns - window_from_ns_) / kSecondNs);
      ++statistics_.seconds[second].retries;
    }
    send(index, now_ns);
  }
}

void ClosedLoops::handle(const Packet& answer, std::int64_t now_ns) noexcept {
  const std::uint32_t index = answer.request_id >> kSequenceBits;
  if (index >= clients_.size()) {
    ++statistics_.malformed;
    return;
  }
  Client& client = clients_[index];
  if (!client.outstanding || client.request_id != answer.request_id) return ignore_stale(answer);
  if (answer.type != response_type(client.current.type) ||
      workload::key_id_from_wire(answer.key) != client.current.key) {
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

void ClosedLoops::ignore_stale(const Packet& answer) noexcept {
  const auto key = workload::key_id_from_wire(answer.key);
  const int running = key ? replay_.running_index(*key) : -1;
  if (running < 0) {
    ++statistics_.malformed;
    return;
  }
  ++statistics_.stale_answers;
  ++statistics_.partitions[static_cast<std::size_t>(running)].answers_total;
}

void ClosedLoops::check_contents(const Packet& answer, const Client& client) noexcept {
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

void ClosedLoops::record(const Packet& answer, const Client& client, std::int64_t now_ns) noexcept {
  const std::size_t running = client.current.running;
  const std::int64_t latency = now_ns - client.first_sent_ns;
  const auto second_index = static_cast<std::size_t>((now_ns - window_from_ns_) / kSecondNs);
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
