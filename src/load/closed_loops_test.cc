#include "load/closed_loops.h"

#include <gtest/gtest.h>

#include <map>

namespace turntable::load {
namespace {

constexpr std::int64_t kTimeoutNs = 100;
constexpr std::uint32_t kSilent = 2;  // a client without requests

struct FakeCodec {
  struct Sent {
    std::uint32_t client;
    std::uint32_t id;
    std::int64_t at_ns;
  };

  bool has_requests(std::uint32_t client) const noexcept { return client != kSilent; }
  void draw(std::uint32_t client) noexcept { ++drawn[client]; }
  void send(std::uint32_t client, std::uint32_t id, std::int64_t now_ns) noexcept {
    sent.push_back({client, id, now_ns});
  }
  void late(std::uint32_t client, std::int64_t /*now_ns*/) noexcept { ++lates[client]; }

  std::map<std::uint32_t, int> drawn, lates;
  std::vector<Sent> sent;
};

class ClosedLoopsTest : public ::testing::Test {
 protected:
  FakeCodec codec_;
  ClosedLoops<FakeCodec> loops_{3, kTimeoutNs, codec_};
};

TEST_F(ClosedLoopsTest, EveryClientSendsTheNextWhenItHasAnAnswer) {
  loops_.begin(5);
  ASSERT_EQ(codec_.sent.size(), 2U);
  EXPECT_EQ(codec_.sent[0].client, 0U);
  EXPECT_EQ(codec_.sent[1].client, 1U);
  EXPECT_EQ(loops_.outstanding(), 2U);
  EXPECT_FALSE(loops_.is_outstanding(kSilent));

  const std::uint32_t first = codec_.sent[1].id;
  EXPECT_TRUE(loops_.awaits(first));
  EXPECT_EQ(loops_.client_of(first), 1U);
  loops_.answered(1, 20);
  ASSERT_EQ(codec_.sent.size(), 3U);
  EXPECT_EQ(codec_.sent[2].client, 1U);
  EXPECT_EQ(codec_.sent[2].at_ns, 20);
  EXPECT_EQ(loops_.first_sent_ns(1), 20);
  EXPECT_FALSE(loops_.awaits(first));  // twice
  EXPECT_EQ(codec_.drawn[1], 2);
  EXPECT_EQ(loops_.outstanding(), 2U);
}

TEST_F(ClosedLoopsTest, WhatIsLateIsSentAgainUnderAnotherId) {
  loops_.begin(0);
  loops_.answered(0, 60);
  EXPECT_EQ(loops_.next_due_ns(), kTimeoutNs);
  loops_.act(kTimeoutNs - 1);
  EXPECT_EQ(codec_.sent.size(), 3U);
  loops_.act(kTimeoutNs);
  ASSERT_EQ(codec_.sent.size(), 4U);
  const auto& again = codec_.sent[3];
  EXPECT_EQ(again.client, 1U);
  EXPECT_NE(again.id, codec_.sent[1].id);
  EXPECT_FALSE(loops_.awaits(codec_.sent[1].id));
  EXPECT_TRUE(loops_.awaits(again.id));
  EXPECT_EQ(loops_.first_sent_ns(1), 0);  // of the same request
  EXPECT_EQ(codec_.drawn[1], 1);
  EXPECT_EQ(codec_.lates, (std::map<std::uint32_t, int>{{1, 1}}));
  EXPECT_EQ(loops_.next_due_ns(), 160);  // of client 0
}

TEST_F(ClosedLoopsTest, InTheDrainNothingIsSentAndAnswersAreTaken) {
  loops_.begin(0);
  loops_.enter(Phase::kDrain);
  loops_.answered(0, 10);
  loops_.act(kTimeoutNs);
  EXPECT_EQ(codec_.sent.size(), 2U);
  EXPECT_EQ(codec_.lates[1], 1);
  EXPECT_EQ(loops_.next_due_ns(), INT64_MAX);
  EXPECT_TRUE(loops_.awaits(codec_.sent[1].id));
  loops_.answered(1, 300);
  EXPECT_EQ(loops_.outstanding(), 0U);
}

TEST(ClosedLoops, ClientsBeginOneAfterTheOther) {
  FakeCodec codec;
  // Clients 1, 2 and 3 of 4, of a ramp of 40: they begin at 10, 20 and 30; the last has no
  // requests.
  ClosedLoops<FakeCodec> loops(3, 1000, codec, {.length_ns = 40, .clients = 4, .first = 1});
  loops.begin(100);
  EXPECT_EQ(codec.sent.size(), 0U);
  EXPECT_EQ(loops.next_due_ns(), 110);
  loops.act(109);
  EXPECT_EQ(codec.sent.size(), 0U);
  loops.act(110);
  ASSERT_EQ(codec.sent.size(), 1U);
  EXPECT_EQ(codec.sent[0].client, 0U);
  loops.answered(0, 115);  // does not wait for the others
  EXPECT_EQ(codec.sent.size(), 2U);
  EXPECT_EQ(loops.next_due_ns(), 120);
  loops.act(500);  // who is late sends what is due
  EXPECT_EQ(codec.sent.size(), 3U);
  EXPECT_EQ(loops.first_sent_ns(1), 500);
  EXPECT_EQ(loops.outstanding(), 2U);
  EXPECT_EQ(loops.next_due_ns(), 1115);  // of client 0, sent again
}

TEST(ClosedLoops, NobodyBeginsInTheDrain) {
  FakeCodec codec;
  ClosedLoops<FakeCodec> loops(2, 1000, codec, {.length_ns = 40, .clients = 2});
  loops.begin(0);
  ASSERT_EQ(codec.sent.size(), 1U);
  loops.enter(Phase::kDrain);
  loops.act(30);
  EXPECT_EQ(codec.sent.size(), 1U);
  loops.answered(0, 31);
  EXPECT_EQ(loops.outstanding(), 0U);
  EXPECT_EQ(loops.next_due_ns(), INT64_MAX);
}

TEST_F(ClosedLoopsTest, IdsOfOthersAreNotAwaited) {
  loops_.begin(0);
  EXPECT_FALSE(loops_.awaits(3U << ClosedLoops<FakeCodec>::kSequenceBits));  // there is none
  EXPECT_FALSE(loops_.awaits(kSilent << ClosedLoops<FakeCodec>::kSequenceBits));
}

}  // namespace
}  // namespace turntable::load
