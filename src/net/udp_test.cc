// Batches of datagrams over loopback.
#include "net/udp.h"

#include <gtest/gtest.h>
#include <linux/sock_diag.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>

namespace turntable::net {
namespace {

using Details = ReceiveBatch::Details;

class UdpTest : public ::testing::Test {
 protected:
  UdpTest()
      : receiver_(open_udp(parse_ipv4("test", "127.0.0.1", 0), kBatch)),
        sender_(open_udp(parse_ipv4("test", "127.0.0.1", 0), kBatch)) {
    connect_udp(sender_.get(), address_of(receiver_));
  }

  static sockaddr_in address_of(const UniqueFd& socket) {
    sockaddr_in address{};
    socklen_t length = sizeof address;
    ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length);
    return address;
  }

  // Returns when the datagram has arrived: the kernel may pass it on later than ::send returns.
  void send(const std::string& text) { send(text, receiver_); }
  void send(const std::string& text, const UniqueFd& receiver) {
    const std::uint32_t before = bytes_waiting(receiver);
    ::send(sender_.get(), text.data(), text.size(), 0);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (bytes_waiting(receiver) == before) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "the datagram did not arrive";
      std::this_thread::yield();
    }
  }

  // As the kernel charges them, so more than were sent.
  static std::uint32_t bytes_waiting(const UniqueFd& receiver) {
    std::array<std::uint32_t, SK_MEMINFO_VARS> info{};
    socklen_t length = sizeof info;
    ::getsockopt(receiver.get(), SOL_SOCKET, SO_MEMINFO, info.data(), &length);
    return info[SK_MEMINFO_RMEM_ALLOC];
  }

  static std::string text(const ReceiveBatch::Datagram& datagram) {
    return {datagram.bytes.begin(), datagram.bytes.end()};
  }

  UniqueFd receiver_;
  UniqueFd sender_;
};

TEST_F(UdpTest, EveryDatagramHasItsSenderAndStamp) {
  send("one");
  send("two");
  ReceiveBatch batch;
  ASSERT_EQ(batch.receive(receiver_.get()), 2);
  EXPECT_EQ(text(batch.at(0)), "one");
  EXPECT_EQ(text(batch.at(1)), "two");
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(batch.at(i).from.sin_port, address_of(sender_).sin_port);
    EXPECT_TRUE(batch.at(i).has_stamp);
  }
  EXPECT_LE(batch.at(0).received_ns, batch.at(1).received_ns);
}

TEST_F(UdpTest, TheOldestStampOfEveryBatchCanBeHadAlone) {
  ReceiveBatch batch(Details::kOldestStamp);
  for (const std::string round : {"a", "b"}) {
    send(round + "1");
    send(round + "2");
    ASSERT_EQ(batch.receive(receiver_.get()), 2);
    EXPECT_EQ(text(batch.at(0)), round + "1");
    EXPECT_EQ(text(batch.at(1)), round + "2");
    EXPECT_TRUE(batch.at(0).has_stamp);
    EXPECT_FALSE(batch.at(1).has_stamp);
    EXPECT_FALSE(batch.at(0).truncated || batch.at(1).truncated);
  }
}

TEST_F(UdpTest, ALongerDatagramIsSeenAsSuch) {
  for (const Details details : {Details::kSenderAndStamp, Details::kOldestStamp}) {
    send(std::string(kDatagramBytes, 'x'));
    send(std::string(kDatagramBytes + 1, 'x'));
    ReceiveBatch batch(details);
    ASSERT_EQ(batch.receive(receiver_.get()), 2);
    EXPECT_FALSE(batch.at(0).truncated);
    EXPECT_TRUE(batch.at(1).truncated);
  }
}

TEST_F(UdpTest, ALargerBatchTakesLongerDatagrams) {
  send(std::string(kLargeDatagramBytes, 'x'));
  send(std::string(kLargeDatagramBytes + 1, 'x'));
  ReceiveBatch batch(Details::kSenderAndStamp, kLargeDatagramBytes);
  ASSERT_EQ(batch.receive(receiver_.get()), 2);
  EXPECT_EQ(text(batch.at(0)), std::string(kLargeDatagramBytes, 'x'));
  EXPECT_TRUE(batch.at(1).truncated);
}

TEST_F(UdpTest, SplitSocketsTakeDatagramsByTheirType) {
  const SplitSockets split = open_split_udp(parse_ipv4("test", "127.0.0.1", 0), kBatch, 0x0190);
  connect_udp(sender_.get(), net::address_of(split.all_else.get()));
  send("first", split.all_else);
  send({"\x01\x90 of the type", 14}, split.of_type);
  send({"\x90\x01 not", 6}, split.all_else);
  send("x", split.all_else);  // too short to have a type
  ReceiveBatch batch;
  ASSERT_EQ(batch.receive(split.all_else.get()), 3);
  EXPECT_EQ(text(batch.at(0)), "first");
  EXPECT_EQ(text(batch.at(2)), "x");
  ASSERT_EQ(batch.receive(split.of_type.get()), 1);
  EXPECT_EQ(text(batch.at(0)), std::string("\x01\x90 of the type", 14));
}

}  // namespace
}  // namespace turntable::net
