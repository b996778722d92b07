#include "netclone/packet.h"

#include "common/bytes.h"

namespace turntable::netclone {
namespace {

DecodeStatus check(const Packet& packet) noexcept {
  if (packet.op > Op::kResponse) return DecodeStatus::kUnknownOp;
  if (packet.clone > Clone::kClone) return DecodeStatus::kUnknownClone;
  if (packet.table > 1) return DecodeStatus::kUnknownTable;
  if (packet.operation > Operation::kProbe) return DecodeStatus::kUnknownOperation;
  if (packet.client != client_of(packet.request)) return DecodeStatus::kWrongClient;
  return DecodeStatus::kOk;
}

}  // namespace

DecodeStatus decode(std::span<const std::uint8_t> datagram, Packet& packet) noexcept {
  packet = {};
  if (datagram.size() != kPacketBytes) return DecodeStatus::kWrongLength;
  ByteReader in(datagram);
  packet.op = static_cast<Op>(in.number<std::uint32_t>());
  packet.seq = in.number<std::uint32_t>();
  packet.group = in.number<std::uint32_t>();
  packet.server = in.number<std::uint32_t>();
  packet.queue = in.number<std::uint32_t>();
  packet.clone = static_cast<Clone>(in.number<std::uint32_t>());
  packet.table = in.number<std::uint32_t>();
  packet.request = in.number<std::uint64_t>();
  packet.sent_at_ns = in.number<std::uint64_t>();
  packet.client = in.number<std::uint16_t>();
  packet.operation = static_cast<Operation>(in.number<std::uint8_t>());
  packet.flags = in.number<std::uint8_t>();
  packet.object = in.number<std::uint32_t>();
  return check(packet);
}

std::size_t encode(const Packet& packet, std::span<std::uint8_t> out) noexcept {
  if (out.size() < kPacketBytes) return 0;
  PlacedByteWriter to(out.data());
  to.number(static_cast<std::uint32_t>(packet.op));
  to.number(packet.seq);
  to.number(packet.group);
  to.number(packet.server);
  to.number(packet.queue);
  to.number(static_cast<std::uint32_t>(packet.clone));
  to.number(packet.table);
  to.number(packet.request);
  to.number(packet.sent_at_ns);
  to.number(packet.client);
  to.number(static_cast<std::uint8_t>(packet.operation));
  to.number(packet.flags);
  to.number(packet.object);
  return kPacketBytes;
}

}  // namespace turntable::netclone
