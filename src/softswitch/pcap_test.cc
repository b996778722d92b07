// Captures, as bytes of the format's description (draft-ietf-opsawg-pcap).
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "common/scratch_directory.h"
#include "softswitch/captured_port.h"
#include "softswitch/testing.h"

namespace turntable::softswitch {
namespace {

// Magic with nanoseconds, version 2.4, two reserved words, 10,240 bytes at most, Ethernet.
const std::string kPcapBegin(
    "\x4d\x3c\xb2\xa1\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x28\x00\x00\x01\x00\x00"
    "\x00",
    24);

std::string content_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

TEST(PcapFileTest, FramesFollowEachOtherWithTheirTimes) {
  const ScratchDirectory directory;
  const auto path = std::filesystem::path(directory.path()) / "a.pcap";
  PcapFile file(path);
  const std::string first = "abc";
  const std::string second = "Z";
  file.add(std::span(reinterpret_cast<const std::uint8_t*>(first.data()), 3), 1'000'000'002);
  file.add(std::span(reinterpret_cast<const std::uint8_t*>(second.data()), 1), 0x1'0000'0000);
  file.flush();
  const std::string records(
      "\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00\x03\x00\x00\x00"
      "abc"
      // 4 s and 294,967,296 = 0x1194d800 ns
      "\x04\x00\x00\x00\x00\xd8\x94\x11\x01\x00\x00\x00\x01\x00\x00\x00Z",
      36);
  EXPECT_EQ(content_of(path), kPcapBegin + records);
}

TEST(PcapFileTest, DirectoryThatIsNotThereIsNamed) {
  try {
    const PcapFile file("/nowhere/veth0_in.pcap");
    FAIL() << "there is no such directory";
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find("/nowhere/veth0_in.pcap"), std::string::npos);
  }
}

TEST(PcapFileTest, FullDiskIsNoSilence) {
  EXPECT_THROW(PcapFile file("/dev/full"), std::system_error);
}

TEST(CapturedPortTest, InAndOutAreApartAndReadableAtOnce) {
  const ScratchDirectory directory;
  CapturedPort<testing::FakePort> port(directory.path(), std::uint16_t{7});
  FramePool pool(2);
  std::vector<Frame*> frames = {pool.acquire(), pool.acquire()};
  port.inject("first");
  port.inject("second");
  ASSERT_EQ(port.receive(frames), 2);
  const std::filesystem::path& path = directory.path();
  const std::string received = content_of(path / "fake7_in.pcap");
  ASSERT_EQ(received.size(), 24 + 16 + 5 + 16 + 6);
  EXPECT_EQ(received.substr(24 + 16, 5), "first");
  EXPECT_EQ(received.substr(24 + 16 + 5 + 16), "second");
  EXPECT_EQ(content_of(path / "fake7_out.pcap"), kPcapBegin);

  port.send(std::span(frames.data() + 1, 1));
  EXPECT_EQ(port.sent, std::vector<std::string>{"second"});
  EXPECT_EQ(content_of(path / "fake7_out.pcap").substr(24 + 16), "second");
  EXPECT_EQ(content_of(path / "fake7_in.pcap"), received);
}

}  // namespace
}  // namespace turntable::softswitch
