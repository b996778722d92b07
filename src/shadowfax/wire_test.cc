#include "shadowfax/wire.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "workload/random.h"

namespace turntable::shadowfax {
namespace {

// Kulkarni et al.'s sizes: batches of 32,768, 4,096 and 1,024 bytes have so many requests.
TEST(Wire, HasTheSizesOfThePaper) {
  EXPECT_EQ(32'768 / Request::kBytes, 1927U);  // without the header
  EXPECT_EQ((32'768 - RequestHeader::kBytes) / Request::kBytes, 1926U);
  EXPECT_EQ((4'096 - RequestHeader::kBytes) / Request::kBytes, 240U);
  EXPECT_EQ((1'024 - RequestHeader::kBytes) / Request::kBytes, 59U);
}

TEST(Wire, RequestsAreLittleEndianAndPacked) {
  std::array<std::byte, Request::kBytes> bytes;
  const std::byte* const end =
      write(bytes.data(), Request{Opcode::kAdd, 0x0102030405060708, 0x1112131415161718});
  EXPECT_EQ(end, bytes.data() + bytes.size());
  const auto at = [&](std::size_t i) { return std::to_integer<int>(bytes[i]); };
  EXPECT_EQ(at(0), 3);
  EXPECT_EQ(at(1), 8);
  EXPECT_EQ(at(8), 1);
  EXPECT_EQ(at(9), 0x18);
  EXPECT_EQ(at(16), 0x11);
  const Request read = read_request(bytes.data());
  EXPECT_EQ(read.opcode, Opcode::kAdd);
  EXPECT_EQ(read.key, 0x0102030405060708U);
  EXPECT_EQ(read.value, 0x1112131415161718U);
}

TEST(Wire, RepliesOfReadsHaveAValue) {
  std::array<std::byte, Reply::kReadBytes> bytes;
  EXPECT_EQ(write(bytes.data(), Reply{Opcode::kRead, ReplyStatus::kOk, 7, 9}) - bytes.data(), 18);
  EXPECT_EQ(read_reply(bytes.data()).value, 9U);
  EXPECT_EQ(write(bytes.data(), Reply{Opcode::kAdd, ReplyStatus::kPending, 7, 9}) - bytes.data(),
            10);
  EXPECT_EQ(read_reply(bytes.data()).number, 7U);
  EXPECT_EQ(read_reply(bytes.data()).value, 0U);
}

TEST(Wire, SizesOfASessionsValues) {
  EXPECT_EQ(Sizes().request(), 17U);
  EXPECT_EQ(Sizes().reply(Opcode::kRead), 18U);
  const Sizes sizes(256);
  EXPECT_EQ(sizes.request(), 1U + 8 + 256);
  EXPECT_EQ(sizes.reply(Opcode::kRead), 1U + 1 + 8 + 4 + 256);
  EXPECT_EQ(sizes.reply(Opcode::kUpsert), 10U);
  // Kulkarni et al.'s values of 256 bytes: so many in a batch of 32,768.
  EXPECT_EQ((32'768 - RequestHeader::kBytes) / sizes.request(), 123U);
}

TEST(Wire, ALongerValueComesWithItsLength) {
  const Sizes sizes(20);
  std::array<std::byte, 34> bytes;
  std::array<std::byte, 10> value;
  value.fill(std::byte{7});
  const Reply read{.opcode = Opcode::kRead,
                   .status = ReplyStatus::kOk,
                   .number = 5,
                   .value = 0,
                   .length = 10,
                   .bytes = value};
  EXPECT_EQ(write_sized(bytes.data(), read, sizes) - bytes.data(), 34);
  EXPECT_EQ(std::to_integer<int>(bytes[10]), 10);
  EXPECT_EQ(std::to_integer<int>(bytes[23]), 7);
  EXPECT_EQ(std::to_integer<int>(bytes[24]), 0);
  const auto reply = next_reply(bytes.data(), bytes.data() + bytes.size(), sizes);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->number, 5U);
  EXPECT_EQ(reply->value, 0x0707070707070707U);
  EXPECT_TRUE(std::ranges::equal(reply->bytes, value));
  EXPECT_FALSE(next_reply(bytes.data(), bytes.data() + 33, sizes));
  const Reply add{.opcode = Opcode::kAdd, .status = ReplyStatus::kOk, .number = 5, .value = 0};
  EXPECT_EQ(write_sized(bytes.data(), add, sizes) - bytes.data(), 10);
}

// Whatever a server says, no reply has more bytes than were received.
TEST(Wire, BytesThatMeanNothingAreNoReplies) {
  workload::Random random(1);
  for (int i = 0; i < 100'000; ++i) {
    const Sizes sizes(8 + random.next() % 24);
    std::vector<std::byte> bytes(random.next() % 64);
    for (std::byte& each : bytes) each = static_cast<std::byte>(random.next() % 6);
    const auto reply = next_reply(bytes.data(), bytes.data() + bytes.size(), sizes);
    if (!reply) continue;
    ASSERT_LE(sizes.reply(reply->opcode), bytes.size());
    ASSERT_LE(reply->bytes.size(), sizes.value_bytes());
    if (!reply->bytes.empty()) {
      ASSERT_EQ(reply->bytes.size(), reply->length);
      ASSERT_LE(reply->bytes.data() + reply->bytes.size(), bytes.data() + bytes.size());
    }
  }
}

TEST(Wire, Headers) {
  std::array<std::byte, ReplyHeader::kBytes> bytes;
  EXPECT_EQ(write(bytes.data(), ReplyHeader{BatchStatus::kViewChanged, 2, 3, 9, 4}) - bytes.data(),
            33);
  const ReplyHeader reply = read_reply_header(bytes.data());
  EXPECT_EQ(reply.status, BatchStatus::kViewChanged);
  EXPECT_EQ(reply.view, 2U);
  EXPECT_EQ(reply.reissue_from, 3U);
  EXPECT_EQ(reply.committed, 9U);
  EXPECT_EQ(reply.bytes, 4U);
  EXPECT_EQ(write(bytes.data(), RequestHeader{5, 7, 6}) - bytes.data(), 16);
  EXPECT_EQ(read_request_header(bytes.data()).view, 5U);
  EXPECT_EQ(read_request_header(bytes.data()).first, 7U);
  EXPECT_EQ(read_request_header(bytes.data()).bytes, 6U);
}

TEST(Wire, AConnectionBegins) {
  std::array<std::byte, Welcome::kBytes> bytes;
  EXPECT_EQ(write(bytes.data(), Opening{.session_high = 3, .session_low = 4, .value_bytes = 256}) -
                bytes.data(),
            28);
  EXPECT_EQ(std::to_integer<char>(bytes[0]), 'h');
  EXPECT_EQ(std::to_integer<char>(bytes[3]), 'g');
  EXPECT_EQ(std::to_integer<int>(bytes[4]), 3);  // docs/shadowfax-design.md §1
  EXPECT_EQ(read_opening(bytes.data()).session_low, 4U);
  EXPECT_EQ(read_opening(bytes.data()).value_bytes, 256U);
  EXPECT_EQ(write(bytes.data(), Welcome{WelcomeStatus::kInUse, 1, 8, 7, 2048}) - bytes.data(), 29);
  const Welcome welcome = read_welcome(bytes.data());
  EXPECT_EQ(welcome.status, WelcomeStatus::kInUse);
  EXPECT_EQ(welcome.view, 1U);
  EXPECT_EQ(welcome.served, 8U);
  EXPECT_EQ(welcome.committed, 7U);
  EXPECT_EQ(welcome.most_value_bytes, 2048U);
}

}  // namespace
}  // namespace turntable::shadowfax
