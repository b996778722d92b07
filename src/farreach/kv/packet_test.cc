#include "farreach/kv/packet.h"

#include <gtest/gtest.h>

#include <vector>

#include "workload/random.h"

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
  Bytes out(kMaxFragmentPacketBytes);
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
      {"DELREQ_SEQ", packet(PacketType::kDeleteRequestSeq),
       op_and_request(0x0002) + Bytes{0x00, 0x02, 0x12, 0x34, 0x56, 0x78, 0, 0, 0, 0}},
      {"GETRES_SEQ from the switch", packet(PacketType::kGetResponseSeq, kThreeBytes),
       op_and_request(0x006b) + Bytes{0, 3, 0xaa, 0xbb, 0xcc, 0, 0, 0, 0, 0, 0x00, 0x6b} +
           Bytes{0, 0, 1, 0, 0, 0, 0, 0, 1, 0xff, 0xff, 0}},
      {"PUTRES_SEQ", packet(PacketType::kPutResponseSeq),
       op_and_request(0x000a) + Bytes{0x00, 0x0a, 0, 0, 0, 5, 0, 0, 0, 0, 1, 0x00, 0x0e, 0}},
      {"GETREQ_BEINGEVICTED_RECORD of a tombstone",
       packet(PacketType::kBeingEvictedRecordGetRequest),
       op_and_request(0x007b) + Bytes{0, 0, 0x00, 0x7b, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0}},
      {"GETREQ_NLATEST", packet(PacketType::kFillGetRequest),
       op_and_request(0x00a2) + Bytes{0x00, 0xa2, 0, 0, 0, 0, 0x80, 0, 0, 5}},
      {"NETCACHE_VALUEUPDATE", packet(PacketType::kValueUpdate, kThreeBytes),
       op_and_request(0x003b) + Bytes{0, 3, 0xaa, 0xbb, 0xcc, 0, 0, 0, 0, 0, 0x00, 0x3b} +
           Bytes{0, 0, 0, 8, 0, 0, 0, 0, 1, 0x00, 0x0e, 0}},
      {"its acknowledgement", packet(PacketType::kValueUpdateAck), op_and_request(0x0190)},
  };
  all[7].packet.sequence = 0x12345678;
  all[8].packet.sequence = 0x100;
  all[8].packet.stat = kStatSuccess;
  all[8].packet.node = kSwitchNode;
  all[9].packet.sequence = 5;
  all[9].packet.stat = kStatSuccess;
  all[9].packet.node = 14;
  all[10].packet.sequence = 6;
  all[11].packet.snapshot_token = 0x80000005;
  all[12].packet.sequence = 8;
  all[12].packet.stat = kStatSuccess;
  all[12].packet.node = 14;
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

struct LargeExample {
  PacketType type;
  Bytes before_fraginfo;  // written by hand from docs/kvcache.md §3
};

// Of sequence number 9, token 7, stat 1 and node 14, as far as the type has them.
std::vector<LargeExample> large_examples() {
  const Bytes seq = {0, 0, 0, 9, 0, 0, 0, 7}, stat = {1, 0x00, 0x0e, 0};
  return {{PacketType::kLargePutRequest, op_and_request(0x02d0)},
          {PacketType::kLargePutRequestSeq, op_and_request(0x0032) + Bytes{0x00, 0x32} + seq},
          {PacketType::kLargePutRequestSeqCase3, op_and_request(0x0052) + Bytes{0x00, 0x52} + seq},
          {PacketType::kLargeGetResponse, op_and_request(0x0300) + stat},
          {PacketType::kLargeGetResponseSeq, op_and_request(0x0350) + seq + stat}};
}

Packet large_packet(PacketType type, std::span<const std::uint8_t> value) {
  return {.type = type,
          .key = kKey,
          .request_id = 0x01020304,
          .value = value,
          .sequence = 9,
          .snapshot_token = 7,
          .stat = kStatSuccess,
          .node = 14,
          .fragment = {.client = 0x1122, .transmission = 0x33445566}};
}

TEST(PacketTest, FragmentsAreEncodedAsWrittenInTheFormat) {
  Bytes value(1413, 0xaa);  // one byte more than fits the first fragment
  value.back() = 0xbb;
  for (const auto& [type, before] : large_examples()) {
    const Packet whole = large_packet(type, value);
    const Bytes client_and_transmission = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66};
    const Bytes first =
        before + client_and_transmission + Bytes{0, 0, 0, 2, 0, 0, 0x05, 0x85} + Bytes(1412, 0xaa);
    const Bytes second = before + client_and_transmission + Bytes{0, 1, 0, 2, 0xbb};
    EXPECT_EQ(encoded(fragment_of(whole, 0)), first);
    EXPECT_EQ(encoded(fragment_of(whole, 1)), second);
    EXPECT_LE(first.size() + 20 + 8, 1500u);  // in an IPv4 packet

    Packet packet;
    ASSERT_EQ(decode(first, packet), DecodeStatus::kOk);
    EXPECT_EQ(packet.type, type);
    EXPECT_EQ(packet.fragment.client, 0x1122);
    EXPECT_EQ(packet.fragment.transmission, 0x33445566u);
    EXPECT_EQ(packet.fragment.count, 2);
    EXPECT_EQ(packet.fragment.value_length, 1413u);
    EXPECT_EQ(packet.value.size(), 1412u);
    EXPECT_EQ(packet.sequence, has_sequence(type) ? 9u : 0u);
    EXPECT_EQ(packet.stat, has_stat(type) ? kStatSuccess : 0);
    ASSERT_EQ(decode(second, packet), DecodeStatus::kOk);
    EXPECT_EQ(packet.fragment.index, 1);
    ASSERT_EQ(packet.value.size(), 1u);
    EXPECT_EQ(packet.value[0], 0xbb);
    for (std::size_t length = 0; length < first.size(); ++length) {
      const Bytes cut(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(length));
      EXPECT_NE(decode(cut, packet), DecodeStatus::kOk) << length;
    }
  }
}

TEST(PacketTest, ImpossibleFragmentsAreRefused) {
  const auto status = [](Bytes fraginfo, std::size_t bytes) {
    Packet packet;
    return decode(op_and_request(0x02d0) + Bytes(6) + fraginfo + Bytes(bytes), packet);
  };
  const auto bad = DecodeStatus::kBadFragment;
  EXPECT_EQ(status({0, 0, 0, 1, 0, 0, 0, 200}, 200), DecodeStatus::kOk);
  EXPECT_EQ(status({0, 0, 0, 1, 0, 0, 0, 200}, 199), bad);   // not as long as it says
  EXPECT_EQ(status({0, 0, 0, 1, 0, 0, 0, 128}, 128), bad);   // no large value
  EXPECT_EQ(status({0, 0, 0, 2, 0, 0, 0, 200}, 1412), bad);  // more fragments than it needs
  EXPECT_EQ(status({0, 0, 0, 3, 0, 0, 5, 0x85}, 1412), bad);
  EXPECT_EQ(status({0, 0, 0, 2, 0, 0, 5, 0x85}, 1412), DecodeStatus::kOk);  // 1,413 bytes
  EXPECT_EQ(status({0, 0, 0, 0, 0, 0, 0, 200}, 200), bad);
  EXPECT_EQ(status({0, 1, 0, 1}, 200), bad);  // behind the last
  EXPECT_EQ(status({0, 1, 0, 3}, 200), bad);  // not full, though not the last
  EXPECT_EQ(status({0, 1, 0, 2}, 0), bad);
  EXPECT_EQ(status({0, 1, 0, 2}, 1412), DecodeStatus::kOk);
  EXPECT_EQ(status({0, 1, 0, 2}, 1413), bad);
  EXPECT_EQ(status({0, 46, 0, 47}, 584), DecodeStatus::kOk);  // 46 x 1,412 + 584 = 65,536
  EXPECT_EQ(status({0, 46, 0, 48}, 1412), bad);
  EXPECT_EQ(status({0, 0, 0, 47, 0, 1, 0, 1}, 1412), bad);  // 65,537 bytes
  EXPECT_EQ(status({0, 0, 0, 47, 0, 1, 0, 0}, 1412), DecodeStatus::kOk);
}

// Datagrams out of thin air and damaged ones: whatever is accepted says the same when it is written
// again. Under the address
// sanitizer this is also a test of every bound.
TEST(PacketTest, WhateverIsAcceptedIsWhatItSays) {
  workload::Random random(5);
  const Bytes value(3000, 0x5a);
  std::vector<Bytes> seeds;
  for (const Example& e : examples()) seeds.push_back(e.wire);
  for (const auto& [type, before] : large_examples()) {
    for (std::size_t i = 0; i < 3; ++i)
      seeds.push_back(encoded(fragment_of(large_packet(type, value), i)));
  }
  std::size_t accepted = 0;
  for (int i = 0; i < 200'000; ++i) {
    Bytes wire = seeds[random.next() % seeds.size()];
    for (auto damages = random.next() % 3; damages > 0; --damages) {
      const std::size_t headers = std::min<std::size_t>(wire.size(), 48);
      wire[random.next() % headers] = static_cast<std::uint8_t>(random.next());
    }
    if (random.next() % 4 == 0) wire.resize(random.next() % (wire.size() + 8));
    const Bytes exact(wire);  // no capacity beyond its size
    Packet packet;
    if (decode(exact, packet) != DecodeStatus::kOk) continue;
    ++accepted;
    Bytes again = encoded(packet);
    // The pad of `stat` is not looked at.
    if (has_stat(packet.type)) {
      const std::size_t after = is_large(packet.type) ? exact.size() - packet.value.size() - 10 -
                                                            (packet.fragment.index == 0 ? 4 : 0)
                                                      : exact.size();
      again[after - 1] = exact[after - 1];
    }
    ASSERT_EQ(again, exact);
  }
  EXPECT_GT(accepted, 20'000u);
}

TEST(PacketTest, EncodeRefusesWhatDoesNotFit) {
  const Bytes value(kMaxValueBytes + 1);
  Bytes out(1024);
  EXPECT_EQ(encode({.type = PacketType::kPutRequest, .value = value}, out), 0u);
  EXPECT_EQ(encode({.type = PacketType{0x0004}}, out), 0u);
  const Bytes fragment(kFragmentBytes + 1);
  EXPECT_EQ(encode({.type = PacketType::kLargePutRequest, .value = fragment}, out), 0u);
  out.resize(encoded_size(PacketType::kGetRequest, 0) - 1);
  EXPECT_EQ(encode({.type = PacketType::kGetRequest}, out), 0u);
}

}  // namespace
}  // namespace turntable::kv
