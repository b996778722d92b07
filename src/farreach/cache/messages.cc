#include "farreach/cache/messages.h"

#include <algorithm>
#include <limits>
#include <span>

namespace turntable::cache {
namespace {

constexpr std::size_t kSmallestRecord = 16 + 1 + 4 + 2;

void put_record(ByteWriter& to, const Record& record) {
  to.bytes(record.key);
  to.number(static_cast<std::uint8_t>(record.kind));
  to.number(record.number);
  to.number(static_cast<std::uint16_t>(record.value.size()));
  to.bytes(record.value);
}

Record take_record(ByteReader& from) {
  Record record;
  const auto key = from.take(record.key.size());
  std::copy(key.begin(), key.end(), record.key.begin());
  const auto kind = from.number<std::uint8_t>();
  record.number = from.number<std::uint32_t>();
  const auto value = from.take(from.number<std::uint16_t>());
  if (kind > static_cast<std::uint8_t>(Record::Kind::kLarge) || value.size() > kMaxCachedBytes) {
    throw messages::MessageError("a record of kind " + std::to_string(kind) + " with " +
                                 std::to_string(value.size()) + " bytes; expected kinds up to 3, " +
                                 std::to_string(kMaxCachedBytes) + " bytes at most");
  }
  record.kind = static_cast<Record::Kind>(kind);
  record.value.assign(value.begin(), value.end());
  return record;
}

// A count is checked against the bytes that are there before anything is allocated.
std::uint32_t take_count(ByteReader& from, std::size_t bytes_each) {
  const auto count = from.number<std::uint32_t>();
  if (count > from.left() / bytes_each)
    throw messages::MessageError("a list is longer than its message");
  return count;
}

}  // namespace

const char* name_of(MessageType type) {
  switch (type) {
    case MessageType::kHello:
      return "HELLO";
    case MessageType::kHot:
      return "HOT";
    case MessageType::kEvict:
      return "EVICT";
    case MessageType::kEvicted:
      return "EVICTED";
    case MessageType::kClientHello:
      return "CLIENT_HELLO";
    case MessageType::kFetch:
      return "FETCH";
    case MessageType::kSettled:
      return "SETTLED";
    case MessageType::kStore:
      return "STORE";
    case MessageType::kStart:
      return "START";
    case MessageType::kRelease:
      return "RELEASE";
    case MessageType::kMaxNumber:
      return "MAX_NUMBER";
    case MessageType::kReplay:
      return "REPLAY";
    case MessageType::kReleaseCopies:
      return "RELEASE_COPIES";
    case MessageType::kCopies:
      return "COPIES";
    case MessageType::kFence:
      return "FENCE";
    case MessageType::kCachedSet:
      return "CACHED_SET";
    case MessageType::kAdmit:
      return "ADMIT";
    case MessageType::kReadmit:
      return "READMIT";
    case MessageType::kBegin:
      return "BEGIN";
    case MessageType::kPoint:
      return "POINT";
    case MessageType::kFinish:
      return "FINISH";
    case MessageType::kSetNumbers:
      return "SET_NUMBERS";
    case MessageType::kRestore:
      return "RESTORE";
    case MessageType::kServe:
      return "SERVE";
    case MessageType::kSlots:
      return "SLOTS";
  }
  return nullptr;
}

void write_body(const Message& message, ByteWriter& to) {
  to.number(message.store);
  const std::size_t longest = std::numeric_limits<std::uint16_t>::max();
  const std::string text = message.text.substr(0, longest);
  to.number(static_cast<std::uint16_t>(text.size()));
  to.bytes(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
  to.number(static_cast<std::uint32_t>(message.numbers.size()));
  for (const std::uint32_t number : message.numbers) to.number(number);
  to.number(static_cast<std::uint32_t>(message.records.size()));
  for (const Record& record : message.records) put_record(to, record);
}

void read_body(ByteReader& from, Message& message) {
  message.store = from.number<std::uint32_t>();
  const auto text = from.take(from.number<std::uint16_t>());
  message.text.assign(text.begin(), text.end());
  message.numbers.resize(take_count(from, sizeof(std::uint32_t)));
  for (std::uint32_t& number : message.numbers) number = from.number<std::uint32_t>();
  message.records.resize(take_count(from, kSmallestRecord));
  for (Record& record : message.records) record = take_record(from);
}

std::size_t encoded_bytes(const Message& message) {
  std::size_t bytes = messages::kHeaderBytes + 4 + 2 + message.text.size() + 4 +
                      sizeof(std::uint32_t) * message.numbers.size() + 4;
  for (const Record& record : message.records) bytes += kSmallestRecord + record.value.size();
  return bytes;
}

}  // namespace turntable::cache
