#include "farreach/kv/closed_loops.h"

#include <algorithm>

#include "farreach/kv/value.h"

namespace turntable::kv {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

PacketType request_type(workload::OperationType type, std::uint32_t value_bytes) {
  switch (type) {
    case workload::OperationType::kPut:
      return value_bytes > kMaxValueBytes ? PacketType::kLargePutRequest : PacketType::kPutRequest;
    case workload::OperationType::kDelete:
      return PacketType::kDeleteRequest;
    default:
      return PacketType::kGetRequest;
  }
}

bool is_get_response(PacketType type) {
  return type == PacketType::kGetResponse || type == PacketType::kGetResponseSeq ||
         type == PacketType::kLargeGetResponse || type == PacketType::kLargeGetResponseSeq;
}

bool is_response(PacketType type) {
  return is_get_response(type) || type == PacketType::kPutResponse ||
         type == PacketType::kPutResponseSeq || type == PacketType::kDeleteResponse ||
         type == PacketType::kDeleteResponseSeq;
}

bool is_response_to(PacketType type, workload::OperationType operation) {
  switch (operation) {
    case workload::OperationType::kPut:
      return type == PacketType::kPutResponse || type == PacketType::kPutResponseSeq;
    case workload::OperationType::kDelete:
      return type == PacketType::kDeleteResponse || type == PacketType::kDeleteResponseSeq;
    default:
      return is_get_response(type);
  }
}

}  // namespace

ClosedLoops::ClosedLoops(const Settings& settings, const Replay& replay, RequestSink& sink)
    : settings_(settings),
      replay_(replay),
      sink_(sink),
      clients_(settings.clients),
      sends_ns_(settings.history != nullptr ? settings.clients : 0),
      copies_(settings.copies_max),
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
  return oldest == load::TimeoutQueue::kNone ? INT64_MAX : clients_[oldest].deadline_ns;
}

void ClosedLoops::issue(std::uint32_t index, std::int64_t now_ns) noexcept {
  Client& client = clients_[index];
  client.current = client.operations[client.next];
  client.next = client.next + 1 == client.operations.size() ? 0 : client.next + 1;
  ++client.version;
  if (client.current.type == workload::OperationType::kPut &&
      settings_.variations.deletes(client.version)) {
    client.current.type = workload::OperationType::kDelete;
  }
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
  const std::uint32_t bytes = value_bytes(client.version);
  const PacketType type = request_type(client.current.type, bytes);
  statistics_.partitions[client.current.running].requests_total +=
      is_large(type) ? static_cast<std::int64_t>(fragments_of(bytes)) : 1;
  if (settings_.history != nullptr) sends_ns_[index].push_back(now_ns);
  sink_.send({.type = type,
              .id = client.request_id,
              .key = client.current.key,
              .version = client.version,
              .value_bytes = bytes,
              .client = number_of(index),
              .running = client.current.running});
}

void ClosedLoops::retry_late(std::int64_t now_ns) noexcept {
  for (auto index = waiting_.oldest();
       index != load::TimeoutQueue::kNone && clients_[index].deadline_ns <= now_ns;
       index = waiting_.oldest()) {
    waiting_.remove(index);
    clients_[index].timed = false;
    ++statistics_.timeouts;
    if (phase_ == load::Phase::kDrain) continue;  // its answer may still come, but nothing is sent
    ++statistics_.retries;
    if (phase_ == load::Phase::kMeasure) {
      const auto second = static_cast<std::size_t>((now_ns - window_from_ns_) / kSecondNs);
      ++statistics_.seconds[second].retries;
    }
    send(index, now_ns);
  }
}

void ClosedLoops::handle(const Packet& answer, std::int64_t now_ns) noexcept {
  const std::uint32_t index = answer.request_id >> kSequenceBits;
  if (index >= clients_.size() || !is_response(answer.type)) {
    ++statistics_.malformed;
    return;
  }
  Client& client = clients_[index];
  if (!client.outstanding || client.request_id != answer.request_id) return ignore_stale(answer);
  if (!is_response_to(answer.type, client.current.type) ||
      workload::key_id_from_wire(answer.key) != client.current.key) {
    ++statistics_.mismatched;
    return;
  }
  ++statistics_.partitions[client.current.running].answers_total;
  answers_.add();
  check_contents(answer, client);
  if (answer.node == kSwitchNode && copies_.keeps()) keep_copy(answer, client);
  if (settings_.history != nullptr) remember(index, &answer, now_ns);
  if (phase_ == load::Phase::kMeasure) record(answer, client, now_ns);
  if (phase_ == load::Phase::kDrain) ++statistics_.answered_in_drain;

  if (client.timed) waiting_.remove(index);
  client.timed = client.outstanding = false;
  --outstanding_;
  if (phase_ != load::Phase::kDrain) issue(index, now_ns);
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

bool ClosedLoops::is_value_of(const Packet& answer, const Client& client) const noexcept {
  return answer.value.size() == value_bytes(value_version(answer.value)) &&
         value_matches(answer.value, client.current.key);
}

// Of values that clients write; those of the load are not varied.
std::uint32_t ClosedLoops::value_bytes(std::uint64_t version) const noexcept {
  const bool large = version != kLoadedVersion && settings_.variations.large(version);
  return large ? settings_.variations.large_bytes : settings_.value_bytes;
}

void ClosedLoops::keep_copy(const Packet& answer, const Client& client) noexcept {
  ClientCopies::Copy copy{.key = client.current.key, .number = answer.sequence};
  switch (client.current.type) {
    case workload::OperationType::kPut:
      copy.version = client.version;
      copy.exists = true;
      break;
    case workload::OperationType::kDelete:
      break;
    default:
      copy.exists = answer.stat != kStatAbsent;
      if (copy.exists && !is_value_of(answer, client)) return;  // counted as a wrong value
      copy.version = value_version(answer.value);
  }
  if (copy.exists) copy.value_bytes = value_bytes(copy.version);
  if (copy.value_bytes > kMaxValueBytes) return;  // no switch holds such a value: it is forged
  copies_.keep(copy);
}

void ClosedLoops::remember(std::uint32_t index, const Packet* answer,
                           std::int64_t now_ns) noexcept {
  const Client& client = clients_[index];
  HistoryOperation operation{.client = number_of(index),
                             .key = client.current.key,
                             .type = client.current.type,
                             .version = client.version,
                             .sends_ns = sends_ns_[index],
                             .invoke_ns = client.first_sent_ns};
  if (answer != nullptr) {
    HistoryOperation::Answer told;
    told.response_ns = now_ns;
    told.node = answer->node;
    told.found = answer->stat != kStatAbsent;
    if (has_sequence(answer->type)) told.number = answer->sequence;
    if (is_get_response(answer->type) && told.found && is_value_of(*answer, client))
      told.version = value_version(answer->value);
    operation.answer = told;
  }
  settings_.history->add(operation);
  sends_ns_[index].clear();
}

void ClosedLoops::end() noexcept {
  if (settings_.history == nullptr) return;
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    if (clients_[i].outstanding) remember(i, nullptr, 0);
  }
  settings_.history->flush();
}

void ClosedLoops::handle_part(const Packet& fragment) noexcept {
  const auto key = workload::key_id_from_wire(fragment.key);
  const int running = key ? replay_.running_index(*key) : -1;
  if (running < 0) {
    ++statistics_.malformed;
  } else {
    ++statistics_.partitions[static_cast<std::size_t>(running)].answers_total;
  }
}

void ClosedLoops::check_contents(const Packet& answer, const Client& client) noexcept {
  const unsigned partition = replay_.partitions()[client.current.running];
  if (answer.node != kSwitchNode && answer.node != partition) ++statistics_.wrong_node;
  if (!is_get_response(answer.type)) return;
  if (answer.stat == kStatAbsent) {
    ++statistics_.not_found;
  } else if (!is_value_of(answer, client)) {
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
