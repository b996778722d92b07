// Whole iterations of clients and servers over loopback.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/clock.h"
#include "common/command_error.h"
#include "homa/nodes/arguments.h"
#include "homa/nodes/client_node.h"
#include "homa/nodes/server_node.h"
#include "net/udp.h"

namespace turntable::homa {
namespace {

using Json = nlohmann::json;

constexpr const char* kHost = "127.0.0.1";

// A port that is free now.
std::uint16_t free_port() {
  const UniqueFd socket = net::open_udp(net::parse_ipv4("test", kHost, 0), 1);
  return ntohs(net::address_of(socket.get()).sin_port);
}

net::DatagramSettings at(std::uint16_t port) {
  return {.local = net::parse_ipv4("test", kHost, port),
          .queued = kQueuedDatagrams,
          .datagram_bytes = kMaxDatagramBytes};
}

class NodesTest : public ::testing::Test {
 protected:
  // Ticks are long, so that a busy machine is not taken for a lost packet.
  Json transport_ = {{"kind", "homa"}, {"max_message_bytes", 1'000'000}, {"tick_ms", 50}};
  Json client_args_ = {{"client", 0},
                       {"seed", 7},
                       {"sizes", {{"bytes", 100}}},
                       {"payload_bps", 4e5},
                       {"realtime", false}};
  Json server_args_ = {{"realtime", false}};

  Json endpoint(std::uint16_t port) { return {{"address", kHost}, {"port", port}}; }

  void prepare() {
    server_args_["transport"] = client_args_["transport"] = transport_;
    server_args_["clients"] = {endpoint(client_port_)};
    client_args_["servers"] = Json::array();
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      servers_[i]->prepare(server_args_);
      client_args_["servers"].push_back(endpoint(server_ports_[i]));
    }
    client_.prepare(client_args_);
  }

  // 100 ms of warm-up, 400 ms of window.
  Json run() {
    prepare();
    for (const auto& server : servers_) server->start(Json::object());
    client_.start({{"start_at_ns", realtime_ns()},
                   {"warmup_ns", 100 * kMillisecondNs},
                   {"measure_ns", 400 * kMillisecondNs},
                   {"drain_ns", 20'000 * kMillisecondNs}});
    client_.wait({{"deadline_s", 60}});
    return client_.stats(Json::object());
  }

  std::string error_of() {
    try {
      prepare();
    } catch (const CommandError& error) {
      return error.what();
    }
    return "was taken";
  }

  std::vector<std::uint16_t> server_ports_{free_port(), free_port()};
  std::uint16_t client_port_ = free_port();
  std::vector<std::unique_ptr<ServerNode>> servers_ = [this] {
    std::vector<std::unique_ptr<ServerNode>> servers;
    for (const std::uint16_t port : server_ports_)
      servers.push_back(std::make_unique<ServerNode>(at(port), [](const std::string&) {}));
    return servers;
  }();
  ClientNode client_{at(client_port_), [](const std::string&) {}};
};

// 4e5 bits/s of 100 bytes are 500 calls/s, 200 in the window: within five standard deviations.
TEST_F(NodesTest, EveryCallIsAnsweredWithItsBytes) {
  const Json stats = run();
  EXPECT_NEAR(stats["offered"].get<double>(), 200, 5 * 14.2);
  EXPECT_EQ(stats["answered"], stats["offered"]);
  EXPECT_EQ(stats["offered_bytes"], stats["offered"].get<int>() * 100);
  EXPECT_EQ(stats["wrong"], 0);
  EXPECT_EQ(stats["aborted"], 0);
  EXPECT_EQ(stats["unanswered"], 0);
  std::uint64_t offered = 0;
  for (const Json& second : stats["seconds"]) offered += second["offered"].get<std::uint64_t>();
  EXPECT_EQ(offered, stats["offered"]);
  std::uint64_t executed = 0;
  for (const auto& server : servers_) {
    const Json theirs = server->stats(Json::object());
    EXPECT_GT(theirs["transport"]["executed"], 0) << "servers are chosen by chance";
    executed += theirs["transport"]["executed"].get<std::uint64_t>();
  }
  EXPECT_EQ(executed, stats["transport"]["calls"]);
}

TEST_F(NodesTest, BasicSendsLongMessagesToo) {
  transport_["kind"] = "basic";
  client_args_["sizes"] = {{"bytes", 300'000}};
  client_args_["payload_bps"] = 1e8;
  const Json stats = run();
  EXPECT_GT(stats["offered"], 0);
  EXPECT_EQ(stats["answered"], stats["offered"]);
  EXPECT_EQ(stats["wrong"], 0);
  EXPECT_GT(stats["transport"]["control_packets_sent"], 0) << "grants";
}

TEST_F(NodesTest, ATableOfSizes) {
  client_args_["sizes"] = {{"file", TURNTABLE_SIZES "/W3.txt"}, {"cap", 1'000'000}};
  client_args_["payload_bps"] = 2e7;
  transport_["levels"] = 8;
  transport_["unscheduled_levels"] = 4;
  transport_["cutoffs"] = {469, 5521, 15267};
  const Json stats = run();
  EXPECT_GT(stats["offered"], 100);
  EXPECT_EQ(stats["answered"], stats["offered"]);
  EXPECT_EQ(stats["wrong"], 0);
}

// Two seconds: the first is told while the second runs, and nothing of it changes any more.
TEST_F(NodesTest, SecondsThatAreOverAreToldWhileItRuns) {
  prepare();
  client_.start({{"start_at_ns", realtime_ns() + 50 * kMillisecondNs},
                 {"warmup_ns", 0},
                 {"measure_ns", 2000 * kMillisecondNs},
                 {"drain_ns", 20'000 * kMillisecondNs}});
  const std::int64_t deadline_ns = monotonic_ns() + 20'000 * kMillisecondNs;
  Json so_far;
  do {
    so_far = client_.stats(Json::object());
  } while (so_far.contains("running") && so_far["seconds"].empty() && monotonic_ns() < deadline_ns);
  ASSERT_EQ(so_far["running"], true);
  ASSERT_EQ(so_far["seconds"].size(), 1);
  EXPECT_EQ(client_.stats({{"from_second", 1}})["seconds"].size(), 0);
  client_.wait({{"deadline_s", 60}});
  const Json stats = client_.stats(Json::object());
  ASSERT_EQ(stats["seconds"].size(), 2);
  EXPECT_EQ(stats["seconds"][0], so_far["seconds"][0]);
  std::uint64_t answered = 0;
  for (const Json& second : stats["seconds"]) {
    answered += second["answered"].get<std::uint64_t>();
    EXPECT_GT(second["rtt_p50_ns"], 0);
    EXPECT_LE(second["rtt_p50_ns"], second["rtt_p99_ns"]);
    EXPECT_LE(second["rtt_p99_ns"], second["rtt_p999_ns"]);
  }
  EXPECT_LE(answered, stats["answered"]);
  EXPECT_GT(answered, 0);
}

// Nobody answers: 500 calls/s, of which 50 are under way and all others wait for a place.
TEST_F(NodesTest, CallsWithoutAnAnswerAreOpenWhenTheirSecondEnds) {
  prepare();
  for (const auto& server : servers_) server->stop(Json::object());
  client_.start({{"start_at_ns", realtime_ns() + 50 * kMillisecondNs},
                 {"warmup_ns", 0},
                 {"measure_ns", 1000 * kMillisecondNs},
                 {"drain_ns", 0}});
  client_.wait({{"deadline_s", 60}});
  const Json stats = client_.stats(Json::object());
  EXPECT_EQ(stats["seconds"][0]["open"], stats["offered"]);
  EXPECT_EQ(stats["seconds"][0]["waiting_max"], stats["offered"].get<int>() - 50);
  EXPECT_EQ(stats["seconds"][0]["rtt_p99_ns"], 0) << "there is none";
}

// 100 ms at 10 Mb/s are 125,000 bytes: what leaves in a window of 400 ms and the warm-up is less
// than the link carries, though three times as much is offered.
TEST_F(NodesTest, TheUplinkHasItsRate) {
  transport_["link_bps"] = 10'000'000;
  client_args_["sizes"] = {{"bytes", 50'000}};
  client_args_["payload_bps"] = 3e7;
  client_args_["outstanding"] = 4;
  const std::int64_t begin_ns = monotonic_ns();
  const Json stats = run();
  const double elapsed_s = static_cast<double>(monotonic_ns() - begin_ns) / 1e9;
  EXPECT_LE(stats["transport"]["wire_bytes_sent"].get<double>(), elapsed_s * 10e6 / 8 + 4 * 1600);
  EXPECT_EQ(stats["answered"], stats["offered"]) << "in the drain";
  EXPECT_GT(stats["waited"], 0);
  EXPECT_EQ(stats["outstanding_max"], 4);
}

TEST_F(NodesTest, IdleRoundTripsAndSlowdowns) {
  prepare();
  const Json idle = client_.idle({{"bytes", {100, 20'000}}, {"calls", 20}, {"deadline_s", 30}});
  ASSERT_EQ(idle["round_trips"].size(), 2);
  EXPECT_GT(idle["round_trips"][0]["min_ns"], 0);
  EXPECT_LE(idle["round_trips"][0]["min_ns"], idle["round_trips"][0]["median_ns"]);
  EXPECT_EQ(idle["round_trips"][0]["calls"], 20);
  EXPECT_LE(idle["round_trips"][0]["median_ns"], idle["round_trips"][0]["p90_ns"]);
  EXPECT_LE(idle["round_trips"][0]["p90_ns"], idle["round_trips"][0]["p99_ns"]);
  EXPECT_GE(idle["round_trips"][0]["mean_ns"], idle["round_trips"][0]["min_ns"]);
  client_args_["idle"] = {{100, idle["round_trips"][0]["min_ns"]}};
  EXPECT_EQ(run()["wrong"], 0);
}

// 100 bytes are 20 + 100 + 42 + 24 bytes on a link: 1.488 ms at 1 Mb/s, there and back again.
TEST_F(NodesTest, APacketLeavesItsLinkWithItsLastBit) {
  transport_["link_bps"] = 1'000'000;
  prepare();
  const Json idle = client_.idle({{"bytes", {100}}, {"calls", 5}, {"deadline_s", 30}});
  EXPECT_GE(idle["round_trips"][0]["min_ns"], 2 * 1'488'000);
}

// A denominator of 1 ns would make slowdowns that no histogram holds; what was measured does not.
TEST_F(NodesTest, SlowdownsAreOfWhatTheNodeHasMeasured) {
  prepare();
  const Json idle = client_.idle({{"bytes", {100}}, {"calls", 20}, {"deadline_s", 30}});
  client_args_["idle"] = "measured";
  const Json stats = run();
  EXPECT_EQ(stats["idle"], Json({{100, idle["round_trips"][0]["min_ns"].get<double>()}}));
}

TEST_F(NodesTest, OfASizeThatIsMeasuredAgainTheLeastCounts) {
  prepare();
  const Json idle =
      client_.idle({{"bytes", {100, 5000, 100, 100}}, {"calls", 3}, {"deadline_s", 30}});
  const auto& rows = idle["round_trips"];
  ASSERT_EQ(rows.size(), 4);
  const double least = std::min({rows[0]["min_ns"].get<double>(), rows[2]["min_ns"].get<double>(),
                                 rows[3]["min_ns"].get<double>()});
  client_args_["idle"] = "measured";
  EXPECT_EQ(run()["idle"], Json({{100, least}, {5000, rows[1]["min_ns"].get<double>()}}));
}

TEST_F(NodesTest, MeasuredRoundTripsMustHaveBeenMeasured) {
  client_args_["idle"] = "measured";
  try {
    prepare();
    FAIL();
  } catch (const CommandError& error) {
    EXPECT_NE(std::string(error.what()).find("`idle` to come before"), std::string::npos);
  }
}

TEST_F(NodesTest, AnIdleCallWithoutAServerEndsAtTheDeadline) {
  prepare();
  for (const auto& server : servers_) server->stop(Json::object());
  try {
    client_.idle({{"bytes", {100}}, {"calls", 1}, {"deadline_s", 0.1}});
    FAIL();
  } catch (const CommandError& error) {
    EXPECT_EQ(error.code(), "timeout");
    EXPECT_NE(std::string(error.what()).find(std::to_string(server_ports_[0])), std::string::npos);
  }
}

TEST_F(NodesTest, ShortResponses) {
  server_args_["response_bytes"] = client_args_["response_bytes"] = 100;
  client_args_["sizes"] = {{"bytes", 5'000}};
  const Json stats = run();
  EXPECT_GT(stats["answered"], 0);
  EXPECT_EQ(stats["wrong"], 0);
}

// Of every kind of packet, all lengths up to its own and beyond, from the client's own address; and
// from a stranger's. Calls are answered all the same.
TEST_F(NodesTest, PacketsThatAreNoneAreCounted) {
  prepare();
  client_.stop(Json::object());
  client_.prepare(client_args_);
  const UniqueFd stranger = net::open_udp(net::parse_ipv4("test", kHost, 0), 1);
  const sockaddr_in to = net::parse_ipv4("test", kHost, server_ports_[0]);
  int sent = 0;
  for (int opcode = 0; opcode < 256; opcode += 1) {
    for (const std::size_t length : {0U, 1U, 17U, 18U, 19U, 20U, 23U, 26U, 27U, 30U, 31U, 1500U}) {
      std::vector<std::uint8_t> bytes(length, static_cast<std::uint8_t>(opcode * 37 + 255));
      if (!bytes.empty()) bytes[0] = static_cast<std::uint8_t>(opcode);
      ::sendto(stranger.get(), bytes.data(), bytes.size(), 0,
               reinterpret_cast<const sockaddr*>(&to), sizeof to);
      ++sent;
    }
  }
  const std::int64_t deadline_ns = monotonic_ns() + 20'000 * kMillisecondNs;
  Json theirs;
  do {
    theirs = servers_[0]->stats(Json::object());
  } while (theirs["transport"]["strangers"].get<int>() + theirs["socket_drops"].get<int>() < sent &&
           monotonic_ns() < deadline_ns);
  EXPECT_EQ(theirs["transport"]["strangers"].get<int>() + theirs["socket_drops"].get<int>(), sent);
  EXPECT_EQ(theirs["transport"]["executed"], 0);
}

TEST_F(NodesTest, WhatCannotBeIsRefused) {
  client_args_["sizes"] = {{"bytes", 2'000'000}};
  EXPECT_NE(error_of().find("max_message_bytes, 1000000"), std::string::npos);
  client_args_["sizes"] = {{"file", "/nowhere/W9.txt"}};
  EXPECT_NE(error_of().find("/nowhere/W9.txt"), std::string::npos);
  client_args_["sizes"] = {{"bytes", 100}};
  transport_["levels"] = 9;
  EXPECT_NE(error_of().find("levels"), std::string::npos);
  transport_["levels"] = 2;
  transport_["unscheduled_levels"] = 3;
  EXPECT_NE(error_of(), "was taken");
  transport_ = {{"kind", "sctp"}};
  EXPECT_NE(error_of().find("homa, basic or tcp"), std::string::npos);
}

}  // namespace
}  // namespace turntable::homa
