#include "homa/packet.h"

#include "common/bytes.h"

namespace turntable::homa {
namespace {

constexpr std::uint8_t kAllFlags = kFromClient | kRetransmission | kRestart;

std::size_t header_bytes(const Packet& packet) noexcept {
  switch (packet.opcode) {
    case Opcode::kAllData:
      return kAllDataHeaderBytes;
    case Opcode::kData:
      return kDataHeaderBytes;
    case Opcode::kGrant:
      return kGrantBytes;
    case Opcode::kResend:
      return kResendBytes;
    case Opcode::kAck:
      return kAckBytes;
    case Opcode::kBusy:
    case Opcode::kAbort:
    case Opcode::kNeedAck:
      return kCommonBytes;
  }
  return 0;
}

bool is_known(std::uint8_t opcode) noexcept {
  return opcode >= 20 && opcode <= 28 && opcode != 23;
}

// False: of [offset, offset + length) not all is in the message, or it is empty.
bool is_in(std::uint32_t offset, std::uint32_t length, std::uint32_t total) noexcept {
  return length > 0 && std::uint64_t{offset} + length <= total;
}

DecodeStatus decode_all_data(ByteReader& in, Packet& packet) noexcept {
  packet.length = in.number<std::uint16_t>();
  packet.total = packet.unscheduled = packet.length;
  if (in.truncated()) return DecodeStatus::kTooShort;
  if (packet.length == 0 || in.left() != packet.length) return DecodeStatus::kWrongLength;
  packet.payload = in.take(packet.length);
  return DecodeStatus::kOk;
}

DecodeStatus decode_data(ByteReader& in, Packet& packet) noexcept {
  packet.total = in.number<std::uint32_t>();
  packet.offset = in.number<std::uint32_t>();
  packet.unscheduled = in.number<std::uint32_t>();
  if (in.truncated()) return DecodeStatus::kTooShort;
  packet.length = static_cast<std::uint32_t>(in.left());
  if (!is_in(packet.offset, packet.length, packet.total)) return DecodeStatus::kWrongRange;
  if (packet.unscheduled > packet.total) return DecodeStatus::kWrongRange;
  packet.payload = in.take(packet.length);
  return DecodeStatus::kOk;
}

DecodeStatus decode_resend(ByteReader& in, Packet& packet) noexcept {
  packet.offset = in.number<std::uint32_t>();
  packet.length = in.number<std::uint32_t>();
  packet.granted_priority = in.number<std::uint8_t>();
  if (in.truncated()) return DecodeStatus::kTooShort;
  if (!is_in(packet.offset, packet.length, UINT32_MAX)) return DecodeStatus::kWrongRange;
  return packet.granted_priority <= kMaxPriority ? DecodeStatus::kOk : DecodeStatus::kWrongPriority;
}

DecodeStatus decode_grant(ByteReader& in, Packet& packet) noexcept {
  packet.offset = in.number<std::uint32_t>();
  packet.granted_priority = in.number<std::uint8_t>();
  if (in.truncated()) return DecodeStatus::kTooShort;
  return packet.granted_priority <= kMaxPriority ? DecodeStatus::kOk : DecodeStatus::kWrongPriority;
}

DecodeStatus decode_rest(ByteReader& in, Packet& packet) noexcept {
  switch (packet.opcode) {
    case Opcode::kAllData:
      return decode_all_data(in, packet);
    case Opcode::kData:
      return decode_data(in, packet);
    case Opcode::kResend:
      return decode_resend(in, packet);
    case Opcode::kAck:
      packet.oldest = in.number<std::uint64_t>();
      return in.truncated() ? DecodeStatus::kTooShort : DecodeStatus::kOk;
    case Opcode::kGrant:
      return decode_grant(in, packet);
    case Opcode::kBusy:
    case Opcode::kAbort:
    case Opcode::kNeedAck:
      return DecodeStatus::kOk;
  }
  return DecodeStatus::kUnknownOpcode;
}

}  // namespace

DecodeStatus decode(std::span<const std::uint8_t> datagram, Packet& packet) noexcept {
  packet = {};
  ByteReader in(datagram);
  const auto opcode = in.number<std::uint8_t>();
  packet.id.client = in.number<std::uint64_t>();
  packet.id.sequence = in.number<std::uint64_t>();
  packet.flags = in.number<std::uint8_t>();
  if (in.truncated()) return DecodeStatus::kTooShort;
  if (!is_known(opcode)) return DecodeStatus::kUnknownOpcode;
  if ((packet.flags & ~kAllFlags) != 0) return DecodeStatus::kUnknownFlag;
  packet.opcode = static_cast<Opcode>(opcode);
  const DecodeStatus status = decode_rest(in, packet);
  if (status == DecodeStatus::kOk && in.left() != 0) return DecodeStatus::kWrongLength;
  return status;
}

std::size_t packet_bytes(const Packet& packet) noexcept {
  return header_bytes(packet) + (packet.is_data() ? packet.length : 0);
}

std::size_t encode_header(const Packet& packet, std::span<std::uint8_t> out) noexcept {
  const std::size_t bytes = header_bytes(packet);
  if (out.size() < bytes) return 0;
  PlacedByteWriter to(out.data());
  to.number(static_cast<std::uint8_t>(packet.opcode));
  to.number(packet.id.client);
  to.number(packet.id.sequence);
  to.number(packet.flags);
  switch (packet.opcode) {
    case Opcode::kAllData:
      to.number(static_cast<std::uint16_t>(packet.length));
      break;
    case Opcode::kData:
      to.number(packet.total);
      to.number(packet.offset);
      to.number(packet.unscheduled);
      break;
    case Opcode::kGrant:
      to.number(packet.offset);
      to.number(packet.granted_priority);
      break;
    case Opcode::kResend:
      to.number(packet.offset);
      to.number(packet.length);
      to.number(packet.granted_priority);
      break;
    case Opcode::kAck:
      to.number(packet.oldest);
      break;
    case Opcode::kBusy:
    case Opcode::kAbort:
    case Opcode::kNeedAck:
      break;
  }
  return bytes;
}

}  // namespace turntable::homa
