// Between the switch and a program: the intrinsic metadata that TNA puts in front of every frame
// for the parser, and the frame a deparser leaves behind.
#pragma once

#include <cstdint>
#include <cstring>

#include "dataplane/packet_reader.h"
#include "dataplane/program.h"
#include "dataplane/wire.h"

namespace turntable::dataplane {

// Bytes before the frame, as on Tofino 1: ingress_intrinsic_metadata_t and the port metadata, in
// whose place a second pass finds the resubmit data; egress_intrinsic_metadata_t.
inline constexpr std::uint32_t kIngressPrefix = 8 + 8;
inline constexpr std::uint32_t kEgressPrefix = 27;
static_assert(kIngressPrefix <= kHeadroom && kEgressPrefix <= kHeadroom);

// What digest_type, mirror_type and resubmit_type hold in a deparser that asks for type 0, if the
// control has not assigned them: no number of three bits. On the ASIC a field that is not assigned
// asks for nothing.
inline constexpr std::uint8_t kNoType = 8;

// What ucast_egress_port holds until the program assigns it; port 511 does not exist on Tofino 1.
inline constexpr std::uint16_t kNoEgressPort = 0x1FF;

inline constexpr std::uint8_t kDropAll = 0x7;

// Both write the prefix into the headroom and return its first byte.
inline const std::uint8_t* write_ingress_prefix(const Packet& packet) noexcept {
  std::uint8_t* prefix = packet.data - kIngressPrefix;
  std::memset(prefix, 0, kIngressPrefix);
  if (packet.resubmitted) {
    store_bits<0, 1>(prefix, 1);
    std::memcpy(prefix + 8, packet.resubmit_data.data(), kResubmitBytes);
  }
  store_bits<7, 9>(prefix, to_bit<9>(packet.ingress_port));
  store_bits<16, 48>(prefix, to_bit<48>(packet.ingress_mac_tstamp_ns));
  return prefix;
}

inline const std::uint8_t* write_egress_prefix(const Packet& packet) noexcept {
  std::uint8_t* prefix = packet.data - kEgressPrefix;
  std::memset(prefix, 0, kEgressPrefix);
  store_bits<7, 9>(prefix, to_bit<9>(packet.egress_port));
  store_bits<21, 19>(prefix, to_bit<19>(packet.enq_qdepth));
  store_bits<62, 18>(prefix, to_bit<18>(packet.enq_tstamp_ns));
  store_bits<85, 19>(prefix, to_bit<19>(packet.deq_qdepth));
  store_bits<134, 18>(prefix, to_bit<18>(packet.deq_timedelta_ns));
  store_bits<152, 16>(prefix, packet.egress_rid);
  store_bits<175, 1>(prefix, packet.egress_rid_first ? 1 : 0);
  store_bits<179, 5>(prefix, to_bit<5>(packet.qid));
  store_bits<200, 16>(prefix, to_bit<16>(packet.length + kFrameCheckBytes));
  return prefix;
}

// Puts the emitted headers directly before the payload. False, and the frame untouched, if there is
// no room for them: the caller drops the packet.
template <std::uint32_t Capacity>
bool rebuild_frame(Packet& packet, const PacketReader& reader,
                   const PacketWriter<Capacity>& headers) noexcept {
  const auto payload_offset = static_cast<std::int64_t>(reader.position() - packet.data);
  const std::int64_t start = payload_offset - headers.length();
  if (start < -static_cast<std::int64_t>(packet.headroom)) return false;
  packet.length = reader.remaining() + headers.length();
  packet.data += start;
  packet.headroom = static_cast<std::uint32_t>(packet.headroom + start);
  std::memcpy(packet.data, headers.data(), headers.length());
  return true;
}

}  // namespace turntable::dataplane
