#include "farreach/kv/open_codec.h"

#include "farreach/kv/answer_types.h"
#include "farreach/kv/value.h"

namespace turntable::kv {

using workload::OperationType;

unsigned OpenCodec::send(std::uint64_t number, std::int64_t /*now_ns*/,
                         net::Datagrams& out) noexcept {
  const OpenOrder::Request request = order_->at(number);
  const workload::KeyId key = request.operation.key;
  const auto id = static_cast<std::uint32_t>(number + 1);
  const auto longest = static_cast<std::uint32_t>(value_.size());
  const std::uint32_t bytes = replay_->bytes_of(request.operation, longest);
  Packet packet{.type = request_type(request.operation.type, bytes),
                .key = workload::wire_key(key),
                .request_id = id};
  if (request.operation.type == OperationType::kPut) {
    packet.value = std::span(value_).first(bytes);
    fill_value(std::span(value_).first(bytes), key, request.version);
    packet.fragment.transmission = id;
    if (is_large(packet.type)) packet = fragment_of(packet, 0);
  }
  ++book_->statistics.partitions[request.operation.running].requests_total;
  out.add(encode(packet, out.buffer()), nullptr, /*dscp=*/0, request.operation.running);
  return 1;
}

void OpenCodec::refused(std::uint32_t running) noexcept {
  --book_->statistics.partitions[running].requests_total;
  ++book_->statistics.send_errors;
}

std::optional<std::uint64_t> OpenCodec::decode(const net::Datagrams::Received& datagram) noexcept {
  Packet answer;
  if (datagram.truncated || kv::decode(datagram.bytes, answer) != DecodeStatus::kOk ||
      !is_response(answer.type) || answer.request_id == 0 || order_->empty()) {
    ++book_->statistics.malformed;
    return std::nullopt;
  }
  const std::uint64_t number = answer.request_id - 1;
  const OpenOrder::Request request = order_->at(number);
  if (!is_response_to(answer.type, request.operation.type) ||
      workload::key_id_from_wire(answer.key) != request.operation.key) {
    ++book_->statistics.mismatched;
    return std::nullopt;
  }
  running_ = request.operation.running;
  by_switch_ = answer.node == kSwitchNode;
  check_contents(answer, request);
  if (by_switch_ && book_->copies.keeps()) keep_copy(answer, request);
  return number;
}

void OpenCodec::counted(const load::OpenLoop::Counted& answer) noexcept {
  book_->answered(running_, by_switch_, answer);
}

bool OpenCodec::is_value_of(const Packet& answer, const OpenOrder::Request& get) const noexcept {
  return replay_->is_size_of(get.operation, answer.value.size(), value_.size()) &&
         value_matches(answer.value, get.operation.key);
}

void OpenCodec::check_contents(const Packet& answer, const OpenOrder::Request& request) noexcept {
  if (!by_switch_ && answer.node != replay_->partitions()[running_]) ++book_->statistics.wrong_node;
  if (!is_get_response(answer.type)) return;
  if (answer.stat == kStatAbsent) {
    ++book_->statistics.not_found;
  } else if (!is_value_of(answer, request)) {
    ++book_->statistics.wrong_values;
  }
}

// Of what no switch can hold there is none: such an answer is forged.
void OpenCodec::keep_copy(const Packet& answer, const OpenOrder::Request& request) noexcept {
  ClientCopies::Copy copy{.key = request.operation.key, .number = answer.sequence};
  if (request.operation.type == OperationType::kPut) {
    const auto longest = static_cast<std::uint32_t>(value_.size());
    copy.version = request.version;
    copy.value_bytes = replay_->bytes_of(request.operation, longest);
    copy.exists = true;
  } else if (request.operation.type == OperationType::kGet && answer.stat != kStatAbsent) {
    if (!is_value_of(answer, request)) return;  // counted as a wrong value
    copy.version = value_version(answer.value);
    copy.value_bytes = static_cast<std::uint32_t>(answer.value.size());
    copy.exists = true;
  }
  if (copy.value_bytes > kMaxValueBytes) return;
  book_->copies.keep(copy);
}

}  // namespace turntable::kv
