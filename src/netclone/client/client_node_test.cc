// Whole iterations of an rpcclient against servers that the test plays.
#include "netclone/client/client_node.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "common/clock.h"
#include "common/command_error.h"
#include "common/scratch_directory.h"
#include "netclone/client/testing.h"

namespace turntable::netclone {
namespace {

using Json = nlohmann::json;
using testing::FakeServer;

class ClientNodeTest : public ::testing::Test {
 protected:
  ClientNodeTest() {
    for (std::uint32_t i = 0; i < 2; ++i) {
      servers_.push_back(std::make_unique<FakeServer>(i, [this](Packet& packet) {
        return packet.operation == Operation::kProbe ? 1 : answers_(packet);
      }));
    }
  }
  Json args() const {
    Json servers = Json::array();
    for (const auto& server : servers_)
      servers.push_back({{"address", "127.0.0.1"}, {"port", ntohs(server->address().sin_port)}});
    return {{"method", "noclone"}, {"clients", {0, 2}},  {"clients_total", 4},
            {"servers", servers},  {"rate_per_s", 2000}, {"seed", 3}};
  }

  // 100 ms of warm-up, 400 ms of window: at 1000/s, that of these two of the four clients.
  Json run(const Json& args) {
    node_.prepare(args);
    node_.start({{"start_at_ns", realtime_ns()},
                 {"warmup_ns", 100 * kMillisecondNs},
                 {"measure_ns", 400 * kMillisecondNs},
                 {"drain_ns", drain_ns_}});
    node_.wait({{"deadline_s", 60}});
    return node_.stats(Json::object());
  }

  std::string error_of(const Json& args) {
    try {
      node_.prepare(args);
    } catch (const CommandError& error) {
      EXPECT_EQ(error.code(), "bad_argument");
      return error.what();
    }
    return "was taken: " + args.dump();
  }

  std::function<int(Packet&)> answers_ = [](Packet&) { return 1; };
  ScratchDirectory directory_;
  std::vector<std::unique_ptr<FakeServer>> servers_;
  std::int64_t drain_ns_ = 20'000 * kMillisecondNs;
  ClientNode node_{{.name = "c",
                    .directory = directory_.path(),
                    .base = {.local = net::parse_ipv4("test", "127.0.0.1", 0)}},
                   [](const std::string&) {}};
};

TEST_F(ClientNodeTest, SendsWhatIsOfferedAndCountsTheAnswers) {
  const Json stats = run(args());
  // 2000/s of four clients: these two have 400 in the window, of a Poisson process.
  EXPECT_NEAR(stats["offered"].get<double>(), 400, 5 * 20);
  EXPECT_EQ(stats["lost"], 0);
  EXPECT_EQ(stats["unanswered"], 0);
  EXPECT_EQ(stats["redundant"], 0);
  EXPECT_EQ(stats["malformed"], 0);
  EXPECT_EQ(stats["unknown"], 0);
  EXPECT_EQ(stats["requests_total"], stats["received_packets"]);
  EXPECT_EQ(stats["sent_packets"], stats["received_packets"]);
  EXPECT_EQ(stats["cloned_answers"], 0);
  EXPECT_EQ(stats["method"], "noclone");
  EXPECT_TRUE(stats["complete"].get<bool>());
  EXPECT_GT(stats["path_delay_ns"].get<double>(), 0);
  ASSERT_EQ(stats["threads"].size(), 2U);
  EXPECT_EQ(stats["threads"][1]["client"], 2);
  EXPECT_EQ(stats["threads"][0]["offered"].get<int>() + stats["threads"][1]["offered"].get<int>(),
            stats["offered"].get<int>());
  EXPECT_EQ(stats["seconds"].size(), 1U);
}

TEST_F(ClientNodeTest, TheSameSeedAsksTheSame) {
  const auto requests = [&] {
    std::vector<std::uint64_t> ids;
    for (const Packet& packet : servers_[0]->requests())
      if (packet.operation != Operation::kProbe) ids.push_back(packet.request);
    return ids;
  };
  run(args());
  auto once = requests();
  run(args());
  auto twice = requests();
  twice.erase(twice.begin(), twice.begin() + static_cast<std::ptrdiff_t>(once.size()));
  std::sort(once.begin(), once.end());
  std::sort(twice.begin(), twice.end());
  EXPECT_EQ(once, twice);
}

TEST_F(ClientNodeTest, CCloneTakesTheFirstAnswerAndCountsTheOther) {
  Json with = args();
  with["method"] = "cclone";
  const Json stats = run(with);
  EXPECT_EQ(stats["sent_packets"], 2 * stats["requests_total"].get<int>());
  EXPECT_EQ(stats["latency_sum_ns"].is_number(), true);
  EXPECT_EQ(stats["lost"], 0);
  EXPECT_EQ(stats["cloned_answers"], stats["offered"]);
  // The last slower answers may come when all requests are answered and nobody listens any more.
  EXPECT_NEAR(stats["redundant"].get<double>(), stats["requests_total"].get<double>(), 50);
  EXPECT_EQ(stats["received_packets"].get<int>(),
            stats["requests_total"].get<int>() + stats["redundant"].get<int>());
}

TEST_F(ClientNodeTest, WhatIsNotAnsweredIsLost) {
  std::atomic<int> seen{0};
  answers_ = [&](Packet&) { return ++seen % 10 == 0 ? 0 : 1; };
  drain_ns_ = 100 * kMillisecondNs;
  const Json stats = run(args());
  EXPECT_NEAR(stats["lost"].get<double>(), stats["offered"].get<double>() / 10, 2);
  EXPECT_EQ(stats["unanswered"], stats["requests_total"].get<int>() / 10);
  EXPECT_TRUE(stats["complete"].get<bool>());
}

TEST_F(ClientNodeTest, ALimitWithholdsAndIsReported) {
  answers_ = [](Packet&) { return 0; };
  drain_ns_ = 10 * kMillisecondNs;
  Json with = args();
  with["outstanding_max"] = 3;
  const Json stats = run(with);
  EXPECT_EQ(stats["requests_total"], 6);
  EXPECT_GT(stats["withheld"], 300);
  EXPECT_GT(stats["unsent"], 300);
}

TEST_F(ClientNodeTest, RecordsLatenciesInAFile) {
  Json with = args();
  with["record_latencies"] = true;
  with["over_ns"] = {0, 60'000'000'000};
  const Json stats = run(with);
  std::uint64_t sum = 0;
  std::int64_t count = 0;
  for (const Json& entry : stats["latencies"]) {
    std::ifstream file(entry["file"].get<std::string>(), std::ios::binary);
    for (std::int64_t latency; file.read(reinterpret_cast<char*>(&latency), sizeof latency);
         ++count)
      sum += static_cast<std::uint64_t>(latency);
  }
  EXPECT_EQ(count, stats["offered"]);
  EXPECT_EQ(sum, stats["latency_sum_ns"]);
  EXPECT_EQ(stats["over"][0]["requests"], count);
  EXPECT_EQ(stats["over"][1]["requests"], 0);
}

TEST_F(ClientNodeTest, ReplaysItsOwnRequests) {
  Json with = args();
  const Json fixed = {{"distribution", "fixed"}, {"us", 10}};
  with["work"] = {{"service", fixed},
                  {"jitter", {{"probability", 0}, {"factor", 1}}},
                  {"dilation", 1},
                  {"workers", 8}};
  const Json stats = run(with);
  const Json replay = node_.replay(Json::object());
  // All four clients: the window's share of 2000/s.
  EXPECT_NEAR(replay["offered"].get<double>(), 800, 5 * 29);
  EXPECT_GT(replay["offered"], stats["offered"]);
}

// The fake is the coordinator, and both servers behind it. Credits are taken for 10 us of work and
// 40 ms more, so a worker can do 25 requests per second, far fewer than are asked for.
TEST_F(ClientNodeTest, ReplaysLaedgeWithTheDelayOfItsCredits) {
  constexpr std::uint32_t kDelayNs = 40 * kMillisecondNs;
  answers_ = [](Packet& packet) {
    packet.server = packet.request % 2;
    packet.seq = 10'000 + kDelayNs;
    return 1;
  };
  Json with = args();
  const Json fixed = {{"distribution", "fixed"}, {"us", 10}};
  with.update({{"method", "laedge"},
               {"coordinator", with["servers"][0]},
               {"probes", 0},
               {"work",
                {{"service", fixed},
                 {"jitter", {{"probability", 0}, {"factor", 1}}},
                 {"dilation", 1},
                 {"workers", 1}}}});
  const Json stats = run(with);
  EXPECT_EQ(stats["credit_delay_by_server_ns"], Json::array({kDelayNs, kDelayNs}));
  const Json replay = node_.replay(Json::object());
  EXPECT_GT(replay["offered"].get<double>(), 600);
  EXPECT_NEAR(replay["delivered"].get<double>(), 0.4 * 2 * 25, 3);
}

TEST_F(ClientNodeTest, ReplayNeedsWorkAndAnIteration) {
  EXPECT_THROW(node_.replay(Json::object()), CommandError);
  run(args());
  try {
    node_.replay(Json::object());
    FAIL();
  } catch (const CommandError& error) {
    EXPECT_NE(std::string(error.what()).find("\"work\""), std::string::npos) << error.what();
  }
}

TEST_F(ClientNodeTest, StopEndsAnIteration) {
  answers_ = [](Packet&) { return 0; };
  node_.prepare(args());
  node_.start({{"start_at_ns", realtime_ns()},
               {"warmup_ns", 60'000 * kMillisecondNs},
               {"measure_ns", 60'000 * kMillisecondNs},
               {"drain_ns", 0}});
  node_.stop(Json::object());
  EXPECT_FALSE(node_.stats(Json::object())["complete"].get<bool>());
}

TEST_F(ClientNodeTest, BadArgumentsAreNamed) {
  const auto expect = [&](const Json& change, const std::string& expected) {
    Json with = args();
    with.update(change);
    const std::string message = error_of(with);
    EXPECT_NE(message.find(expected), std::string::npos) << message;
    EXPECT_EQ(message.rfind("rpcclient prepare", 0), 0U) << message;
  };
  expect({{"method", "racksched"}}, "\"racksched\"; expected one of noclone, cclone, netclone");
  expect({{"method", "netclone"}}, "\"switch_server_address\"");
  expect({{"method", "laedge"}}, "\"coordinator\"");
  expect({{"clients", {0, 4}}}, "clients");
  expect({{"clients", {1, 1}}}, "each client only once");
  expect({{"servers", {args()["servers"][0], args()["servers"][0]}}}, "only once");
  expect({{"method", "cclone"}, {"servers", {args()["servers"][0]}}}, "2 to 16 servers for cclone");
  expect({{"arrivals", {{"process", "poison"}}}}, "\"poison\"");
  expect({{"arrivals", {{"process", "legacy"}}}}, "500/s per client");
  expect({{"arrivals", {{"process", "trace"}, {"file", "/nowhere"}}}}, "/nowhere");
  expect({{"rate_per_s", 0}}, "rate_per_s");
  expect({{"mix", {{{"operation", "PUT"}, {"share", 1}}}}}, "\"mix\"");
  expect({{"typo", 1}}, "typo");
}

}  // namespace
}  // namespace turntable::netclone
