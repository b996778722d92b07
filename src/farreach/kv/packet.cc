#include "farreach/kv/packet.h"

#include <algorithm>

#include "common/bytes.h"

namespace turntable::kv {
namespace {

DecodeStatus read_value(ByteReader& in, std::span<const std::uint8_t>& value) {
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

// A fragment is well-formed if its place in the value follows from its index: all but the last are
// full.
DecodeStatus read_fragment(ByteReader& in, Packet& packet) {
  Fragment& fragment = packet.fragment;
  fragment.client = in.number<std::uint16_t>();
  fragment.transmission = in.number<std::uint32_t>();
  fragment.index = in.number<std::uint16_t>();
  fragment.count = in.number<std::uint16_t>();
  if (fragment.index == 0) fragment.value_length = in.number<std::uint32_t>();
  if (in.truncated()) return DecodeStatus::kTruncated;
  packet.value = in.take(in.left());
  const bool last = fragment.index + 1 == fragment.count;
  if (fragment.index >= fragment.count || fragment.count > fragments_of(kMaxLargeValueBytes) ||
      packet.value.size() > kFragmentBytes || packet.value.empty() ||
      (!last && packet.value.size() != kFragmentBytes)) {
    return DecodeStatus::kBadFragment;
  }
  if (fragment.index > 0) return DecodeStatus::kOk;
  const std::uint32_t length = fragment.value_length;
  const bool fits = length > kMaxValueBytes && length <= kMaxLargeValueBytes &&
                    fragments_of(length) == fragment.count &&
                    (!last || packet.value.size() == length);
  return fits ? DecodeStatus::kOk : DecodeStatus::kBadFragment;
}

}  // namespace

Packet fragment_of(const Packet& whole, std::size_t index) noexcept {
  Packet part = whole;
  part.fragment.index = static_cast<std::uint16_t>(index);
  part.fragment.count = static_cast<std::uint16_t>(fragments_of(whole.value.size()));
  part.fragment.value_length = static_cast<std::uint32_t>(whole.value.size());
  const auto rest = whole.value.subspan(index * kFragmentBytes);
  part.value = rest.first(std::min(rest.size(), kFragmentBytes));
  return part;
}

DecodeStatus decode(std::span<const std::uint8_t> datagram, Packet& packet) noexcept {
  ByteReader in(datagram);
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
  if (is_large(packet.type)) return read_fragment(in, packet);
  if (in.truncated()) return DecodeStatus::kTruncated;
  return in.left() == 0 ? DecodeStatus::kOk : DecodeStatus::kTrailingBytes;
}

std::size_t encode(const Packet& packet, std::span<std::uint8_t> out) noexcept {
  const bool large = is_large(packet.type);
  const std::size_t size =
      large ? encoded_fragment_size(packet.type, packet.fragment.index, packet.value.size())
            : encoded_size(packet.type, packet.value.size());
  if (has_inswitch(packet.type) || out.size() < size ||
      packet.value.size() > (large ? kFragmentBytes : kMaxValueBytes)) {
    return 0;
  }
  PlacedByteWriter to(out.data());
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
  if (large) {
    to.number(packet.fragment.client);
    to.number(packet.fragment.transmission);
    to.number(packet.fragment.index);
    to.number(packet.fragment.count);
    if (packet.fragment.index == 0) to.number(packet.fragment.value_length);
    to.bytes(packet.value);
  }
  return size;
}

}  // namespace turntable::kv
