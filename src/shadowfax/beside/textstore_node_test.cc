// textstore-node and hlload-node's commands, one after the other as a run sends them.
#include "shadowfax/beside/textstore_node.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "common/clock.h"
#include "common/command_error.h"
#include "common/scratch_directory.h"
#include "shadowfax/client/load_node.h"

namespace turntable::shadowfax {
namespace {

using Json = nlohmann::json;

constexpr int kKeys = 2000;
constexpr std::int64_t kWindowNs = 200 * kMillisecondNs;

std::string message_of(const std::function<void()>& command) {
  try {
    command();
  } catch (const CommandError& error) {
    return error.code() + ": " + error.what();
  }
  return "";
}

class TextstoreNodeTest : public ::testing::Test {
 protected:
  // An address for each test, so that some may run at once.
  TextstoreNodeTest() {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    address_ = "127.0.23." + std::to_string(std::hash<std::string>()(name) % 200 + 1);
    node_.emplace(address_, directory_.path(),
                  [this](std::string state) { state_ = std::move(state); });
  }
  Json store_args(const std::string& store) const {
    Json args = {{"store", store}, {"port", 22'790}, {"cpus", Json::array()}};
    if (store == "memcached") {
      args.update({{"threads", 1},
                   {"memory_mb", memory_mb_},
                   {"hash_power", 12},
                   {"requests_per_event", 100}});
    }
    return args;
  }
  Json common(const std::string& store) const {
    return {
        {"protocol", store},
        {"servers", Json::array({{{"address", address_}, {"base_port", 22'790}, {"workers", 1}}})},
        {"threads", 1},
        {"keys", kKeys},
        {"value_bytes", 8},
        {"clients", 1},
        {"client", 0}};
  }
  Json fill(const std::string& store) {
    Json args = common(store);
    args.update({{"batch_bytes", 4096}, {"pipeline", 1}, {"deadline_s", 30}});
    return load_.fill(args);
  }
  Json load_args(const std::string& store, double reads) const {
    Json args = common(store);
    args.update({{"cpus", Json::array()},
                 {"batch_operations", 100},
                 {"pipeline", 2},
                 {"mix", {{"read", reads}, {"upsert", 0}, {"add", 1 - reads}}},
                 {"distribution", "uniform"},
                 {"theta", 0},
                 {"seed", 1}});
    return args;
  }
  // What the client has counted.
  Json play(
      const std::string& store, double reads, const std::function<void()>& meanwhile = [] {}) {
    load_.prepare(load_args(store, reads));
    const std::int64_t start_ns = realtime_ns() + 100 * kMillisecondNs;
    node_->start({{"measure_from_ns", start_ns + 50 * kMillisecondNs},
                  {"measure_until_ns", start_ns + 50 * kMillisecondNs + kWindowNs}});
    load_.start({{"start_at_ns", start_ns},
                 {"warmup_ns", 50 * kMillisecondNs},
                 {"measure_ns", kWindowNs},
                 {"drain_ns", 10 * kSecondNs}});
    meanwhile();
    load_.wait({{"deadline_s", 30}});
    return load_.stats(Json::object());
  }

  const ScratchDirectory directory_;
  std::string address_, state_;
  int memory_mb_ = 64;
  std::optional<TextstoreNode> node_;
  LoadNode load_{[](const std::string&) {}};
};

class EveryStore : public TextstoreNodeTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(EveryStore, AdditionsAreWhatTheStoreHas) {
  const std::string store = GetParam();
  const Json begun = node_->prepare(store_args(store));
  EXPECT_NE(begun["version"], "");
  EXPECT_EQ(state_, "serving");
  EXPECT_EQ(fill(store)["stored"], kKeys);
  EXPECT_EQ(node_->sums({{"keys", kKeys}, {"deadline_s", 30}}),
            Json({{"sum", 0}, {"found", kKeys}}));
  const Json counted = play(store, 0);
  EXPECT_GT(counted["operations"], 0);
  EXPECT_EQ(counted["operations"], counted["adds"]);
  EXPECT_EQ(counted["not_found"], 0);
  EXPECT_EQ(counted["unanswered"], 0);
  EXPECT_EQ(counted["failed_why"], nullptr);
  EXPECT_EQ(counted["errors"],
            Json({{"failed", 0}, {"lost_sessions", 0}, {"unreplayed", 0}, {"wrong_values", 0}}));
  EXPECT_EQ(node_->sums({{"keys", kKeys}, {"deadline_s", 30}}),
            Json({{"sum", counted["adds_acknowledged_total"]}, {"found", kKeys}}));
  const Json stats = node_->stats(Json::object());
  ASSERT_EQ(stats["workers"].size(), 1U);
  EXPECT_GT(stats["workers"][0]["cpu_ns"], 0);
  EXPECT_EQ(stats["version"], begun["version"]);
  EXPECT_EQ(stats["errors"], Json({{"store ended", 0}}));
  node_->stop(Json::object());
  EXPECT_EQ(state_, "idle");
}

TEST_P(EveryStore, ReadsFindWhatWasStored) {
  const std::string store = GetParam();
  node_->prepare(store_args(store));
  fill(store);
  const Json counted = play(store, 1);
  EXPECT_GT(counted["reads"], 0);
  EXPECT_EQ(counted["not_found"], 0);
}

TEST_P(EveryStore, AStoreThatIsKilledIsSaid) {
  const std::string store = GetParam();
  const Json begun = node_->prepare(store_args(store));
  fill(store);
  const Json counted = play(store, 1, [&] { ::kill(begun["pid"].get<pid_t>(), SIGKILL); });
  EXPECT_EQ(counted["errors"]["lost_sessions"], 1);
  EXPECT_NE(counted["lost_why"], nullptr);
  const Json stats = node_->stats(Json::object());
  EXPECT_EQ(stats["errors"], Json({{"store ended", 1}}));
  EXPECT_EQ(stats["ended"], "was ended by signal 9 (Killed)");
}

INSTANTIATE_TEST_SUITE_P(Stores, EveryStore, ::testing::Values("memcached", "redis"),
                         [](const auto& store) { return std::string(store.param); });

// An earlier turn's records are gone: a store is empty again.
TEST_F(TextstoreNodeTest, APreparedStoreIsEmpty) {
  node_->prepare(store_args("redis"));
  fill("redis");
  node_->prepare(store_args("redis"));
  EXPECT_EQ(node_->sums({{"keys", kKeys}, {"deadline_s", 30}}), Json({{"sum", 0}, {"found", 0}}));
}

TEST_F(TextstoreNodeTest, OtherStoresAreRefused) {
  EXPECT_NE(message_of([&] { node_->prepare(store_args("shadowfax")); }).find("memcached or redis"),
            std::string::npos);
  EXPECT_EQ(message_of([&] { node_->stats(Json::object()); }),
            "wrong_state: textstore-node stats: nothing is served; send `prepare` first");
}

TEST_F(TextstoreNodeTest, LongerValuesAreRefusedByTheClient) {
  Json args = load_args("redis", 0);
  args["value_bytes"] = 64;
  EXPECT_NE(message_of([&] { load_.prepare(args); }).find("value_bytes"), std::string::npos);
}

}  // namespace
}  // namespace turntable::shadowfax
