#include "netclone/client/path_probe.h"

#include <gtest/gtest.h>

#include "common/clock.h"
#include "common/command_error.h"
#include "netclone/choices.h"
#include "netclone/client/codec.h"
#include "netclone/client/testing.h"

namespace turntable::netclone {
namespace {

using testing::FakeServer;

PathDelay probe(const Traffic& traffic, std::int64_t deadline_ns = 20'000 * kMillisecondNs) {
  const auto datagrams = testing::open_loopback();
  return probe_path("test", traffic, {.client = 2, .per_server = 5, .deadline_ns = deadline_ns},
                    *datagrams);
}

TEST(PathProbe, AsksEachServerInTurn) {
  FakeServer zero(0), one(1);
  Traffic traffic{.method = Method::kNoClone, .servers = {zero.address(), one.address()}};
  const PathDelay delay = probe(traffic);
  ASSERT_EQ(delay.by_server_ns.size(), 2U);
  EXPECT_GT(delay.by_server_ns[0], 0);
  EXPECT_GT(delay.by_server_ns[1], 0);
  for (const Packet& request : zero.requests()) {
    EXPECT_EQ(request.operation, Operation::kProbe);
    EXPECT_EQ(request.client, 2);
    EXPECT_GE(number_of(request.request), kFirstProbe);
  }
}

// A server that holds a probe back by 20 ms is seen so, and the others are not.
TEST(PathProbe, TheDelayIsTheServersOwn) {
  FakeServer zero(0), one(1, [](Packet&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return 1;
  });
  Traffic traffic{.method = Method::kCClone, .servers = {zero.address(), one.address()}};
  const PathDelay delay = probe(traffic);
  EXPECT_LT(delay.by_server_ns[0], 20 * kMillisecondNs);
  EXPECT_GE(delay.by_server_ns[1], 20 * kMillisecondNs);
}

TEST(PathProbe, ALostProbeIsRepeated) {
  int seen = 0;
  FakeServer zero(0, [&](Packet&) { return ++seen % 2; });
  Traffic traffic{.method = Method::kNoClone, .servers = {zero.address()}};
  EXPECT_GT(probe(traffic).median_ns, 0);
  EXPECT_GE(zero.requests().size(), 9U);
}

TEST(PathProbe, AServerThatDoesNotAnswerIsNamed) {
  FakeServer zero(0), one(1, [](Packet&) { return 0; });
  Traffic traffic{.method = Method::kNoClone, .servers = {zero.address(), one.address()}};
  try {
    probe(traffic, 1000 * kMillisecondNs);
    FAIL() << "was taken for there";
  } catch (const CommandError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("test: server 1 (127.0.0.1, UDP port " +
                           std::to_string(ntohs(one.address().sin_port)) +
                           ") answered no probe within 1 s"),
              std::string::npos)
        << message;
    EXPECT_EQ(error.code(), "unavailable");
  }
}

// The switch is played, and has all servers behind its address: it sends to the first server of the
// group, or to both.
TEST(PathProbe, InNetCloneGroupsLeadToEachServer) {
  FakeServer gate(0, [](Packet& packet) {
    packet.server = pair_of_group(packet.group, 3).first;
    return 2;  // the slower copy's answer is not taken for the next one's
  });
  const Traffic traffic{.method = Method::kNetClone,
                        .servers = std::vector<sockaddr_in>(3, gate.address()),
                        .gate = gate.address()};
  EXPECT_EQ(probe(traffic).by_server_ns.size(), 3U);
  EXPECT_EQ(gate.requests().size(), 15U);
}

// Two servers say that they are the first one.
TEST(PathProbe, NobodyElseAnswersAProbe) {
  FakeServer zero(0), other(0);
  Traffic traffic{.method = Method::kNoClone, .servers = {zero.address(), other.address()}};
  EXPECT_THROW(probe(traffic, 150 * kMillisecondNs), CommandError);
  traffic.servers = {other.address()};
  EXPECT_NO_THROW(probe(traffic));
}

TEST(PathProbe, AServerThatTheOthersAnswerForIsNamedToo) {
  Traffic traffic{.method = Method::kLaedge, .servers = std::vector<sockaddr_in>(3)};
  std::uint32_t turn = 0;
  FakeServer gate(0, [&](Packet& packet) {
    packet.server = turn++ % 2;
    return 1;
  });
  traffic.gate = gate.address();
  try {
    probe(traffic, 1000 * kMillisecondNs);
    FAIL() << "was taken for there";
  } catch (const CommandError& error) {
    EXPECT_NE(std::string(error.what()).find("server 2 "), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("through 127.0.0.1"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace turntable::netclone
