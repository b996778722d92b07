// Expected texts are those of memcached's doc/protocol.txt and of Redis's protocol specification.
#include "shadowfax/client/text_protocol.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "shadowfax/client/sessions.h"

namespace turntable::shadowfax {
namespace {

const MemcachedProtocol kMemcached;
const RedisProtocol kRedis;

std::string written(const TextProtocol& protocol, const Request& request) {
  std::string text = "before ";
  protocol.write(request, text);
  EXPECT_TRUE(text.starts_with("before "));
  return text.substr(7);
}

// What an answer is, and what is behind it is left alone. Cut at every byte it is none yet.
TextAnswer whole(const TextProtocol& protocol, Opcode opcode, const std::string& text) {
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes)
    EXPECT_FALSE(protocol.read(opcode, text.substr(0, bytes))) << bytes << " bytes of " << text;
  const std::string with_more = text + "VA";
  const auto answer = protocol.read(opcode, with_more);
  if (!answer) {
    ADD_FAILURE() << text;
    return {};
  }
  EXPECT_EQ(answer->bytes, text.size());
  return {answer->bytes, answer->status, answer->value, {}};
}

std::string refusal(const TextProtocol& protocol, Opcode opcode, const std::string& text) {
  const auto answer = protocol.read(opcode, text);
  if (!answer) return "it is not whole";
  EXPECT_EQ(answer->bytes, text.size());
  return std::string(answer->refusal);
}

std::string error_of(const TextProtocol& protocol, Opcode opcode, const std::string& text) {
  try {
    if (!protocol.read(opcode, text)) return "it is not whole";
  } catch (const SessionError& error) {
    return error.what();
  }
  return "it is an answer";
}

TEST(Memcached, AsksInCommandsOfOneKey) {
  EXPECT_EQ(written(kMemcached, {Opcode::kRead, 17, 0}), "mg 17 v\r\n");
  EXPECT_EQ(written(kMemcached, {Opcode::kUpsert, 17, 5}), "set 17 0 0 8\r\n5       \r\n");
  EXPECT_EQ(written(kMemcached, {Opcode::kAdd, 17, 3}), "incr 17 3\r\n");
  EXPECT_EQ(written(kMemcached, {Opcode::kUpsert, UINT64_MAX, UINT64_MAX}),
            "set 18446744073709551615 0 0 20\r\n18446744073709551615\r\n");
}

TEST(Redis, AsksInCommandsOfOneKey) {
  EXPECT_EQ(written(kRedis, {Opcode::kRead, 17, 0}), "*2\r\n$3\r\nGET\r\n$2\r\n17\r\n");
  EXPECT_EQ(written(kRedis, {Opcode::kUpsert, 17, 0}),
            "*3\r\n$3\r\nSET\r\n$2\r\n17\r\n$1\r\n0\r\n");
  EXPECT_EQ(written(kRedis, {Opcode::kAdd, 17, 1}), "*2\r\n$4\r\nINCR\r\n$2\r\n17\r\n");
  EXPECT_EQ(written(kRedis, {Opcode::kAdd, 17, 30}),
            "*3\r\n$6\r\nINCRBY\r\n$2\r\n17\r\n$2\r\n30\r\n");
}

struct Answered {
  const TextProtocol& protocol;
  Opcode opcode;
  std::string text;
  ReplyStatus status;
  std::uint64_t value;
};

TEST(TextProtocols, AnswersAreReadWhereverTheyAreCut) {
  const std::vector<Answered> all = {
      {kMemcached, Opcode::kRead, "VA 8\r\n12      \r\n", ReplyStatus::kOk, 12},
      {kMemcached, Opcode::kRead, "VA 1 s1 t-1\r\n7\r\n", ReplyStatus::kOk, 7},
      {kMemcached, Opcode::kRead, "EN\r\n", ReplyStatus::kNotFound, 0},
      {kMemcached, Opcode::kRead, "VA 3\r\nabc\r\n", ReplyStatus::kWrongSize, 0},
      {kMemcached, Opcode::kRead, "VA 4\r\n1\r\n2\r\n", ReplyStatus::kWrongSize, 0},
      {kMemcached, Opcode::kRead, "VA 0\r\n\r\n", ReplyStatus::kWrongSize, 0},
      {kMemcached, Opcode::kUpsert, "STORED\r\n", ReplyStatus::kOk, 0},
      {kMemcached, Opcode::kAdd, "13\r\n", ReplyStatus::kOk, 13},
      {kMemcached, Opcode::kAdd, "NOT_FOUND\r\n", ReplyStatus::kNotFound, 0},
      {kRedis, Opcode::kRead, "$2\r\n12\r\n", ReplyStatus::kOk, 12},
      {kRedis, Opcode::kRead, "$-1\r\n", ReplyStatus::kNotFound, 0},
      {kRedis, Opcode::kRead, "$2\r\n\r\n\r\n", ReplyStatus::kWrongSize, 0},
      {kRedis, Opcode::kUpsert, "+OK\r\n", ReplyStatus::kOk, 0},
      {kRedis, Opcode::kAdd, ":13\r\n", ReplyStatus::kOk, 13},
  };
  for (const Answered& each : all) {
    const TextAnswer answer = whole(each.protocol, each.opcode, each.text);
    EXPECT_EQ(answer.status, each.status) << each.text;
    EXPECT_EQ(answer.value, each.value) << each.text;
  }
}

TEST(TextProtocols, ErrorsOfAServerHaveItsWords) {
  EXPECT_EQ(refusal(kMemcached, Opcode::kRead, "ERROR\r\n"), "ERROR");
  EXPECT_EQ(refusal(kMemcached, Opcode::kAdd, "CLIENT_ERROR cannot increment\r\n"),
            "CLIENT_ERROR cannot increment");
  EXPECT_EQ(refusal(kRedis, Opcode::kUpsert, "-ERR max number of clients reached\r\n"),
            "ERR max number of clients reached");
  const auto full =
      kMemcached.read(Opcode::kUpsert, "SERVER_ERROR out of memory storing object\r\n");
  ASSERT_TRUE(full);
  EXPECT_EQ(full->status, ReplyStatus::kNoSpace);
  const auto oom = kRedis.read(Opcode::kUpsert, "-OOM command not allowed\r\n");
  ASSERT_TRUE(oom);
  EXPECT_EQ(oom->status, ReplyStatus::kNoSpace);
  EXPECT_EQ(kRedis.read(Opcode::kRead, "-LOADING\r\n")->status, ReplyStatus::kIoError);
}

TEST(TextProtocols, WhatIsNoAnswerIsNamed) {
  struct Hostile {
    const TextProtocol& protocol;
    Opcode opcode;
    std::string text;
  };
  const std::vector<Hostile> all = {
      {kMemcached, Opcode::kRead, "STORED\r\n"},
      {kMemcached, Opcode::kRead, "VA\r\n"},
      {kMemcached, Opcode::kRead, "VA -1\r\n"},
      {kMemcached, Opcode::kRead, "VA 8x\r\n12345678\r\n"},
      {kMemcached, Opcode::kRead, "VA 99999999999999999999\r\n"},
      {kMemcached, Opcode::kRead, "VA 65537\r\n"},
      {kMemcached, Opcode::kRead, "VA 1\r\n12\r\n"},
      {kMemcached, Opcode::kUpsert, "13\r\n"},
      {kMemcached, Opcode::kAdd, "\r\n"},
      {kMemcached, Opcode::kAdd, "-3\r\n"},
      {kRedis, Opcode::kRead, "+OK\r\n"},
      {kRedis, Opcode::kRead, "$-2\r\n"},
      {kRedis, Opcode::kRead, "$\r\n"},
      {kRedis, Opcode::kRead, "$65537\r\n"},
      {kRedis, Opcode::kRead, "$1\r\n12\r\n"},
      {kRedis, Opcode::kUpsert, ":1\r\n"},
      {kRedis, Opcode::kAdd, ":\r\n"},
      {kRedis, Opcode::kAdd, ":99999999999999999999\r\n"},
      {kRedis, Opcode::kAdd, std::string("\0\r\n", 3)},
  };
  for (const Hostile& each : all) {
    const std::string name(each.protocol.name());
    EXPECT_TRUE(error_of(each.protocol, each.opcode, each.text).starts_with(name + " answers \""))
        << each.text;
  }
  EXPECT_EQ(error_of(kMemcached, Opcode::kRead, "HTTP/1.1 400\x1b[2J\r\n"),
            "memcached answers \"HTTP/1.1 400?[2J\", which is no answer to a read");
}

TEST(TextProtocols, ALineThatDoesNotEndIsNoAnswer) {
  const std::string longest(TextProtocol::kMostLineBytes, '1');
  EXPECT_EQ(error_of(kMemcached, Opcode::kAdd, longest), "it is not whole");
  EXPECT_NE(error_of(kMemcached, Opcode::kAdd, longest + "11"), "it is not whole");
  EXPECT_NE(error_of(kRedis, Opcode::kAdd, ":" + longest + "11"), "it is not whole");
}

// Whatever comes: an answer within what has come, none yet, or an error.
TEST(TextProtocols, BytesAtRandomAreRefusedOrRead) {
  constexpr std::string_view kBytes = "VAENSTORD$:+-*0123456789 \r\n\r\n";
  std::mt19937 random(17);
  std::uniform_int_distribution<std::size_t> byte(0, kBytes.size() - 1), length(1, 24);
  for (int i = 0; i < 200'000; ++i) {
    std::string text;
    for (std::size_t bytes = length(random); bytes > 0; --bytes) text += kBytes[byte(random)];
    for (const TextProtocol* protocol : {static_cast<const TextProtocol*>(&kMemcached),
                                         static_cast<const TextProtocol*>(&kRedis)}) {
      for (const Opcode opcode : {Opcode::kRead, Opcode::kUpsert, Opcode::kAdd}) {
        try {
          const auto answer = protocol->read(opcode, text);
          if (!answer) continue;
          ASSERT_GE(answer->bytes, 3U) << text;
          ASSERT_LE(answer->bytes, text.size()) << text;
          ASSERT_EQ(text.substr(answer->bytes - 2, 2), "\r\n");
        } catch (const SessionError&) {
          continue;
        }
      }
    }
  }
}

}  // namespace
}  // namespace turntable::shadowfax
