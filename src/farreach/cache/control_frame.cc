#include "farreach/cache/control_frame.h"

#include <algorithm>
#include <vector>

#include "common/bytes.h"

namespace turntable::cache {
namespace {

using Operation = ControlFrame::Operation;

constexpr std::uint8_t kAnswerFlag = 0x80;
constexpr std::uint16_t kNoOperationType = 0;  // `op` carries only the key
// Nobody looks at the addresses; locally administered ones cannot be anybody's.
constexpr std::array<std::uint8_t, 6> kSwitchAddress = {2, 0, 0, 0, 0x88, 1};
constexpr std::array<std::uint8_t, 6> kAgentAddress = {2, 0, 0, 0, 0x88, 2};

bool is_operation(std::uint8_t number) {
  return number >= static_cast<std::uint8_t>(Operation::kSetValid) &&
         number <= static_cast<std::uint8_t>(Operation::kHot);
}

template <std::size_t N>
void copy_to(std::span<const std::uint8_t> from, std::array<std::uint8_t, N>& to) {
  std::copy(from.begin(), from.end(), to.begin());
}

// Where a value of `length` bytes begins.
std::size_t begin_of(std::size_t length) {
  return kMaxCachedBytes - (length + 7) / 8 * 8;
}

}  // namespace

ControlFrameBytes encode(const ControlFrame& frame) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(kControlFrameBytes);
  ByteWriter to(bytes);
  to.bytes(kSwitchAddress);
  to.bytes(kAgentAddress);
  to.number(kControlEtherType);
  const auto operation = static_cast<std::uint8_t>(frame.operation);
  to.number(static_cast<std::uint8_t>(operation | (frame.is_answer ? kAnswerFlag : 0)));
  to.number(frame.valid);
  to.number(frame.egress_port);
  to.number(frame.slot);
  to.number(frame.frequency);
  to.number(kNoOperationType);
  to.bytes(frame.key);
  to.number(frame.request_id);
  to.number(frame.length);
  to.bytes(frame.value);
  to.number(frame.cell);
  to.number(frame.token);
  ControlFrameBytes result{};
  copy_to(bytes, result);
  return result;
}

std::optional<ControlFrame> decode_control_frame(std::span<const std::uint8_t> bytes) {
  ByteReader from(bytes);
  from.take(kSwitchAddress.size() + kAgentAddress.size());
  const bool is_control = from.number<std::uint16_t>() == kControlEtherType;
  ControlFrame frame;
  const auto operation = from.number<std::uint8_t>();
  frame.operation = static_cast<Operation>(operation & ~kAnswerFlag);
  frame.is_answer = (operation & kAnswerFlag) != 0;
  frame.valid = from.number<std::uint8_t>();
  frame.egress_port = from.number<std::uint16_t>();
  frame.slot = from.number<std::uint16_t>();
  frame.frequency = from.number<std::uint32_t>();
  from.number<std::uint16_t>();  // op's type
  copy_to(from.take(frame.key.size()), frame.key);
  frame.request_id = from.number<std::uint32_t>();
  frame.length = from.number<std::uint16_t>();
  copy_to(from.take(frame.value.size()), frame.value);
  frame.cell = from.number<std::uint32_t>();
  frame.token = from.number<std::uint32_t>();
  const bool valid_length = frame.length <= kMaxCachedBytes || frame.length == kDeletedLength;
  if (!is_control || from.truncated() || !is_operation(operation & ~kAnswerFlag) || !valid_length) {
    return std::nullopt;
  }
  return frame;
}

Record record_of(const ControlFrame& frame) {
  Record record = key_only(frame.key);
  record.number = number_of(frame.cell);
  record.kind = Record::Kind::kDeleted;
  if (frame.length == kDeletedLength) return record;
  record.kind = Record::Kind::kValue;
  const auto* first = frame.value.data() + begin_of(frame.length);
  record.value.assign(first, first + frame.length);
  return record;
}

void put_record(const Record& record, ControlFrame& frame) {
  frame.length = kDeletedLength;
  if (record.kind != Record::Kind::kValue) return;
  frame.length = static_cast<std::uint16_t>(record.value.size());
  frame.value.fill(0);
  std::copy(record.value.begin(), record.value.end(),
            frame.value.data() + begin_of(record.value.size()));
}

}  // namespace turntable::cache
