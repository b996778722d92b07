// The frame of these tests was made by other code: Python's struct and a checksum by hand.
#include "net/udp_frame.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace turntable::net {
namespace {

using Bytes = std::vector<std::uint8_t>;

const std::string kPayload = "turntable";
constexpr std::size_t kIpChecksum = 24;
constexpr std::size_t kUdpLength = 38;
constexpr std::size_t kUdpChecksum = 40;

// 198.18.0.1:5000 to 198.18.0.2:1152, class of service 46, "turntable".
Bytes frame() {
  return {0x02, 0,    0,    0,    0,    0x0b, 0x02, 0,    0,    0,    0,    0x0a, 0x08,
          0,    0x45, 0xb8, 0,    0x25, 0,    0,    0x40, 0,    0x40, 0x11, 0xad, 0xe8,
          0xc6, 0x12, 0,    0x01, 0xc6, 0x12, 0,    0x02, 0x13, 0x88, 0x04, 0x80, 0,
          0x11, 0x38, 0xea, 't',  'u',  'r',  'n',  't',  'a',  'b',  'l',  'e'};
}

sockaddr_in address(const char* text, std::uint16_t port) {
  sockaddr_in parsed{};
  parsed.sin_family = AF_INET;
  parsed.sin_port = htons(port);
  ::inet_pton(AF_INET, text, &parsed.sin_addr);
  return parsed;
}

std::string payload_of(const Bytes& bytes) {
  const auto parsed = parse_udp_frame(bytes);
  return parsed ? std::string(parsed->payload.begin(), parsed->payload.end()) : "no datagram";
}

Bytes with(std::size_t at, std::uint16_t word) {
  Bytes bytes = frame();
  bytes[at] = static_cast<std::uint8_t>(word >> 8);
  bytes[at + 1] = static_cast<std::uint8_t>(word);
  return bytes;
}

TEST(UdpFrame, IsWrittenAsOthersWriteIt) {
  Bytes bytes(kUdpFrameHeaders + kPayload.size(), 0xaa);
  std::copy(kPayload.begin(), kPayload.end(), bytes.begin() + kUdpFrameHeaders);
  write_udp_headers(bytes,
                    {.link_from = {2, 0, 0, 0, 0, 0x0a},
                     .link_to = {2, 0, 0, 0, 0, 0x0b},
                     .from = address("198.18.0.1", 5000),
                     .to = address("198.18.0.2", 1152)},
                    46);
  EXPECT_EQ(bytes, frame());
}

TEST(UdpFrame, SaysWhoSentWhat) {
  const Bytes bytes = frame();
  const auto parsed = parse_udp_frame(bytes);
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->from.sin_addr.s_addr, address("198.18.0.1", 0).sin_addr.s_addr);
  EXPECT_EQ(parsed->from.sin_port, htons(5000));
  EXPECT_EQ(payload_of(bytes), kPayload);
  Bytes padded = frame();
  padded.resize(60);  // as the shortest Ethernet frame is
  EXPECT_EQ(payload_of(padded), kPayload);
}

TEST(UdpFrame, AnyBitThatIsWrongIsNoticed) {
  for (std::size_t bit = sizeof(ethhdr) * 8; bit < frame().size() * 8; ++bit) {
    Bytes bytes = frame();
    bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
    EXPECT_EQ(payload_of(bytes), "no datagram") << "bit " << bit;
  }
}

TEST(UdpFrame, AChecksumMayBeMissingOrLeftToTheLink) {
  EXPECT_EQ(payload_of(with(kUdpChecksum, 0)), kPayload);
  EXPECT_EQ(payload_of(with(kUdpChecksum, 0x8c4a)), kPayload);  // of the pseudo header alone
}

TEST(UdpFrame, LengthsThatCannotBeAreNoDatagram) {
  for (std::size_t bytes = 0; bytes < frame().size(); ++bytes) {
    Bytes cut = frame();
    cut.resize(bytes);
    EXPECT_EQ(payload_of(cut), "no datagram") << bytes;
  }
  for (const int length : {0, 7, 18, 0xffff}) {
    Bytes wrong = with(kUdpLength, static_cast<std::uint16_t>(length));
    wrong[kUdpChecksum] = wrong[kUdpChecksum + 1] = 0;  // so that only the length is wrong
    EXPECT_EQ(payload_of(wrong), "no datagram") << length;
  }
  EXPECT_EQ(payload_of(with(kIpChecksum, 0)), "no datagram");
}

}  // namespace
}  // namespace turntable::net
