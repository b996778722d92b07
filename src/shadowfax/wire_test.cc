#include "shadowfax/wire.h"

#include <gtest/gtest.h>

#include <array>

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
  EXPECT_EQ(write(bytes.data(), Opening{.session_high = 3, .session_low = 4}) - bytes.data(), 24);
  EXPECT_EQ(std::to_integer<char>(bytes[0]), 'h');
  EXPECT_EQ(std::to_integer<char>(bytes[3]), 'g');
  EXPECT_EQ(std::to_integer<int>(bytes[4]), 1);
  EXPECT_EQ(read_opening(bytes.data()).session_low, 4U);
  EXPECT_EQ(write(bytes.data(), Welcome{WelcomeStatus::kInUse, 1, 8, 7}) - bytes.data(), 25);
  const Welcome welcome = read_welcome(bytes.data());
  EXPECT_EQ(welcome.status, WelcomeStatus::kInUse);
  EXPECT_EQ(welcome.view, 1U);
  EXPECT_EQ(welcome.served, 8U);
  EXPECT_EQ(welcome.committed, 7U);
}

}  // namespace
}  // namespace turntable::shadowfax
