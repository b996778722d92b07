// hlserver-node and hlload-node: their commands, one after the other as a run sends them.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>

#include "common/clock.h"
#include "common/command_error.h"
#include "common/scratch_directory.h"
#include "common/unique_fd.h"
#include "net/ipv4.h"
#include "net/testing_credentials.h"
#include "shadowfax/client/load_node.h"
#include "shadowfax/cluster/asking.h"
#include "shadowfax/cluster/metadata_node.h"
#include "shadowfax/server/server_node.h"

namespace turntable::shadowfax {
namespace {

using Json = nlohmann::json;

std::string message_of(const std::function<void()>& command) {
  try {
    command();
  } catch (const CommandError& error) {
    return error.code() + ": " + error.what();
  }
  return "";
}

const Json kNoErrors = {
    {"failed", 0}, {"lost_sessions", 0}, {"unreplayed", 0}, {"wrong_values", 0}};

class NodesTest : public ::testing::Test {
 protected:
  // Workers listen on given ports: an address for each test, so that some may run at once.
  void SetUp() override {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    address_ = "127.0.22." + std::to_string(std::hash<std::string>()(name) % 200 + 1);
    server_.emplace(address_, [this](std::string state) { server_state_ = std::move(state); });
  }

  Json server_args() const {
    return {{"workers", 2},          {"cpus", Json::array()},
            {"index_bits", 10},      {"page_bits", 12},
            {"pages", 16},           {"mutable_share", 0.9},
            {"reader_threads", 2},   {"most_pending", 64},
            {"spin_us", 50},         {"capacity_per_s", 0},
            {"range_check", "view"}, {"splits", 64},
            {"uses_uring", true},    {"file", (directory_.path() / "hlog").string()}};
  }
  Json servers() const {
    return Json::array({{{"address", address_}, {"base_port", kBasePort}, {"workers", 2}}});
  }
  Json fill_args() const {
    return {
        {"servers", servers()}, {"threads", 2}, {"keys", 1000},    {"value_bytes", value_bytes_},
        {"clients", 1},         {"client", 0},  {"deadline_s", 30}};
  }
  Json load_args() const {
    return {{"servers", servers()},
            {"threads", 2},
            {"cpus", Json::array()},
            {"batch_operations", 10},
            {"pipeline", 2},
            {"mix", {{"read", 0.5}, {"upsert", 0}, {"add", 0.5}}},
            {"keys", 1000},
            {"distribution", "zipfian"},
            {"theta", 0.99},
            {"seed", 1},
            {"client", 0},
            {"clients", 1},
            {"rate_per_s", rate_},
            {"value_bytes", value_bytes_},
            {"txns_file", txns_file_}};
  }

  // Prepares, plays and answers the client's statistics.
  Json play() {
    client_.prepare(load_args());
    const std::int64_t start_ns = realtime_ns() + 20 * kMillisecondNs;
    server_->start({{"measure_from_ns", start_ns + 50 * kMillisecondNs},
                    {"measure_until_ns", start_ns + 250 * kMillisecondNs}});
    client_.start({{"start_at_ns", start_ns},
                   {"warmup_ns", 50 * kMillisecondNs},
                   {"measure_ns", 200 * kMillisecondNs},
                   {"drain_ns", 10 * kSecondNs}});
    client_.wait({{"deadline_s", 30}});
    return client_.stats(Json::object());
  }

  static net::Credentials credentials(const std::string& name) {
    return net::testing::credentials(name);
  }
  // As number 0 of a cluster, that owns all keys.
  void prepare_in_a_cluster() {
    metadata_.emplace(address_, credentials, [](const std::string&) {});
    const int port = metadata_->prepare({{"port", 0},
                                         {"file", (directory_.path() / "state.json").string()},
                                         {"owners", 1}})["port"];
    server_.emplace(
        address_, [](const std::string&) {}, credentials);
    const std::string endpoint = address_ + ":" + std::to_string(port);
    Json args = server_args();
    args["cluster"] = {{"number", 0},
                       {"metadata", endpoint},
                       {"checkpoint", (directory_.path() / "checkpoint").string()},
                       {"checkpoint_s", 1000}};
    server_->prepare(args);
    asks_.emplace("metadata", net::parse_endpoint("metadata", endpoint), credentials("test"));
  }
  void ask_metadata(ClusterMessageType type, const Json& args) {
    asks_->ask(type, args, Deadline::after_seconds(30));
  }
  // Number 1, which is no server.
  void enrol_another(std::uint16_t peer_port) {
    ask_metadata(ClusterMessageType::kEnrol, {{"server", 1},
                                              {"incarnation", "1"},
                                              {"replaces", ""},
                                              {"address", address_},
                                              {"ports", {1}},
                                              {"peer_port", peer_port}});
  }

  ScratchDirectory directory_;
  std::int64_t value_bytes_ = 8;
  std::string txns_file_;
  Json rate_;
  std::string address_, server_state_;
  std::optional<MetadataNode> metadata_;
  std::optional<Asking> asks_;
  std::optional<ServerNode> server_;
  LoadNode client_{[](const std::string&) {}};
};

TEST_F(NodesTest, AnIteration) {
  const Json prepared = server_->prepare(server_args());
  EXPECT_EQ(prepared["ports"], Json::array({22'790, 22'791}));
  EXPECT_EQ(server_state_, "serving");
  EXPECT_EQ(client_.fill(fill_args())["stored"], 1000);
  const Json client = play();
  EXPECT_EQ(client["complete"], true);
  EXPECT_EQ(client["filled"]["stored"], 1000);
  EXPECT_GT(client["filled"]["seconds"], 0);
  EXPECT_EQ(client["window_ns"], 200'000'000);
  EXPECT_EQ(client["threads"].size(), 2U);
  EXPECT_GT(client["operations"], 0);
  EXPECT_EQ(client["operations"],
            client["reads"].get<std::int64_t>() + client["adds"].get<std::int64_t>());
  EXPECT_EQ(client["not_found"], 0);
  EXPECT_EQ(client["unanswered"], 0);
  EXPECT_TRUE(client["latency_ns"].is_null());
  EXPECT_GT(client["round_trip_mean_ns"], 0);
  EXPECT_EQ(client["errors"], kNoErrors);

  const Json server = server_->stats(Json::object());
  ASSERT_EQ(server["workers"].size(), 2U);
  EXPECT_GT(server["workers"][0]["operations"], 0);
  EXPECT_GT(server["workers"][1]["batches"], 0);
  EXPECT_GT(server["workers"][1]["cpu_ns"], 0);
  EXPECT_EQ(server["refused_openings"], (Json{{"format", 0},
                                              {"unproven", 0},
                                              {"silent", 0},
                                              {"crowded", 0},
                                              {"value_bytes", 0},
                                              {"in_use", 0}}));
  EXPECT_EQ(server["log"]["memory_bytes"], 65'536);
  const Json sums = server_->sums({{"keys", 1000}, {"deadline_s", 30}});
  EXPECT_EQ(sums["found"], 1000);
  EXPECT_EQ(sums["sum"], client["adds_acknowledged_total"]);
}

TEST_F(NodesTest, OnlyClientsThatKnowTheSecretOfTheRunAreServed) {
  const CredentialsFor known = [](const std::string& name) {
    return net::testing::credentials(name);
  };
  server_.emplace(
      address_, [](const std::string&) {}, known);
  server_->prepare(server_args());
  EXPECT_NE(message_of([&] { client_.fill(fill_args()); }).find("expected --secret FILE"),
            std::string::npos);
  LoadNode client([](const std::string&) {}, known);
  EXPECT_EQ(client.fill(fill_args())["stored"], 1000);
}

TEST_F(NodesTest, AServerWithoutASecretIsOfItsMachineAlone) {
  server_.emplace("0.0.0.0", [](const std::string&) {});
  EXPECT_NE(message_of([&] {
              server_->prepare(server_args());
            }).find("bad_argument: hlserver-node prepare: address 0.0.0.0 without a secret"),
            std::string::npos);
}

// The server counts what the client counts: both windows are the same instants.
TEST_F(NodesTest, AdditionsAreCountedSinceTheStoresWereFilled) {
  server_->prepare(server_args());
  client_.fill(fill_args());
  const std::uint64_t first = play()["adds_acknowledged_total"];
  const Json second = play();
  EXPECT_GT(second["adds_acknowledged_total"], first);
  EXPECT_EQ(server_->sums({{"keys", 1000}, {"deadline_s", 30}})["sum"],
            second["adds_acknowledged_total"]);
  server_->prepare(server_args());
  client_.fill(fill_args());
  const Json third = play();
  EXPECT_EQ(server_->sums({{"keys", 1000}, {"deadline_s", 30}})["sum"],
            third["adds_acknowledged_total"]);
}

// Reads look at all of a value, additions add to its beginning.
TEST_F(NodesTest, LongerValues) {
  value_bytes_ = 256;
  server_->prepare(server_args());
  EXPECT_EQ(client_.fill(fill_args())["stored"], 1000);
  for (const Json& rate : {Json(nullptr), Json(5000)}) {
    rate_ = rate;
    const Json client = play();
    EXPECT_GT(client["reads"], 0);
    EXPECT_EQ(client["errors"], kNoErrors);
    const Json sums = server_->sums({{"keys", 1000}, {"deadline_s", 30}});
    EXPECT_EQ(sums["found"], 1000);
    EXPECT_EQ(sums["sum"], client["adds_acknowledged_total"]);
  }
  // Whoever expects others says so.
  value_bytes_ = 264;
  rate_ = nullptr;
  EXPECT_GT(play()["errors"]["wrong_values"], 0);
  value_bytes_ = 8;
  EXPECT_GT(play()["errors"]["wrong_values"], 0);
}

// Keys that are no small numbers, of which a tenth is asked for.
TEST_F(NodesTest, KeysOfFiles) {
  const auto write = [this](const char* name, std::uint64_t count) {
    std::string path = directory_.path() / name;
    std::ofstream file(path, std::ios::binary);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t key = (i * 7919 + 1) << 20U;
      file.write(reinterpret_cast<const char*>(&key), sizeof key);
    }
    return path;
  };
  server_->prepare(server_args());
  Json fill = fill_args();
  fill["load_file"] = write("load", 1000);
  EXPECT_EQ(client_.fill(fill)["stored"], 1000);
  txns_file_ = write("txns", 100);
  const Json client = play();
  EXPECT_EQ(client["not_found"], 0);
  EXPECT_EQ(client["errors"], kNoErrors);
  const Json sums = server_->sums({{"keys", nullptr}, {"deadline_s", 30}});
  EXPECT_EQ(sums["found"], 1000);
  EXPECT_EQ(sums["sum"], client["adds_acknowledged_total"]);
  EXPECT_EQ(server_->sums({{"keys", 1000}, {"deadline_s", 30}})["found"], 0);
  fill["keys"] = 999;
  EXPECT_NE(message_of([&] { client_.fill(fill); }).find("expected 7992: 8 for each of 999 keys"),
            std::string::npos);
}

// The metadata service is not asked: a server that goes on with what is another one's is seen.
TEST_F(NodesTest, SumsAreOfWhatAServerServes) {
  prepare_in_a_cluster();
  LoadNode([](const std::string&) {}, credentials).fill(fill_args());
  const Json sums_args = {{"keys", 1000}, {"deadline_s", 30}};
  EXPECT_EQ(server_->sums(sums_args)["found"], 1000);
  const Json incarnation = metadata_->stats(Json::object())["members"][0]["incarnation"];
  enrol_another(1);
  ask_metadata(ClusterMessageType::kBegin, {{"id", 1},
                                            {"incarnation", incarnation},
                                            {"first", 0},
                                            {"last", UINT64_MAX},
                                            {"source", 0},
                                            {"target", 1},
                                            {"receives_from", 64}});
  ask_metadata(ClusterMessageType::kOwn, {{"id", 1}, {"incarnation", incarnation}});
  EXPECT_EQ(metadata_->stats(Json::object())["view"]["number"], 2);
  EXPECT_EQ(server_->sums(sums_args)["found"], 1000);
}

// Its target never answers.
TEST_F(NodesTest, AMigrationThatHasNotBegunEndsWithItsServer) {
  prepare_in_a_cluster();
  const UniqueFd target(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in any_port = net::parse_ipv4("target", address_, 0);
  ASSERT_EQ(::bind(target.get(), reinterpret_cast<const sockaddr*>(&any_port), sizeof any_port), 0);
  ASSERT_EQ(::listen(target.get(), 1), 0);
  const timeval patience{.tv_sec = 30, .tv_usec = 0};
  ASSERT_EQ(::setsockopt(target.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
  enrol_another(ntohs(net::address_of(target.get()).sin_port));
  std::string why;
  std::thread migrates([&] {
    why = message_of([&] {
      server_->migrate({{"to", 1}, {"share", 0.5}, {"sample_s", 0}, {"indirection", false}});
    });
  });
  const UniqueFd asked(::accept(target.get(), nullptr, nullptr));
  EXPECT_TRUE(asked);
  server_->stop(Json::object());
  migrates.join();
  EXPECT_NE(why.find("the server is ending"), std::string::npos) << why;
}

// Of 24,000 bytes two pages of 4096 are changed in place: additions make the log longer.
TEST_F(NodesTest, ALogIsCompacted) {
  Json args = server_args();
  args["pages"] = 4;
  args["mutable_share"] = 0.5;
  args["compact_above_bytes"] = 16'384;
  server_->prepare(args);
  client_.fill(fill_args());
  Json client, server;
  constexpr int kMostPlays = 50;  // a sanitizer's are slow
  for (int i = 0; i < kMostPlays && (i == 0 || server["log"]["compactions"] == 0); ++i) {
    client = play();
    server = server_->stats(Json::object());
  }
  EXPECT_EQ(server["errors"], Json({{"log_write", 0}, {"compaction", 0}}));
  EXPECT_GT(server["log"]["compactions"], 0) << server["log"];
  EXPECT_GT(server["log"]["kept_records"], 0);
  EXPECT_EQ(server["log"]["freed_bytes"].get<std::uint64_t>() + 64, server["log"]["begin"]);
  const Json sums = server_->sums({{"keys", 1000}, {"deadline_s", 30}});
  EXPECT_EQ(sums["found"], 1000);
  EXPECT_EQ(sums["sum"], client["adds_acknowledged_total"]);
}

TEST_F(NodesTest, WhatIsWrongIsSaid) {
  Json args = server_args();
  args["pages"] = 3;
  EXPECT_NE(message_of([&] { server_->prepare(args); })
                .find("bad_argument: hlserver-node prepare: "
                      "log: 3 pages in memory"),
            std::string::npos);
  EXPECT_EQ(server_state_, "idle");
  args = server_args();
  args["compact_above_bytes"] = 4095;
  EXPECT_NE(message_of([&] { server_->prepare(args); })
                .find("bad_argument: hlserver-node prepare: a log that is compacted above 4095 "
                      "bytes; expected at least a page, 4096"),
            std::string::npos);
  args = server_args();
  args["file"] = "/nowhere/hlog";
  EXPECT_NE(message_of([&] { server_->prepare(args); }).find("/nowhere/hlog"), std::string::npos);
  EXPECT_NE(message_of([&] { server_->stats(Json::object()); }).find("send `prepare` first"),
            std::string::npos);
  EXPECT_NE(message_of([&] { client_.prepare(load_args()); }).find("cannot connect"),
            std::string::npos);
  args = load_args();
  args["mix"]["read"] = 0.6;
  EXPECT_NE(message_of([&] { client_.prepare(args); }).find("add up to 1"), std::string::npos);
  args = load_args();
  args["distribution"] = "latest";
  EXPECT_NE(message_of([&] { client_.prepare(args); }).find("uniform or zipfian"),
            std::string::npos);
  args = load_args();
  args["value_bytes"] = 1024;
  args["batch_operations"] = 1016;  // 1,048,576 / 1,033 = 1,015.1
  EXPECT_NE(message_of([&] { client_.prepare(args); }).find("1 to 1015"), std::string::npos);
  server_->prepare(server_args());
  value_bytes_ = 2049;
  EXPECT_NE(message_of([&] { client_.fill(fill_args()); }).find("expected 8 to 2048"),
            std::string::npos);
  EXPECT_NE(message_of([&] { server_->stats(Json::object()); }).find("no window is over"),
            std::string::npos);
}

}  // namespace
}  // namespace turntable::shadowfax
