// Bytes are written out by hand from the table of lengths in the transport's reference.
#include "homa/packet.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace turntable::homa {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes encoded(const Packet& packet) {
  Bytes bytes(kMaxHeaderBytes);
  bytes.resize(encode_header(packet, bytes));
  bytes.insert(bytes.end(), packet.payload.begin(), packet.payload.end());
  return bytes;
}

Bytes with(Bytes bytes, const Bytes& more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
  return bytes;
}

// The common part of call 0x0102030405060708/0x1112131415161718.
Bytes common(std::uint8_t opcode, std::uint8_t flags) {
  return {opcode, 1, 2, 3, 4, 5, 6, 7, 8, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, flags};
}

constexpr RpcId kId{0x0102030405060708, 0x1112131415161718};

TEST(HomaPacket, layout) {
  const Bytes content{0xaa, 0xbb, 0xcc};
  EXPECT_EQ(encoded({.opcode = Opcode::kAllData,
                     .id = kId,
                     .flags = kFromClient,
                     .total = 3,
                     .length = 3,
                     .payload = content}),
            with(common(20, 1), {0, 3, 0xaa, 0xbb, 0xcc}));
  EXPECT_EQ(encoded({.opcode = Opcode::kData,
                     .id = kId,
                     .flags = kRetransmission,
                     .total = 0x01020304,
                     .offset = 0x05060708,
                     .length = 3,
                     .unscheduled = 10290,
                     .payload = content}),
            with(common(21, 2), {1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0x28, 0x32, 0xaa, 0xbb, 0xcc}));
  EXPECT_EQ(encoded({.opcode = Opcode::kGrant, .id = kId, .offset = 11760, .granted_priority = 6}),
            with(common(22, 0), {0, 0, 0x2d, 0xf0, 6}));
  EXPECT_EQ(encoded({.opcode = Opcode::kResend,
                     .id = kId,
                     .flags = kRestart,
                     .offset = 1470,
                     .length = 2940,
                     .granted_priority = 7}),
            with(common(24, 4), {0, 0, 5, 0xbe, 0, 0, 0x0b, 0x7c, 7}));
  EXPECT_EQ(encoded({.opcode = Opcode::kBusy, .id = kId}), common(25, 0));
  EXPECT_EQ(encoded({.opcode = Opcode::kAbort, .id = kId, .flags = kFromClient}), common(26, 1));
  EXPECT_EQ(encoded({.opcode = Opcode::kAck, .id = kId, .flags = kFromClient, .oldest = 9}),
            with(common(27, 1), {0, 0, 0, 0, 0, 0, 0, 9}));
  EXPECT_EQ(encoded({.opcode = Opcode::kNeedAck, .id = kId}), common(28, 0));
}

TEST(HomaPacket, what_is_decoded_is_encoded_alike) {
  const std::vector<Bytes> datagrams = {
      with(common(20, 1), {0, 3, 0xaa, 0xbb, 0xcc}),
      with(common(21, 2), {0, 0, 9, 0, 0, 0, 5, 0xbe, 0, 0, 8, 0, 0xaa, 0xbb}),
      with(common(22, 0), {0, 0, 0x2d, 0xf0, 6}),
      with(common(24, 4), {0, 0, 5, 0xbe, 0, 0, 0x0b, 0x7c, 7}),
      common(25, 0),
      common(26, 1),
      with(common(27, 1), {0, 0, 0, 0, 0, 0, 0, 9}),
      common(28, 0)};
  for (const Bytes& datagram : datagrams) {
    Packet packet;
    ASSERT_EQ(decode(datagram, packet), DecodeStatus::kOk) << int{datagram[0]};
    EXPECT_EQ(packet.id, kId);
    EXPECT_EQ(packet_bytes(packet), datagram.size());
    EXPECT_EQ(encoded(packet), datagram);
  }
}

TEST(HomaPacket, malformed) {
  Packet packet;
  EXPECT_EQ(decode({}, packet), DecodeStatus::kTooShort);
  EXPECT_EQ(decode(common(23, 0), packet), DecodeStatus::kUnknownOpcode);  // a debugging aid
  EXPECT_EQ(decode(common(19, 0), packet), DecodeStatus::kUnknownOpcode);
  EXPECT_EQ(decode(common(29, 0), packet), DecodeStatus::kUnknownOpcode);
  EXPECT_EQ(decode(common(25, 8), packet), DecodeStatus::kUnknownFlag);
  EXPECT_EQ(decode(with(common(25, 0), {0}), packet), DecodeStatus::kWrongLength);
  EXPECT_EQ(decode(with(common(20, 0), {0, 0}), packet), DecodeStatus::kWrongLength);     // empty
  EXPECT_EQ(decode(with(common(20, 0), {0, 2, 1}), packet), DecodeStatus::kWrongLength);  // short
  const auto data = [](const Bytes& rest) { return with(common(21, 0), rest); };
  // Total, offset, unscheduled, and a byte of the message.
  EXPECT_EQ(decode(data({0, 0, 0, 9, 0, 0, 0, 8, 0, 0, 0, 0, 1}), packet), DecodeStatus::kOk);
  EXPECT_EQ(decode(data({0, 0, 0, 9, 0, 0, 0, 9, 0, 0, 0, 0, 1}), packet),
            DecodeStatus::kWrongRange);
  EXPECT_EQ(decode(data({0, 0, 0, 9, 0, 0, 0, 8, 0, 0, 0, 10, 1}), packet),
            DecodeStatus::kWrongRange);
  EXPECT_EQ(decode(data({0, 0, 0, 9, 0, 0, 0, 8, 0, 0, 0, 0}), packet), DecodeStatus::kWrongRange);
  EXPECT_EQ(decode(data({0, 0, 0, 9, 255, 255, 255, 255, 0, 0, 0, 0, 1}), packet),
            DecodeStatus::kWrongRange);
  EXPECT_EQ(decode(with(common(24, 0), {0, 0, 0, 0, 0, 0, 0, 0, 1}), packet),
            DecodeStatus::kWrongRange);  // nothing is asked for
  EXPECT_EQ(decode(with(common(24, 0), {255, 255, 255, 255, 0, 0, 0, 9, 1}), packet),
            DecodeStatus::kWrongRange);
  EXPECT_EQ(decode(with(common(24, 0), {0, 0, 0, 0, 0, 0, 0, 9, 7}), packet), DecodeStatus::kOk);
  EXPECT_EQ(decode(with(common(24, 0), {0, 0, 0, 0, 0, 0, 0, 9, 8}), packet),
            DecodeStatus::kWrongPriority);
  EXPECT_EQ(decode(with(common(22, 0), {0, 0, 0, 9, 8}), packet), DecodeStatus::kWrongPriority);
}

// Every shorter prefix of every kind, and noise: refused or decoded, never read beyond its end
// (sanitizers look).
TEST(HomaPacket, prefixes_and_noise) {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    Bytes datagram(random() % 60);
    for (auto& byte : datagram) byte = static_cast<std::uint8_t>(random());
    if (!datagram.empty()) datagram[0] = static_cast<std::uint8_t>(18 + random() % 12);
    if (datagram.size() > 17) datagram[17] &= 7;
    Packet packet;
    if (decode(datagram, packet) != DecodeStatus::kOk) continue;
    EXPECT_EQ(packet_bytes(packet), datagram.size());
  }
}

TEST(HomaPacket, too_small_a_buffer) {
  Bytes small(kGrantBytes - 1);
  EXPECT_EQ(encode_header({.opcode = Opcode::kGrant}, small), 0U);
}

}  // namespace
}  // namespace turntable::homa
