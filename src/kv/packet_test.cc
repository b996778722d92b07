#include "kv/packet.h"

#include <gtest/gtest.h>

#include <vector>

namespace turntable::kv {
namespace {

using Bytes = std::vector<std::uint8_t>;

// The hottest key of the zipfian workloads (FarReach reference §5.2).
constexpr PacketKey kKey = {0, 0, 0, 0, 0, 0, 0, 0, 0x6d, 0x14, 0x35, 0x2c, 0x08, 0x17, 0x23, 0xae};

Bytes operator+(Bytes left, const Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

Bytes op_and_request(std::uint16_t type) {
  Bytes bytes = {static_cast<std::uint8_t>(type >> 8), static_cast<std::uint8_t>(type)};
  bytes.insert(bytes.end(), kKey.begin(), kKey.end());
  return bytes + Bytes{0x01, 0x02, 0x03, 0x04};
}

Bytes encoded(const Packet& packet) {
  Bytes out(kMaxPacketBytes);
  out.resize(encode(packet, out));
  return out;
}

const Bytes kThreeBytes = {0xaa, 0xbb, 0xcc};

struct Example {
  const char* name;
  Packet packet;
  Bytes wire;  // written by hand from docs/architecture.md §3
};

std::vector<Example> examples() {
  const auto packet = [](PacketType type, std::span<const std::uint8_t> value = {}) {
    return Packet{.type = type, .key = kKey, .request_id = 0x01020304, .value = value};
  };
  std::vector<Example> all = {
      {"GETREQ", packet(PacketType::kGetRequest), op_and_request(0x0030)},
      {"DELREQ", packet(PacketType::kDeleteRequest), op_and_request(0x0040)},
      {"PUTREQ", packet(PacketType::kPutRequest, kThreeBytes),
       op_and_request(0x0001) + Bytes{0, 3, 0xaa, 0xbb, 0xcc, 0, 0, 0, 0, 0, 0x00, 0x01}},
      {"GETRES", packet(PacketType::kGetResponse, kThreeBytes),
       op_and_request(0x0009) +
           Bytes{0, 3, 0xaa, 0xbb, 0xcc, 0, 0, 0, 0, 0, 0x00, 0x09, 1, 0x00, 0x0e, 0}},
      {"GETRES of an absent key", packet(PacketType::kGetResponse),
       op_and_request(0x0009) + Bytes{0, 0, 0x00, 0x09, 0, 0x00, 0x0e, 0}},
      {"PUTRES from the switch", packet(PacketType::kPutResponse),
       op_and_request(0x0008) + Bytes{0x00, 0x08, 1, 0xff, 0xff, 0}},
      {"PUTREQ_SEQ", packet(PacketType{0x0003}, kThreeBytes),
       op_and_request(0x0003) +
           Bytes{0, 3, 0xaa, 0xbb, 0xcc, 0, 0, 0, 0, 0, 0x00, 0x03, 0, 0, 0, 9, 0, 0, 0, 7}},
  };
  all[3].packet.stat = kStatSuccess;
  all[3].packet.node = all[4].packet.node = 14;
  all[5].packet.stat = kStatSuccess;
  all[5].packet.node = kSwitchNode;
  all[6].packet.sequence = 9;
  all[6].packet.snapshot_token = 7;
  return all;
}

TEST(PacketTest, EncodesAsWrittenInTheFormat) {
  for (const Example& e : examples()) EXPECT_EQ(encoded(e.packet), e.wire) << e.name;
}

TEST(PacketTest, DecodesWhatTheFormatSays) {
  for (const Example& e : examples()) {
    Packet packet;
    ASSERT_EQ(decode(e.wire, packet), DecodeStatus::kOk) << e.name;
    EXPECT_EQ(packet.type, e.packet.type) << e.name;
    EXPECT_EQ(packet.key, e.packet.key) << e.name;
    EXPECT_EQ(packet.request_id, e.packet.request_id) << e.name;
    EXPECT_TRUE(std::equal(packet.value.begin(), packet.value.end(), e.packet.value.begin(),
                           e.packet.value.end()))
        << e.name;
    EXPECT_EQ(packet.sequence, e.packet.sequence) << e.name;
    EXPECT_EQ(packet.snapshot_token, e.packet.snapshot_token) << e.name;
    EXPECT_EQ(packet.stat, e.packet.stat) << e.name;
    EXPECT_EQ(packet.node, e.packet.node) << e.name;
  }
}

TEST(PacketTest, EveryTruncationIsNoticed) {
  for (const Example& e : examples()) {
    for (std::size_t length = 0; length < e.wire.size(); ++length) {
      // A copy of exactly this size, so that the address sanitizer sees a read beyond it.
      const Bytes cut(e.wire.begin(), e.wire.begin() + static_cast<std::ptrdiff_t>(length));
      Packet packet;
      EXPECT_EQ(decode(cut, packet), DecodeStatus::kTruncated) << e.name << " cut at " << length;
    }
  }
}

TEST(PacketTest, TrailingBytesAreNoticed) {
  for (const Example& e : examples()) {
    Packet packet;
    EXPECT_EQ(decode(e.wire + Bytes{0}, packet), DecodeStatus::kTrailingBytes) << e.name;
  }
}

TEST(PacketTest, EveryValueLengthSurvivesARoundTrip) {
  Bytes value;
  for (std::size_t length = 0; length <= kMaxValueBytes; ++length) {
    const Packet sent{.type = PacketType::kGetResponse, .key = kKey, .value = value};
    const Bytes wire = encoded(sent);
    EXPECT_EQ(wire.size(), 22 + 2 + (length + 7) / 8 * 8 + 2 + 4);
    Packet received;
    ASSERT_EQ(decode(wire, received), DecodeStatus::kOk);
    EXPECT_TRUE(
        std::equal(received.value.begin(), received.value.end(), value.begin(), value.end()));
    value.push_back(static_cast<std::uint8_t>(length + 1));
  }
}

TEST(PacketTest, BadFieldsAreToldApart) {
  Packet packet;
  Bytes wire = op_and_request(0x0001) + Bytes{0, 129} + Bytes(136) + Bytes{0, 1};
  EXPECT_EQ(decode(wire, packet), DecodeStatus::kValueTooLong);
  wire = op_and_request(0x0001) + Bytes{0, 1, 0xaa, 0, 0, 0, 0, 0, 0, 1, 0, 1};
  EXPECT_EQ(decode(wire, packet), DecodeStatus::kBadPadding);
  wire = op_and_request(0x0008) + Bytes{0, 9, 1, 0, 0, 0};
  EXPECT_EQ(decode(wire, packet), DecodeStatus::kBadShadow);
  EXPECT_EQ(decode(op_and_request(0x0004) + Bytes(22), packet), DecodeStatus::kInSwitchType);
}

TEST(PacketTest, EncodeRefusesWhatDoesNotFit) {
  const Bytes value(kMaxValueBytes + 1);
  Bytes out(1024);
  EXPECT_EQ(encode({.type = PacketType::kPutRequest, .value = value}, out), 0u);
  EXPECT_EQ(encode({.type = PacketType{0x0004}}, out), 0u);
  out.resize(encoded_size(PacketType::kGetRequest, 0) - 1);
  EXPECT_EQ(encode({.type = PacketType::kGetRequest}, out), 0u);
}

}  // namespace
}  // namespace turntable::kv
