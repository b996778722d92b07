#include "netclone/client/codec.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "netclone/choices.h"
#include "netclone/client/testing.h"

namespace turntable::netclone {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kSeed = 11;
constexpr std::uint16_t kClient = 5;

// What a codec sends to three servers and to a gate, by the port it went to.
class CodecTest : public ::testing::Test {
 protected:
  explicit CodecTest() {
    for (int i = 0; i < 3; ++i) sockets_.push_back(testing::open_loopback());
    for (const auto& socket : sockets_) traffic_.servers.push_back(socket->local());
    gate_ = testing::open_loopback();
    traffic_.gate = gate_->local();
    traffic_.seed = kSeed;
  }

  unsigned send(Method method, std::uint64_t number) {
    traffic_.method = method;
    Codec codec(traffic_, kClient, 0, 1000);
    const unsigned sent = codec.send(number, 234, *mine_);
    mine_->flush([](std::uint32_t, int error) { FAIL() << error; });
    return sent;
  }

  static std::optional<Packet> received(net::Datagrams& socket) {
    if (socket.receive() != 1) return std::nullopt;
    Packet packet;
    EXPECT_EQ(decode(socket.at(0).bytes, packet), DecodeStatus::kOk);
    return packet;
  }

  // By index of the server.
  std::map<std::size_t, Packet> at_servers() {
    std::map<std::size_t, Packet> found;
    for (std::size_t i = 0; i < sockets_.size(); ++i)
      if (const auto packet = received(*sockets_[i])) found[i] = *packet;
    return found;
  }

  Traffic traffic_;
  std::unique_ptr<net::Datagrams> mine_ = testing::open_loopback();
  std::vector<std::unique_ptr<net::Datagrams>> sockets_;
  std::unique_ptr<net::Datagrams> gate_;
};

TEST_F(CodecTest, NoCloneSendsOneCopyToADrawnServer) {
  std::set<std::size_t> used;
  for (std::uint64_t number = 0; number < 30; ++number) {
    EXPECT_EQ(send(Method::kNoClone, number), 1U);
    const auto found = at_servers();
    ASSERT_EQ(found.size(), 1U);
    const auto& [server, packet] = *found.begin();
    EXPECT_EQ(server, static_cast<std::size_t>(
                          3 * uniform(kSeed, Stream::kServer, request_id(kClient, number))));
    EXPECT_EQ(packet.request, std::uint64_t{kClient} << 48U | number);
    EXPECT_EQ(packet.client, kClient);
    EXPECT_EQ(packet.sent_at_ns, 1234U);
    EXPECT_EQ(packet.clone, Clone::kNone);
    EXPECT_EQ(packet.group, 0U);
    used.insert(server);
  }
  EXPECT_EQ(used.size(), 3U);
}

TEST_F(CodecTest, CCloneSendsBothCopiesToDifferentServers) {
  for (std::uint64_t number = 0; number < 30; ++number) {
    EXPECT_EQ(send(Method::kCClone, number), 2U);
    const auto found = at_servers();
    ASSERT_EQ(found.size(), 2U);
    std::map<Clone, std::size_t> server_of;
    for (const auto& [server, packet] : found) server_of[packet.clone] = server;
    const Pair pair = chosen_servers(kSeed, request_id(kClient, number), 3);
    EXPECT_EQ(server_of.at(Clone::kOriginal), pair.first);
    EXPECT_EQ(server_of.at(Clone::kClone), pair.second);
  }
}

TEST_F(CodecTest, NetCloneDrawsGroupAndTableAndLeavesCloningToTheSwitch) {
  std::set<std::uint32_t> groups, tables, sids;
  for (std::uint64_t number = 0; number < 200; ++number) {
    for (const Method method : {Method::kNetClone, Method::kNetCloneRackSched}) {
      EXPECT_EQ(send(method, number), 1U);
      const auto packet = received(*gate_);
      ASSERT_TRUE(packet);
      EXPECT_EQ(packet->group, chosen_group(kSeed, request_id(kClient, number), 3));
      EXPECT_EQ(packet->table, chosen_table(kSeed, request_id(kClient, number)));
      EXPECT_EQ(packet->clone, Clone::kNone);
      EXPECT_EQ(packet->seq, 0U);
      groups.insert(packet->group);
      tables.insert(packet->table);
      sids.insert(packet->server);
    }
  }
  EXPECT_EQ(groups, (std::set<std::uint32_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(tables, (std::set<std::uint32_t>{0, 1}));
  EXPECT_EQ(sids, (std::set<std::uint32_t>{0, 1, 2}));
}

TEST_F(CodecTest, LaedgeSendsAllToTheCoordinator) {
  EXPECT_EQ(send(Method::kLaedge, 8), 1U);
  EXPECT_EQ(received(*gate_)->request, request_id(kClient, 8));
  EXPECT_TRUE(at_servers().empty());
}

TEST_F(CodecTest, AMixDrawsOperationsAndObjects) {
  traffic_.mix = OperationMix(0.1);
  traffic_.objects.emplace(1'000'000, 0.99);
  int scans = 0, hottest = 0;
  for (std::uint64_t number = 0; number < 2000; ++number) {
    send(Method::kLaedge, number);
    const auto packet = received(*gate_);
    ASSERT_TRUE(packet->operation == Operation::kGet || packet->operation == Operation::kScan);
    if (packet->operation == Operation::kScan) ++scans;
    if (packet->object == 0) ++hottest;
    EXPECT_LT(packet->object, 1'000'000U);
  }
  EXPECT_NEAR(scans, 200, 5 * 13.5);  // its standard deviation
  // 1 / zeta(10^6, 0.99) = 1 / 15.391 of all.
  EXPECT_NEAR(hottest, 130, 5 * 11);
}

class DecodeTest : public CodecTest {
 protected:
  std::optional<std::uint64_t> decode_one(const Packet& answer, std::size_t bytes = kPacketBytes) {
    return decode_from(sockets_[0]->local(), answer, bytes);
  }

  std::optional<std::uint64_t> decode_from(const sockaddr_in& from, const Packet& answer,
                                           std::size_t bytes = kPacketBytes) {
    std::vector<std::uint8_t> buffer(kPacketBytes + 8);
    encode(answer, buffer);
    return codec_.decode({.bytes = std::span(buffer).first(bytes),
                          .from = from,
                          .has_stamp = false,
                          .received_ns = 0,
                          .truncated = false});
  }

  DecodeTest() { codec_.send(77, kSentAtNs, *mine_); }

  static constexpr std::int64_t kSinceNs = 4000;
  static constexpr std::int64_t kSentAtNs = 5000;

  Codec codec_{traffic_, kClient, kSinceNs, 0};
  std::array<std::uint8_t, kPacketBytes> buffer_{};
  Packet answer_{.op = Op::kResponse,
                 .request = request_id(kClient, 77),
                 .sent_at_ns = kSentAtNs,
                 .client = kClient};
};

TEST_F(DecodeTest, AnAnswerHasItsNumber) {
  EXPECT_EQ(decode_one(answer_), 77U);
}

// The switch numbers from the beginning again after it was restarted.
TEST_F(DecodeTest, TheSequenceNumberOfTheSwitchDoesNotMatter) {
  for (const std::uint32_t seq : {0U, 1U, 0xFFFFFFFFU}) {
    answer_.seq = seq;
    EXPECT_EQ(decode_one(answer_), 77U);
  }
}

// Its numbers are the same, and its answers would seem to be very fast.
TEST_F(DecodeTest, LateAnswersOfTheIterationBeforeAreNotTaken) {
  answer_.sent_at_ns = kSinceNs - 1;
  EXPECT_FALSE(decode_one(answer_));
  EXPECT_EQ(codec_.counts().late, 1);
  answer_.sent_at_ns = kSinceNs;
  EXPECT_EQ(decode_one(answer_), 77U);
  EXPECT_EQ(codec_.counts().late, 1);
}

// The slower copy of a cclone request, say, when the next iteration is netclone's: its servers have
// other ports, and a socket's client may be another.
TEST_F(DecodeTest, LateAnswersMayBeToAndFromOthers) {
  answer_.sent_at_ns = kSinceNs - 1;
  EXPECT_FALSE(decode_from(gate_->local(), answer_));
  answer_.client = kClient + 1;
  answer_.request = request_id(kClient + 1, 77);
  EXPECT_FALSE(decode_one(answer_));
  EXPECT_EQ(codec_.counts().late, 2);
  EXPECT_EQ(codec_.counts().not_mine, 0);
}

TEST_F(DecodeTest, WhatIsNoAnswerIsMalformed) {
  EXPECT_FALSE(decode_one(answer_, kPacketBytes - 1));
  EXPECT_FALSE(decode_one(answer_, kPacketBytes + 1));
  answer_.op = Op::kRequest;
  EXPECT_FALSE(decode_one(answer_));
  EXPECT_EQ(codec_.counts().malformed, 3);
}

TEST_F(DecodeTest, AnswersToOthersAndToProbesAreNotTaken) {
  answer_.client = kClient + 1;
  answer_.request = request_id(kClient + 1, 77);
  EXPECT_FALSE(decode_one(answer_));
  EXPECT_EQ(codec_.counts().not_mine, 1);
  answer_.client = kClient;
  answer_.request = request_id(kClient, kFirstProbe);
  EXPECT_FALSE(decode_one(answer_));
  EXPECT_EQ(codec_.counts().malformed, 0);
}

TEST_F(DecodeTest, OnlyTheServerThatAnAnswerNamesMaySendIt) {
  for (const Method method :
       {Method::kNoClone, Method::kCClone, Method::kNetClone, Method::kNetCloneRackSched}) {
    traffic_.method = method;
    answer_.server = 2;
    EXPECT_EQ(decode_from(sockets_[2]->local(), answer_), 77U);
    EXPECT_FALSE(decode_from(sockets_[1]->local(), answer_));
    EXPECT_FALSE(decode_from(gate_->local(), answer_));
    answer_.server = 3;  // there is none
    EXPECT_FALSE(decode_from(sockets_[2]->local(), answer_));
  }
  EXPECT_EQ(codec_.counts().not_mine, 12);
}

TEST_F(DecodeTest, OfLaedgeOnlyTheCoordinatorSendsAnswers) {
  traffic_.method = Method::kLaedge;
  answer_.server = 2;
  EXPECT_EQ(decode_from(gate_->local(), answer_), 77U);
  EXPECT_FALSE(decode_from(sockets_[2]->local(), answer_));
  EXPECT_EQ(codec_.counts().not_mine, 1);
}

// Credits are taken for the work, 10 us twice as long here, and for what the test adds.
TEST_F(DecodeTest, AnswersOfLaedgeTellHowLongCreditsAreUnderWay) {
  using load::OpenLoop;
  const OpenLoop::Counted first{.number = 0, .answer = OpenLoop::Answer::kFirst, .in_window = true};
  OpenLoop::Counted outside = first;
  outside.in_window = false;
  const Json work = {{"service", {{"distribution", "fixed"}, {"us", 10}}},
                     {"jitter", {{"probability", 0}, {"factor", 1}}},
                     {"dilation", 2},
                     {"workers", 8}};
  const auto note = [&](Codec& codec, std::uint32_t server, std::uint32_t seq,
                        const OpenLoop::Counted& counted) {
    answer_.server = server;
    answer_.seq = seq;
    encode(answer_, buffer_);
    net::Datagrams::Received received{};
    received.bytes = buffer_;
    received.from = gate_->local();
    ASSERT_TRUE(codec.decode(received));
    codec.counted(counted);
  };
  traffic_.method = Method::kLaedge;
  Codec codec(
      traffic_, kClient, 0, 0,
      CreditDelays(simulation::settings_from_json("test", Method::kLaedge, 3, kSeed, work)));
  codec.send(77, kSentAtNs, *mine_);
  note(codec, 0, 21'000, first);
  note(codec, 0, 23'000, first);
  note(codec, 0, 90'000, outside);
  note(codec, 0, kCreditTooLong, first);
  note(codec, 2, 20'500, first);
  const std::vector<std::optional<std::int64_t>> expected = {2000, std::nullopt, 500};
  EXPECT_EQ(codec.credit_delays().means_ns(), expected);

  Codec other = codec;
  note(other, 0, 28'000, first);
  CreditDelays both;
  both.merge(codec.credit_delays());
  both.merge(other.credit_delays());
  EXPECT_EQ(both.means_ns()[0], (1000 + 3000 + 1000 + 3000 + 8000) / 5);
}

TEST_F(DecodeTest, ClonedAnswersOfTheWindowAreCountedOnce) {
  using load::OpenLoop;
  const OpenLoop::Counted first{.number = 0, .answer = OpenLoop::Answer::kFirst, .in_window = true};
  OpenLoop::Counted outside = first, redundant = first;
  outside.in_window = false;
  redundant.answer = OpenLoop::Answer::kRedundant;
  answer_.clone = Clone::kClone;
  decode_one(answer_);
  codec_.counted(first);
  codec_.counted(outside);
  codec_.counted(redundant);
  answer_.clone = Clone::kOriginal;
  decode_one(answer_);
  codec_.counted(first);
  answer_.clone = Clone::kNone;
  decode_one(answer_);
  codec_.counted(first);
  EXPECT_EQ(codec_.counts().cloned, 2);
  EXPECT_EQ(codec_.counts().clone_first, 1);
}

}  // namespace
}  // namespace turntable::netclone
