// Bits are in the order in which P4 puts a header on the wire; metadata as P4Runtime 1.4,
// "Packet I/O", has it.
#include "p4runtime_server/controller_headers.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {
namespace {

using namespace std::string_literals;

constexpr const char* kHeaders = R"(
  controller_packet_metadata {
    preamble { id: 1 name: "packet_in" }
    metadata { id: 1 name: "ingress_port" bitwidth: 9 }
    metadata { id: 2 name: "reason" bitwidth: 7 }
  }
  controller_packet_metadata {
    preamble { id: 2 name: "packet_out" }
    metadata { id: 1 name: "egress_port" bitwidth: 9 }
    metadata { id: 2 name: "queue" bitwidth: 5 }
    metadata { id: 3 name: "pad" bitwidth: 2 }
  })";

config::P4Info headers() {
  config::P4Info info;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kHeaders, &info));
  return info;
}

p4::v1::PacketOut packet_out(std::initializer_list<std::pair<std::uint32_t, std::string>> values) {
  p4::v1::PacketOut packet;
  packet.set_payload("payload");
  for (const auto& [id, value] : values) {
    auto& metadata = *packet.add_metadata();
    metadata.set_metadata_id(id);
    metadata.set_value(value);
  }
  return packet;
}

std::string refused_packet(const p4::v1::PacketOut& packet) {
  try {
    frame_of(headers(), packet);
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.code(), grpc::StatusCode::INVALID_ARGUMENT);
    return refusal.what();
  }
  return "";
}

// Port 257 is 1'00000001, queue 3 is 00011, the rest is 0: 10000000 10001100.
TEST(ControllerHeaders, FieldsAreInFrontOfTheFrame) {
  const auto packet = packet_out({{3, "\0"s}, {1, "\x01\x01"}, {2, "\x03"}});
  EXPECT_EQ(frame_of(headers(), packet), "\x80\x8cpayload"s);
}

// Port 3 is 0'00000011, reason 5 is 0000101: 00000001 10000101.
TEST(ControllerHeaders, AFrameIsTakenApart) {
  const auto packet = packet_of(headers(), "\x01\x85rest"s);
  EXPECT_EQ(packet.payload(), "rest");
  ASSERT_EQ(packet.metadata_size(), 2);
  EXPECT_EQ(packet.metadata(0).metadata_id(), 1U);
  EXPECT_EQ(packet.metadata(0).value(), "\x03");
  EXPECT_EQ(packet.metadata(1).value(), "\x05");
  EXPECT_THROW(packet_of(headers(), "\x01"), Refusal);
}

TEST(ControllerHeaders, EachFieldIsThereOnce) {
  EXPECT_NE(refused_packet(packet_out({{1, "\x01"}, {2, "\x03"}})).find("pad is missing"),
            std::string::npos);
  EXPECT_NE(
      refused_packet(packet_out({{1, "\x01"}, {1, "\x01"}, {2, "\x03"}, {3, "\0"s}})).find("twice"),
      std::string::npos);
  EXPECT_NE(
      refused_packet(packet_out({{1, "\x01"}, {2, "\x03"}, {3, "\0"s}, {4, "\0"s}})).find("id 4"),
      std::string::npos);
  EXPECT_NE(refused_packet(packet_out({{1, "\x01"}, {2, "\x20"}, {3, "\0"s}})), "") << "6 bits";
}

TEST(ControllerHeaders, WithoutHeadersAFrameIsThePayload) {
  EXPECT_EQ(frame_of({}, packet_out({})), "payload");
  EXPECT_EQ(packet_of({}, "frame").payload(), "frame");
  EXPECT_THROW(frame_of({}, packet_out({{1, "\x01"}})), Refusal);
}

}  // namespace
}  // namespace turntable::p4runtime_server
