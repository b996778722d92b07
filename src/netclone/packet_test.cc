#include "netclone/packet.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace turntable::netclone {
namespace {

using Bytes = std::array<std::uint8_t, kPacketBytes>;

constexpr Packet kPacket = {.op = Op::kResponse,
                            .seq = 0x01020304,
                            .group = 12,
                            .server = 3,
                            .queue = 0x00010005,
                            .clone = Clone::kClone,
                            .table = 1,
                            .request = request_id(0x0a0b, 0x112233445566),
                            .sent_at_ns = 0x1718191a1b1c1d1e,
                            .client = 0x0a0b,
                            .operation = Operation::kScan,
                            .flags = kArrivedAtAllBusy,
                            .object = 0x000f423f};

// Written by hand from the reference §2 and docs/netclone.md §2.
constexpr Bytes kWire = {0,    0,    0,    1,                             // op
                         1,    2,    3,    4,                             // seq
                         0,    0,    0,    12,                            // grp
                         0,    0,    0,    3,                             // sid
                         0,    1,    0,    5,                             // load
                         0,    0,    0,    2,                             // clo
                         0,    0,    0,    1,                             // tidx
                         0x0a, 0x0b, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66,  // request
                         0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e,  // sent_at_ns
                         0x0a, 0x0b,                                      // client
                         2,                                               // operation
                         1,                                               // flags
                         0x00, 0x0f, 0x42, 0x3f};                         // object

DecodeStatus decoded_with(std::size_t at, std::uint8_t byte) {
  Bytes bytes = kWire;
  bytes.at(at) = byte;
  Packet packet;
  return decode(bytes, packet);
}

TEST(Packet, IsEncodedAsDocumented) {
  Bytes bytes{};
  EXPECT_EQ(encode(kPacket, bytes), kPacketBytes);
  EXPECT_EQ(bytes, kWire);
}

TEST(Packet, IsDecodedAsDocumented) {
  Packet packet;
  ASSERT_EQ(decode(kWire, packet), DecodeStatus::kOk);
  EXPECT_EQ(packet.op, kPacket.op);
  EXPECT_EQ(packet.seq, kPacket.seq);
  EXPECT_EQ(packet.group, kPacket.group);
  EXPECT_EQ(packet.server, kPacket.server);
  EXPECT_EQ(packet.queue, kPacket.queue);
  EXPECT_EQ(packet.clone, kPacket.clone);
  EXPECT_EQ(packet.table, kPacket.table);
  EXPECT_EQ(packet.request, kPacket.request);
  EXPECT_EQ(packet.sent_at_ns, kPacket.sent_at_ns);
  EXPECT_EQ(packet.client, kPacket.client);
  EXPECT_EQ(packet.operation, kPacket.operation);
  EXPECT_EQ(packet.flags, kPacket.flags);
  EXPECT_EQ(packet.object, kPacket.object);
}

TEST(Packet, OfAnyOtherLengthIsRefused) {
  std::vector<std::uint8_t> bytes(kWire.begin(), kWire.end());
  bytes.push_back(0);
  Packet packet;
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    const auto expected = length == 52 ? DecodeStatus::kOk : DecodeStatus::kWrongLength;
    EXPECT_EQ(decode(std::span(bytes).first(length), packet), expected) << length;
  }
}

TEST(Packet, WithAFieldOutOfRangeIsRefused) {
  EXPECT_EQ(decoded_with(3, 2), DecodeStatus::kUnknownOp);
  EXPECT_EQ(decoded_with(0, 1), DecodeStatus::kUnknownOp);
  EXPECT_EQ(decoded_with(23, 3), DecodeStatus::kUnknownClone);
  EXPECT_EQ(decoded_with(27, 2), DecodeStatus::kUnknownTable);
  EXPECT_EQ(decoded_with(46, 4), DecodeStatus::kUnknownOperation);
  EXPECT_EQ(decoded_with(45, 0x0c), DecodeStatus::kWrongClient);
  EXPECT_EQ(decoded_with(46, 3), DecodeStatus::kOk);
}

TEST(Packet, IsNotWrittenWhereItDoesNotFit) {
  Bytes bytes{};
  EXPECT_EQ(encode(kPacket, std::span(bytes).first(51)), 0U);
  EXPECT_EQ(bytes, Bytes{});
}

TEST(Packet, SaysWhichCopyItIs) {
  EXPECT_EQ(Packet{.clone = Clone::kNone}.copy(), 0U);
  EXPECT_EQ(Packet{.clone = Clone::kOriginal}.copy(), 0U);
  EXPECT_EQ(Packet{.clone = Clone::kClone}.copy(), 1U);
}

TEST(RequestId, HasClientAndNumber) {
  EXPECT_EQ(client_of(request_id(7, 99'999)), 7);
  EXPECT_EQ(number_of(request_id(7, 99'999)), 99'999U);
}

}  // namespace
}  // namespace turntable::netclone
