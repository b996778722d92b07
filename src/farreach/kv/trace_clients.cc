#include "farreach/kv/trace_clients.h"

#include <algorithm>

#include "common/clock.h"
#include "farreach/kv/answer_types.h"
#include "farreach/kv/value.h"

namespace turntable::kv {
namespace {}  // namespace

TraceClients::TraceClients(const Settings& settings, const Replay& replay, RequestSink& sink)
    : settings_(settings),
      replay_(replay),
      sink_(sink),
      clients_(settings.clients),
      loops_(settings.clients, settings.timeout_ns, *this, settings.ramp),
      sends_ns_(settings.history != nullptr ? settings.clients : 0),
      copies_(settings.copies_max),
      statistics_(replay.partitions().size(), 0) {
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    const std::size_t client = settings.first_client + i;
    clients_[i].operations = replay.of(client);
    clients_[i].next = replay.first(client);
    clients_[i].version = (settings.first_global_client + client + 1) << 40;
  }
}

void TraceClients::set_window(std::int64_t from_ns, std::int64_t until_ns) {
  window_from_ns_ = from_ns;
  const auto seconds = static_cast<std::size_t>((until_ns - from_ns + kSecondNs - 1) / kSecondNs);
  statistics_ = ClientStatistics(replay_.partitions().size(), seconds);
}

void TraceClients::draw(std::uint32_t index) noexcept {
  Client& client = clients_[index];
  if (replay_.is_recorded()) {
    client.current = replay_.now(replay_.take());
  } else {
    client.current = replay_.now(client.operations[client.next]);
    client.next = client.next + 1 == client.operations.size() ? 0 : client.next + 1;
  }
  ++client.version;
  if (client.current.type == workload::OperationType::kPut &&
      settings_.variations.deletes(client.version)) {
    client.current.type = workload::OperationType::kDelete;
  }
}

void TraceClients::send(std::uint32_t index, std::uint32_t id, std::int64_t now_ns) noexcept {
  const Client& client = clients_[index];
  const std::uint32_t bytes = replay_.bytes_of(client.current, value_bytes(client.version));
  const PacketType type = request_type(client.current.type, bytes);
  statistics_.partitions[client.current.running].requests_total +=
      is_large(type) ? static_cast<std::int64_t>(fragments_of(bytes)) : 1;
  if (settings_.history != nullptr) sends_ns_[index].push_back(now_ns);
  sink_.send({.type = type,
              .id = id,
              .key = client.current.key,
              .version = client.version,
              .value_bytes = bytes,
              .client = number_of(index),
              .running = client.current.running});
}

void TraceClients::late(std::uint32_t /*index*/, std::int64_t now_ns) noexcept {
  ++statistics_.timeouts;
  if (loops_.phase() == load::Phase::kDrain) return;
  ++statistics_.retries;
  if (loops_.phase() == load::Phase::kMeasure) {
    const auto second = static_cast<std::size_t>((now_ns - window_from_ns_) / kSecondNs);
    ++statistics_.seconds[second].retries;
  }
}

void TraceClients::handle(const Packet& answer, std::int64_t now_ns) noexcept {
  const std::uint32_t index = Loops::client_of(answer.request_id);
  if (index >= clients_.size() || !is_response(answer.type)) {
    ++statistics_.malformed;
    return;
  }
  if (!loops_.awaits(answer.request_id)) return ignore_stale(answer);
  const Client& client = clients_[index];
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
  if (loops_.phase() == load::Phase::kMeasure) record(answer, index, now_ns);
  if (loops_.phase() == load::Phase::kDrain) ++statistics_.answered_in_drain;
  loops_.answered(index, now_ns);
}

void TraceClients::ignore_stale(const Packet& answer) noexcept {
  const auto key = workload::key_id_from_wire(answer.key);
  const int running = key ? replay_.running_index(*key) : -1;
  if (running < 0) {
    ++statistics_.malformed;
    return;
  }
  ++statistics_.stale_answers;
  ++statistics_.partitions[static_cast<std::size_t>(running)].answers_total;
}

bool TraceClients::is_value_of(const Packet& answer, const Client& client) const noexcept {
  const std::uint32_t fixed = value_bytes(value_version(answer.value));
  return replay_.is_size_of(client.current, answer.value.size(), fixed) &&
         value_matches(answer.value, client.current.key);
}

// Of values that clients write; those of the load are not varied.
std::uint32_t TraceClients::value_bytes(std::uint64_t version) const noexcept {
  const bool large = version != kLoadedVersion && settings_.variations.large(version);
  return large ? settings_.variations.large_bytes : settings_.value_bytes;
}

void TraceClients::keep_copy(const Packet& answer, const Client& client) noexcept {
  ClientCopies::Copy copy{.key = client.current.key, .number = answer.sequence};
  switch (client.current.type) {
    case workload::OperationType::kPut:
      copy.version = client.version;
      copy.value_bytes = replay_.bytes_of(client.current, value_bytes(client.version));
      copy.exists = true;
      break;
    case workload::OperationType::kDelete:
      break;
    default:
      copy.exists = answer.stat != kStatAbsent;
      if (copy.exists && !is_value_of(answer, client)) return;  // counted as a wrong value
      if (!copy.exists) break;
      copy.version = value_version(answer.value);
      copy.value_bytes = static_cast<std::uint32_t>(answer.value.size());
  }
  if (copy.value_bytes > kMaxValueBytes) return;  // no switch holds such a value: it is forged
  copies_.keep(copy);
}

void TraceClients::remember(std::uint32_t index, const Packet* answer,
                            std::int64_t now_ns) noexcept {
  const Client& client = clients_[index];
  HistoryOperation operation{.client = number_of(index),
                             .key = client.current.key,
                             .type = client.current.type,
                             .version = client.version,
                             .sends_ns = sends_ns_[index],
                             .invoke_ns = loops_.first_sent_ns(index)};
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

void TraceClients::end() noexcept {
  if (settings_.history == nullptr) return;
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    if (loops_.is_outstanding(i)) remember(i, nullptr, 0);
  }
  settings_.history->flush();
}

void TraceClients::handle_part(const Packet& fragment) noexcept {
  const auto key = workload::key_id_from_wire(fragment.key);
  const int running = key ? replay_.running_index(*key) : -1;
  if (running < 0) {
    ++statistics_.malformed;
  } else {
    ++statistics_.partitions[static_cast<std::size_t>(running)].answers_total;
  }
}

void TraceClients::check_contents(const Packet& answer, const Client& client) noexcept {
  const unsigned partition = replay_.partitions()[client.current.running];
  if (answer.node != kSwitchNode && answer.node != partition) ++statistics_.wrong_node;
  if (!is_get_response(answer.type)) return;
  if (answer.stat == kStatAbsent) {
    ++statistics_.not_found;
  } else if (!is_value_of(answer, client)) {
    ++statistics_.wrong_values;
  }
}

void TraceClients::record(const Packet& answer, std::uint32_t index, std::int64_t now_ns) noexcept {
  const std::size_t running = clients_[index].current.running;
  const std::int64_t latency = now_ns - loops_.first_sent_ns(index);
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
