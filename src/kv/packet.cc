#include "kv/packet.h"

#include <algorithm>
#include <cstring>

namespace turntable::kv {
namespace {

class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  // The next `count` bytes; sets truncated() and answers an empty span if there are fewer.
  std::span<const std::uint8_t> take(std::size_t count) {
    if (rest_.size() < count) {
      truncated_ = true;
      rest_ = {};
      return {};
    }
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

  // A big-endian number; 0 when truncated.
  template <typename T>
  T number() {
    T value = 0;
    for (const std::uint8_t byte : take(sizeof(T))) value = static_cast<T>(value << 8 | byte);
    return value;
  }

  bool truncated() const { return truncated_; }
  bool empty() const { return rest_.empty(); }

 private:
  std::span<const std::uint8_t> rest_;
  bool truncated_ = false;
};

template <>
std::uint8_t Reader::number<std::uint8_t>() {
  const auto byte = take(1);
  return byte.empty() ? std::uint8_t{0} : byte[0];
}

class Writer {
 public:
  explicit Writer(std::uint8_t* at) : at_(at) {}

  template <typename T>
  void number(T value) {
    for (int shift = static_cast<int>(sizeof(T)) * 8 - 8; shift >= 0; shift -= 8) {
      *at_++ = static_cast<std::uint8_t>(value >> shift);
    }
  }

  void bytes(std::span<const std::uint8_t> source) {
    at_ = std::copy(source.begin(), source.end(), at_);
  }
  void zeros(std::size_t count) { at_ = std::fill_n(at_, count, std::uint8_t{0}); }

 private:
  std::uint8_t* at_;
};

DecodeStatus read_value(Reader& in, std::span<const std::uint8_t>& value) {
  const auto length = in.number<std::uint16_t>();
  if (length > kMaxValueBytes) return DecodeStatus::kValueTooLong;
  const auto slots = in.take(padded(length));
  if (in.truncated()) return DecodeStatus::kTruncated;
  value = slots.first(length);
  const auto padding = slots.subspan(length);
  const bool zero =
      std::all_of(padding.begin(), padding.end(), [](auto byte) { return byte == 0; });
  return zero ? DecodeStatus::kOk : DecodeStatus::kBadPadding;
}

}  // namespace

DecodeStatus decode(std::span<const std::uint8_t> datagram, Packet& packet) noexcept {
  Reader in(datagram);
  packet = {};
  packet.type = static_cast<PacketType>(in.number<std::uint16_t>());
  const auto key = in.take(kKeyBytes);
  packet.request_id = in.number<std::uint32_t>();
  if (in.truncated()) return DecodeStatus::kTruncated;
  std::copy(key.begin(), key.end(), packet.key.begin());

  if (has_inswitch(packet.type)) return DecodeStatus::kInSwitchType;
  if (has_value(packet.type)) {
    const DecodeStatus status = read_value(in, packet.value);
    if (status != DecodeStatus::kOk) return status;
  }
  if (has_shadow(packet.type)) {
    const auto shadow = static_cast<PacketType>(in.number<std::uint16_t>());
    if (in.truncated()) return DecodeStatus::kTruncated;
    if (shadow != packet.type) return DecodeStatus::kBadShadow;
  }
  if (has_sequence(packet.type)) {
    packet.sequence = in.number<std::uint32_t>();
    packet.snapshot_token = in.number<std::uint32_t>();
  }
  if (has_stat(packet.type)) {
    packet.stat = in.number<std::uint8_t>();
    packet.node = in.number<std::uint16_t>();
    in.take(1);  // pad
  }
  if (in.truncated()) return DecodeStatus::kTruncated;
  return in.empty() ? DecodeStatus::kOk : DecodeStatus::kTrailingBytes;
}

std::size_t encode(const Packet& packet, std::span<std::uint8_t> out) noexcept {
  const std::size_t size = encoded_size(packet.type, packet.value.size());
  if (has_inswitch(packet.type) || packet.value.size() > kMaxValueBytes || out.size() < size) {
    return 0;
  }
  Writer to(out.data());
  const auto type = static_cast<std::uint16_t>(packet.type);
  to.number(type);
  to.bytes(packet.key);
  to.number(packet.request_id);
  if (has_value(packet.type)) {
    to.number(static_cast<std::uint16_t>(packet.value.size()));
    to.bytes(packet.value);
    to.zeros(padded(packet.value.size()) - packet.value.size());
  }
  if (has_shadow(packet.type)) to.number(type);
  if (has_sequence(packet.type)) {
    to.number(packet.sequence);
    to.number(packet.snapshot_token);
  }
  if (has_stat(packet.type)) {
    to.number(packet.stat);
    to.number(packet.node);
    to.zeros(1);
  }
  return size;
}

}  // namespace turntable::kv
