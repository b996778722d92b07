#include "mcload/protocol.h"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <vector>

#include "mcload/item_stats.h"
#include "workload/random.h"

namespace turntable::mcload {
namespace {

struct Read {
  std::vector<Reply> replies;
  bool is_broken = false;
};

constexpr Awaited get_of(std::string_view key, std::uint32_t opaque = 0) {
  return {Awaited::Kind::kGet, key, opaque};
}
constexpr Awaited set_of(std::string_view key, std::uint32_t opaque = 0) {
  return {Awaited::Kind::kSet, key, opaque};
}

// Fed in pieces of `piece` bytes. Each reply is to answer the next of `awaited`, those behind the
// last one of them nothing.
Read read(Protocol protocol, std::string_view text, std::size_t piece,
          const std::vector<Awaited>& awaited) {
  ReplyReader reader(protocol);
  Read read;
  for (std::size_t at = 0; at < text.size() && !read.is_broken; at += piece) {
    const std::string_view part = text.substr(at, piece);
    std::span<const char> bytes(part.data(), part.size());
    for (Reply reply;;) {
      const std::size_t number = read.replies.size();
      const auto status =
          reader.next(bytes, number < awaited.size() ? awaited[number] : Awaited{}, reply);
      if (status == ReplyReader::Status::kMore) break;
      read.is_broken = status == ReplyReader::Status::kBroken;
      if (read.is_broken) break;
      read.replies.push_back(reply);
    }
  }
  return read;
}

std::string binary_reply(std::uint8_t opcode, std::uint16_t status, std::uint8_t extras,
                         const std::string& body, std::uint8_t magic = 0x81) {
  std::string reply(24, '\0');
  reply[0] = static_cast<char>(magic);
  reply[1] = static_cast<char>(opcode);
  reply[4] = static_cast<char>(extras);
  reply[6] = static_cast<char>(status >> 8);
  reply[7] = static_cast<char>(status);
  reply[10] = static_cast<char>(body.size() >> 8);
  reply[11] = static_cast<char>(body.size());
  return reply + body;
}

TEST(Protocol, WritesAsciiRequests) {
  std::array<char, kMaxHeaderBytes> out{};
  EXPECT_EQ(std::string_view(out.data(), write_get(Protocol::kAscii, "key", 1, out.data())),
            "get key\r\n");
  EXPECT_EQ(std::string_view(out.data(), write_set(Protocol::kAscii, "key", 1234, 1, out.data())),
            "set key 0 0 1234\r\n");
  EXPECT_LT(write_set(Protocol::kAscii, std::string(250, 'k'), 128'000'000, 1, out.data()),
            kMaxHeaderBytes);
}

// https://docs.memcached.org/protocols/binary/
TEST(Protocol, WritesBinaryRequests) {
  std::array<char, kMaxHeaderBytes> out{};
  const std::string get("\x80\x00\x00\x05\0\0\0\0\0\0\0\x05\x01\x02\x03\x04\0\0\0\0\0\0\0\0Hello",
                        29);
  EXPECT_EQ(std::string(out.data(), write_get(Protocol::kBinary, "Hello", 0x01020304, out.data())),
            get);
  const std::string set(
      "\x80\x01\x00\x05\x08\0\0\0\0\0\0\x12\0\0\0\x07\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0Hello", 37);
  EXPECT_EQ(std::string(out.data(), write_set(Protocol::kBinary, "Hello", 5, 7, out.data())), set);
}

TEST(Protocol, ReadsAsciiRepliesHoweverTheyAreCut) {
  const std::string text =
      "VALUE key 0 5\r\nhello\r\nEND\r\nEND\r\nSTORED\r\nVALUE k 4294967295 7 "
      "99\r\nEND\r\nxx\r\nEND\r\n"
      "VALUE k 0 0\r\n\r\nEND\r\nNOT_STORED\r\nSERVER_ERROR out of memory storing object\r\n"
      "SERVER_ERROR object too large for cache\r\nSERVER_ERROR busy\r\nCLIENT_ERROR "
      "bad\r\nERROR\r\n";
  const std::vector<Awaited> awaited = {get_of("key"), get_of("key"), set_of("k"), get_of("k"),
                                        get_of("k"),   set_of("k"),   set_of("k"), set_of("k"),
                                        get_of("k"),   set_of("k"),   get_of("k")};
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    const Read got = read(Protocol::kAscii, text, piece, awaited);
    ASSERT_FALSE(got.is_broken) << piece;
    ASSERT_EQ(got.replies.size(), 11U) << piece;
    const std::vector<Outcome> outcomes = {
        Outcome::kHit,         Outcome::kMiss,        Outcome::kStored,      Outcome::kHit,
        Outcome::kHit,         Outcome::kNotStored,   Outcome::kOutOfMemory, Outcome::kOutOfMemory,
        Outcome::kServerError, Outcome::kClientError, Outcome::kRefused};
    for (std::size_t i = 0; i < outcomes.size(); ++i)
      EXPECT_EQ(got.replies[i].outcome, outcomes[i]) << piece << " " << i;
    EXPECT_EQ(got.replies[0].value_bytes, 5U);
    EXPECT_EQ(got.replies[3].value_bytes, 7U);
    EXPECT_EQ(got.replies[4].value_bytes, 0U);
  }
}

TEST(Protocol, AsciiThatIsNoneBreaks) {
  for (const std::string text :
       {"HELLO\r\n", "VALUE k 0\r\n", "VALUE k 0 x\r\n", "VALUE k 0 -1\r\n", "VALUE k 0 5z\r\n",
        "VALUE k 0 99999999999\r\n", "END\n", "\r\n", "VALUE k 0 2\r\nab\r\nSTORED\r\n",
        "VALUE k 0 2\r\nabcdEND\r\n"}) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, text.size()})
      EXPECT_TRUE(read(Protocol::kAscii, text, piece, {get_of("k")}).is_broken) << text << piece;
  }
  const std::string endless(5000, 'a');
  EXPECT_TRUE(read(Protocol::kAscii, endless, 100, {get_of("k")}).is_broken);
  EXPECT_TRUE(read(Protocol::kAscii, endless + "\r\n", 7000, {get_of("k")}).is_broken);
}

bool is_broken(Protocol protocol, const std::string& text, const Awaited& awaited) {
  const bool at_once = read(protocol, text, text.size(), {awaited}).is_broken;
  for (const std::size_t piece : {1, 3, 24})
    EXPECT_EQ(read(protocol, text, piece, {awaited}).is_broken, at_once) << text << piece;
  return at_once;
}

TEST(Protocol, AnAsciiReplyToAnotherRequestBreaks) {
  const auto breaks = [](const std::string& text, const Awaited& awaited) {
    return is_broken(Protocol::kAscii, text, awaited);
  };
  const std::string value = " 0 1\r\nx\r\nEND\r\n";
  EXPECT_FALSE(breaks("VALUE k1" + value, get_of("k1")));
  for (const char* other : {"k2", "k", "k11", "K1", ""})
    EXPECT_TRUE(breaks("VALUE " + std::string(other) + value, get_of("k1"))) << other;
  for (const char* of_a_set : {"STORED\r\n", "NOT_STORED\r\n"}) {
    EXPECT_FALSE(breaks(of_a_set, set_of("k1")));
    EXPECT_TRUE(breaks(of_a_set, get_of("k1")));
    EXPECT_TRUE(breaks(of_a_set, {}));
  }
  EXPECT_FALSE(breaks("END\r\n", get_of("k1")));
  for (const std::string& of_a_get : {std::string("END\r\n"), "VALUE k1" + value}) {
    EXPECT_TRUE(breaks(of_a_get, set_of("k1")));
    EXPECT_TRUE(breaks(of_a_get, {}));
  }
  for (const Awaited& either : {get_of("k1"), set_of("k1")})
    EXPECT_FALSE(breaks("SERVER_ERROR busy\r\n", either));
  EXPECT_TRUE(breaks("SERVER_ERROR busy\r\n", {}));
}

TEST(Protocol, ReadsBinaryRepliesHoweverTheyAreCut) {
  const std::string text =
      binary_reply(0, 0, 4, std::string(4, '\0') + "hello") + binary_reply(0, 1, 0, "Not found") +
      binary_reply(1, 0, 0, "") + binary_reply(1, 0x82, 0, "Out of memory") +
      binary_reply(1, 3, 0, "big") + binary_reply(1, 5, 0, "") + binary_reply(0, 0x81, 0, "what") +
      binary_reply(0, 4, 0, "") + binary_reply(0, 0x84, 0, "");
  const Awaited a_get = get_of("k"), a_set = set_of("k");
  const std::vector<Awaited> awaited = {a_get, a_get, a_set, a_set, a_set,
                                        a_set, a_get, a_get, a_get};
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    const Read got = read(Protocol::kBinary, text, piece, awaited);
    ASSERT_FALSE(got.is_broken) << piece;
    const std::vector<Outcome> outcomes = {
        Outcome::kHit,         Outcome::kMiss,        Outcome::kStored,
        Outcome::kOutOfMemory, Outcome::kOutOfMemory, Outcome::kNotStored,
        Outcome::kRefused,     Outcome::kClientError, Outcome::kServerError};
    ASSERT_EQ(got.replies.size(), outcomes.size()) << piece;
    for (std::size_t i = 0; i < outcomes.size(); ++i)
      EXPECT_EQ(got.replies[i].outcome, outcomes[i]) << piece << " " << i;
    EXPECT_EQ(got.replies[0].value_bytes, 5U);
  }
}

TEST(Protocol, BinaryThatIsNoneBreaks) {
  const auto breaks = [](const std::string& text) {
    return is_broken(Protocol::kBinary, text, get_of("k"));
  };
  EXPECT_TRUE(breaks(binary_reply(0, 0, 0, "", 0x80)));
  EXPECT_TRUE(breaks(binary_reply(0x0a, 0, 0, "")));
  EXPECT_TRUE(breaks(binary_reply(0, 0, 9, "12345678")));
  std::string huge = binary_reply(0, 0, 0, "");
  huge[8] = '\x7f';
  EXPECT_TRUE(breaks(huge));
  EXPECT_TRUE(breaks("ERROR\r\n"));  // shorter than a header
}

TEST(Protocol, ABinaryReplyToAnotherRequestBreaks) {
  const auto breaks = [](const std::string& text, const Awaited& awaited) {
    return is_broken(Protocol::kBinary, text, awaited);
  };
  std::string hit = binary_reply(0, 0, 4, "1234hello");
  hit[12] = '\x01';
  hit[15] = '\x02';
  EXPECT_FALSE(breaks(hit, get_of("k", 0x01000002)));
  EXPECT_TRUE(breaks(hit, get_of("k", 0x01000003)));
  EXPECT_TRUE(breaks(hit, set_of("k", 0x01000002)));
  EXPECT_TRUE(breaks(hit, {}));
  const std::string stored = binary_reply(1, 0, 0, "");
  EXPECT_FALSE(breaks(stored, set_of("k")));
  EXPECT_TRUE(breaks(stored, get_of("k")));
  EXPECT_TRUE(breaks(binary_reply(1, 1, 0, "Not found"), set_of("k")));
  EXPECT_TRUE(breaks(binary_reply(1, 0x82, 0, "Out of memory"), set_of("k", 7)));
}

// No bytes may do worse than to break the stream; run it under the sanitizers.
TEST(Protocol, SurvivesAnything) {
  workload::Random random(5);
  const std::string ascii = "VALUE k 0 5\r\nhello\r\nEND\r\nSTORED\r\n";
  const std::string binary =
      binary_reply(0, 0, 4, "1234hello") + binary_reply(1, 0, 0, "") + binary_reply(0, 1, 0, "no");
  for (int round = 0; round < 20'000; ++round) {
    for (const auto& [protocol, right] :
         {std::pair(Protocol::kAscii, ascii), std::pair(Protocol::kBinary, binary)}) {
      std::string text = right;
      for (int changes = static_cast<int>(random.next() % 4); changes >= 0; --changes)
        text[random.next() % text.size()] = static_cast<char>(random.next());
      read(protocol, text, 1 + random.next() % text.size(),
           {get_of("k"), set_of("k"), get_of("k")});
    }
  }
}

TEST(Protocol, Names) {
  EXPECT_EQ(protocol_of("binary"), Protocol::kBinary);
  EXPECT_STREQ(protocol_name(protocol_of("ascii")), "ascii");
  EXPECT_THROW(protocol_of("udp"), std::invalid_argument);
}

std::string binary_stat(const std::string& name, const std::string& value) {
  std::string packet = binary_reply(0x10, 0, 0, name + value);
  packet[3] = static_cast<char>(name.size());
  return packet;
}

std::optional<ItemStats> item_stats(Protocol protocol, std::string_view text, std::size_t piece) {
  ItemStatsReader reader(protocol);
  for (std::size_t at = 0; at < text.size(); at += piece) {
    if (!reader.feed(text.substr(at, piece))) continue;
    EXPECT_GE(at + piece, text.size()) << "complete before the end";
    return reader.stats();
  }
  ADD_FAILURE() << "never complete";
  return std::nullopt;
}

TEST(ItemStats, AreReadInBothProtocols) {
  const std::string ascii =
      "STAT pid 17\r\nSTAT curr_items 12345\r\nSTAT version 1.6 x\r\nSTAT evictions 6\r\nEND\r\n";
  const std::string binary = binary_stat("pid", "17") + binary_stat("curr_items", "12345") +
                             binary_stat("evictions", "6") + binary_stat("", "");
  for (const std::size_t piece : {1, 7, 1000}) {
    for (const auto& [protocol, text] :
         {std::pair(Protocol::kAscii, ascii), std::pair(Protocol::kBinary, binary)}) {
      const auto stats = item_stats(protocol, text, piece);
      ASSERT_TRUE(stats.has_value()) << piece;
      EXPECT_EQ(stats->items, 12345U);
      EXPECT_EQ(stats->evictions, 6U);
    }
  }
}

TEST(ItemStats, AServerMayHaveNone) {
  EXPECT_FALSE(item_stats(Protocol::kAscii, "ERROR\r\n", 3));
  EXPECT_FALSE(item_stats(Protocol::kAscii, "STAT curr_items 3\r\nEND\r\n", 3));
  EXPECT_FALSE(item_stats(Protocol::kBinary, binary_reply(0x10, 0x81, 0, "Unknown command"), 5));
  EXPECT_FALSE(item_stats(Protocol::kBinary, "ERROR\r\n", 7));  // shorter than a header
}

}  // namespace
}  // namespace turntable::mcload
