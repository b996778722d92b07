// What every means can do.
#include "net/datagrams.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/command_error.h"
#include "net/testing_datagrams.h"

namespace turntable::net {
namespace {

using namespace testing;

INSTANTIATE_TEST_SUITE_P(Means, DatagramsTest,
                         ::testing::Values(Means{"sockets", DatagramKind::kSockets, true},
                                           Means{"af_xdp", DatagramKind::kAfXdp, false},
                                           Means{"af_xdp_offload", DatagramKind::kAfXdp, true}),
                         [](const auto& means) { return means.param.name; });
TEST_P(DatagramsTest, AnswersGoToTheSenderOfARequest) {
  const auto server = open_datagrams(settings());
  const Peer one = peer(), other = peer();
  one.send(server->local(), "first");
  ASSERT_TRUE(readable(server->fd()));
  ASSERT_EQ(server->receive(), 1);
  const auto first = server->at(0);
  EXPECT_EQ(text(first), "first");
  EXPECT_EQ(first.from.sin_port, one.address().sin_port);
  EXPECT_EQ(first.from.sin_addr.s_addr, one.address().sin_addr.s_addr);
  add(*server, "answer", &first.from);
  const sockaddr_in elsewhere = other.address();
  add(*server, "to another", &elsewhere);
  EXPECT_EQ(server->waiting(), 2U);
  server->flush(kNoneFails);
  EXPECT_EQ(server->waiting(), 0U);
  EXPECT_EQ(one.take().text, "answer");
  EXPECT_EQ(other.take().text, "to another");
}

TEST_P(DatagramsTest, AConnectedOneTakesItsPeersOnly) {
  const Peer peer = this->peer(), stranger = this->peer();
  const auto client = open_datagrams(connected_to(peer));
  stranger.send(client->local(), "from a stranger");
  peer.send(client->local(), "from the peer");
  EXPECT_EQ(receive(*client, 1), std::vector<std::string>{"from the peer"});
  EXPECT_EQ(client->receive(), 0);
  add(*client, "request", nullptr);
  client->flush(kNoneFails);
  EXPECT_EQ(peer.take().text, "request");
}

TEST_P(DatagramsTest, EachHasItsClassOfService) {
  const Peer peer = this->peer();
  const sockaddr_in to = peer.address();
  for (const bool connected : {false, true}) {
    const auto datagrams = open_datagrams(connected ? connected_to(peer) : settings());
    for (const int dscp : {0, 46, 0, 63, 1})
      add(*datagrams, std::to_string(dscp), connected ? nullptr : &to,
          static_cast<std::uint8_t>(dscp));
    datagrams->flush(kNoneFails);
    for (const int dscp : {0, 46, 0, 63, 1}) {
      const auto arrived = peer.take();
      EXPECT_EQ(arrived.text, std::to_string(dscp));
      EXPECT_EQ(arrived.type_of_service, dscp * 4);
    }
    // What a slot had before does not stay.
    for (int i = 0; i < 5; ++i) add(*datagrams, "plain", connected ? nullptr : &to);
    datagrams->flush(kNoneFails);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(peer.take().type_of_service, 0);
  }
}

TEST_P(DatagramsTest, StampsAreTheKernels) {
  const auto server = open_datagrams(settings());
  const Peer peer = this->peer();
  // Where nobody has asked for stamps before, the kernel begins a little later: until then it
  // stamps what is read.
  bool is_stamped_on_arrival = false;
  for (int tries = 0; tries < 1000 && !is_stamped_on_arrival; ++tries) {
    const std::int64_t before = realtime_ns();
    peer.send(server->local(), "stamped");
    ASSERT_TRUE(readable(server->fd()));
    const std::int64_t arrived = realtime_ns();
    while (realtime_ns() < arrived + 1'000'000) {
    }
    ASSERT_EQ(server->receive(), 1);
    ASSERT_TRUE(server->at(0).has_stamp);
    EXPECT_GE(server->at(0).received_ns, before);
    is_stamped_on_arrival = server->at(0).received_ns <= arrived;
  }
  EXPECT_TRUE(is_stamped_on_arrival);
}

TEST_P(DatagramsTest, ALongerDatagramIsSeenAsSuch) {
  DatagramSettings settings = this->settings();
  settings.datagram_bytes = 100;
  const auto server = open_datagrams(settings);
  const Peer peer = this->peer();
  peer.send(server->local(), std::string(100, 'x'));
  ASSERT_TRUE(readable(server->fd()));
  ASSERT_EQ(server->receive(), 1);
  EXPECT_FALSE(server->at(0).truncated);
  peer.send(server->local(), std::string(101, 'x'));
  ASSERT_TRUE(readable(server->fd()));
  ASSERT_EQ(server->receive(), 1);
  EXPECT_TRUE(server->at(0).truncated);
}

TEST_P(DatagramsTest, ABatchIsFullAndMayLeaveInParts) {
  const Peer peer = this->peer();
  const auto client = open_datagrams(connected_to(peer));
  std::size_t added = 0;
  for (; !client->full(); ++added) add(*client, std::to_string(added), nullptr);
  EXPECT_EQ(added, client->capacity());
  EXPECT_EQ(client->waiting(), added);
  client->flush(2, kNoneFails);
  EXPECT_EQ(client->waiting(), added - 2);
  client->flush(kNoneFails);
  EXPECT_FALSE(client->full());
  for (std::size_t i = 0; i < added; ++i) EXPECT_EQ(peer.take().text, std::to_string(i));
}

TEST_P(DatagramsTest, WhatIsNotReadInTimeIsCounted) {
  DatagramSettings settings = this->settings();
  settings.queued = 1;
  const auto server = open_datagrams(settings);
  const Peer peer = this->peer();
  EXPECT_EQ(server->drops(), 0U);
  std::uint32_t sent = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (server->drops() < 10) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    peer.send(server->local(), std::to_string(sent++));
  }
  const std::uint32_t dropped = server->drops();
  const auto kept = receive(*server, sent - dropped);
  EXPECT_EQ(kept.size(), sent - dropped);
  EXPECT_EQ(kept.front(), "0");
  EXPECT_EQ(server->receive(), 0);
}

TEST_P(DatagramsTest, APeerThatIsGoneIsAnErrorOfTheConnectedOne) {
  if (GetParam().kind == DatagramKind::kAfXdp) GTEST_SKIP() << "AF_XDP does not see ICMP";
  Peer peer = this->peer();
  const auto client = open_datagrams(connected_to(peer));
  peer.close();
  add(*client, "to nobody", nullptr);
  client->flush(kNoneFails);
  ASSERT_TRUE(readable(client->fd()));
  EXPECT_EQ(client->receive(), -ECONNREFUSED);
  EXPECT_EQ(client->receive(), 0);
}

TEST_P(DatagramsTest, WhatTheSystemRefusesComesBackWithItsTag) {
  const Peer peer = this->peer();
  const sockaddr_in good = peer.address();
  sockaddr_in unreachable = good;
  unreachable.sin_addr.s_addr = htonl(0xF0000001);  // 240.0.0.1 is reserved
  const auto datagrams = open_datagrams(settings());
  add(*datagrams, "before", &good, 0, 1);
  add(*datagrams, "refused", &unreachable, 0, 2);
  add(*datagrams, "after", &good, 0, 3);
  std::vector<std::uint32_t> failed;
  datagrams->flush([&](std::uint32_t tag, int error) {
    failed.push_back(tag);
    EXPECT_GT(error, 0);
  });
  EXPECT_EQ(failed, std::vector<std::uint32_t>{2});
  EXPECT_EQ(peer.take().text, "before");
  EXPECT_EQ(peer.take().text, "after");
  EXPECT_EQ(datagrams->waiting(), 0U);
}

TEST_P(DatagramsTest, APortThatIsTakenIsRefusedAndNamed) {
  const auto first = open_datagrams(settings());
  try {
    DatagramSettings settings = this->settings();
    settings.local = first->local();
    open_datagrams(settings);
    FAIL() << "opened";
  } catch (const CommandError& error) {
    EXPECT_NE(std::string(error.what()).find(std::to_string(ntohs(first->local().sin_port))),
              std::string::npos);
  }
}

TEST_P(DatagramsTest, TensOfThousandsGoAndComeInOrder) {
  constexpr int kRounds = 1000, kEach = 50;
  const Peer peer = this->peer();
  const auto client = open_datagrams(connected_to(peer));
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::string> sent;
    for (int i = 0; i < kEach; ++i) {
      sent.push_back(std::to_string(round) + std::string(static_cast<std::size_t>(i), 'x'));
      add(*client, sent.back(), nullptr);
    }
    client->flush(kNoneFails);
    for (const std::string& text : sent) {
      ASSERT_EQ(peer.take().text, text);
      peer.send(client->local(), text);
    }
    ASSERT_EQ(receive(*client, kEach), sent);
  }
  EXPECT_EQ(client->drops(), 0U);
}

TEST_P(DatagramsTest, AnInterfaceIsUsedAgainAndAgain) {
  const Peer peer = this->peer();
  for (int i = 0; i < 160; ++i) {
    const auto client = open_datagrams(connected_to(peer));
    while (!client->full()) add(*client, "left", nullptr);
    client->flush(10, kNoneFails);  // the others are given up
    for (int j = 0; j < 10; ++j) ASSERT_EQ(peer.take().text, "left");
    for (int j = 0; j < 60; ++j) peer.send(client->local(), "not read");
  }
  const auto client = open_datagrams(connected_to(peer));
  peer.send(client->local(), "at last");
  EXPECT_EQ(receive(*client, 1), std::vector<std::string>{"at last"});
}

TEST_P(DatagramsTest, EachPortHasItsOwn) {
  const Peer peer = this->peer();
  std::vector<std::unique_ptr<Datagrams>> servers;
  for (int i = 0; i < 20; ++i) servers.push_back(open_datagrams(settings()));
  for (std::size_t i = 0; i < servers.size(); ++i)
    peer.send(servers[i]->local(), std::to_string(i));
  for (std::size_t i = 0; i < servers.size(); ++i)
    EXPECT_EQ(receive(*servers[i], 1), std::vector<std::string>{std::to_string(i)});
}

TEST(DatagramKind, IsRefusedAndNamedWhereItCannotBe) {
  const auto refusal = [](const std::string& name, const std::string& interface) -> std::string {
    try {
      datagram_kind(name, interface);
    } catch (const CommandError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(datagram_kind("sockets", ""), DatagramKind::kSockets);
  EXPECT_EQ(datagram_kind("af_xdp", "data"), DatagramKind::kAfXdp);
  EXPECT_EQ(refusal("pigeons", ""), "--datagrams is \"pigeons\"; expected sockets or af_xdp");
  EXPECT_EQ(refusal("af_xdp", ""),
            "--datagrams af_xdp: --interface is missing; expected the name of one");
}

}  // namespace
}  // namespace turntable::net
