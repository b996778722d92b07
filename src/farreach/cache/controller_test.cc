// Controller and agent as they run, over TCP, with a switch in memory and servers of a few lines.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "farreach/cache/agent_node.h"
#include "farreach/cache/controller_node.h"
#include "farreach/cache/testing.h"
#include "farreach/cache/testing_loop_switch.h"
#include "net/testing_credentials.h"
#include "net/testing_loopback.h"
#include "node/testing.h"
#include "workload/hottest.h"

namespace turntable::cache {
namespace {

using Json = nlohmann::json;
using testing::key_number;
using testing::LoopSwitch;

// A kvserver that has records of the load, of value {partition}, and stores what it is told.
struct Server {
  Server(net::EventLoop& loop, std::uint16_t port, const std::vector<std::uint32_t>& partitions,
         std::uint32_t incarnation, bool is_netcache)
      : store(incarnation),
        holds_writes(is_netcache),
        link(
            loop, net::testing::loopback(port), net::testing::credentials("server"),
            [=, this] {
              ServerHello hello{.scale = 4, .holds_writes = holds_writes, .served = {}};
              for (const auto partition : partitions) hello.served.push_back({partition, store});
              return message_of(hello);
            },
            [this](const Message& asked) { answer(asked); },
            [this](const Message& answer) { cached = read_cached(answer, 1); }) {}

  void answer(const Message& asked) {
    received.push_back(asked);
    if (asked.type == MessageType::kStore && !stores_records) return;
    if (asked.type == unanswered_type) return;
    std::vector<Record> records;
    if (asked.type == MessageType::kFetch) {
      for (const Record& wanted : asked.records) {
        records.push_back(testing::value_record(wanted.key, 77));
      }
    }
    link.send(answer_to(asked, {}, std::move(records)));
  }

  const std::uint32_t store;
  const bool holds_writes;
  std::optional<std::vector<CachedKey>> cached;  // what it was told when it was accepted
  bool stores_records = true;
  MessageType unanswered_type{};
  std::vector<Message> received;
  MessageLink link;
};

class ControllerTest : public ::testing::Test {
 protected:
  template <typename Work>
  std::invoke_result_t<Work> on_loop(Work work) {
    return loop.tasks().call(work, Deadline::after(std::chrono::seconds(20)));
  }

  ControllerTest() : thread_([this] { loop.run(); }) {}
  // NOLINTNEXTLINE(bugprone-exception-escape): a loop that does not answer may end the test
  ~ControllerTest() override {
    on_loop([&] { server.reset(), controller.reset(), agent.reset(); });
    loop.stop();
  }

  void start(const char* method, int cache_size) {
    on_loop([&] {
      auto driver = std::make_unique<LoopSwitch>(loop, stores);
      the_switch = driver.get();
      const sockaddr_in any_port = net::testing::loopback();
      agent = std::make_unique<AgentNode>(loop, std::move(driver), any_port,
                                          net::testing::credentials("agent"),
                                          [](const std::string&) {});
      controller =
          std::make_unique<ControllerNode>(loop, any_port, net::testing::credentials("controller"),
                                           state.path(), [](const std::string&) {});
    });
    agent->configure({{"method", method},
                      {"egress_ports", {3, 4, 5, 6}},
                      {"clients", {{{"address", "198.18.0.1"}, {"port", 1}}}},
                      {"cpu_port", 64},
                      {"fresh", true},
                      {"cache_size", cache_size}});
    configure_controller(method);
  }
  void configure_controller(const char* method) {
    controller->configure({{"method", method},
                           {"scale", 4},
                           {"agent_address", "127.0.0.1"},
                           {"agent_port", agent->port()}});
  }
  // One that was there before has been killed.
  void start_server(std::vector<std::uint32_t> partitions, std::uint32_t store = 1,
                    bool is_netcache = false) {
    on_loop([&] {
      server.reset();
      server = std::make_unique<Server>(loop, controller->port(), std::move(partitions), store,
                                        is_netcache);
    });
  }
  // Probes until `condition` holds on the loop.
  bool eventually(const std::function<bool()>& condition) {
    const Deadline deadline = Deadline::after(std::chrono::seconds(20));
    while (!on_loop(condition)) {
      if (deadline.passed()) return false;
      std::this_thread::yield();
    }
    return true;
  }
  // Whether the controller comes to know servers of just these partitions.
  bool serves(const std::set<unsigned>& partitions) {
    const Deadline deadline = Deadline::after(std::chrono::seconds(20));
    while (controller->stats(Json::object()).at("servers") != Json(partitions)) {
      if (deadline.passed()) return false;
      std::this_thread::yield();
    }
    return true;
  }
  std::size_t received(MessageType type) {
    return static_cast<std::size_t>(
        std::count_if(server->received.begin(), server->received.end(),
                      [type](const Message& message) { return message.type == type; }));
  }

  ScratchDirectory state;
  testing::FakeServers stores;
  net::EventLoop loop;
  LoopSwitch* the_switch = nullptr;
  std::unique_ptr<AgentNode> agent;
  std::unique_ptr<ControllerNode> controller;
  std::unique_ptr<Server> server;

 private:
  std::jthread thread_;
};

const Json kWorkload = {{"name", "workloada"}, {"records", 10'000}};

Key first_key_of(unsigned partition) {
  std::uint64_t number = 0;
  while (workload::partition_of(workload::slot_of(workload::key_id(number)), 4) != partition) {
    ++number;
  }
  return key_number(number);
}

TEST_F(ControllerTest, WarmsUpWithTheHottestKeysAndKeepsThem) {
  start("farreach", 500);
  const Json warm = controller->warm_up({{"workload", kWorkload}, {"count", 500}});
  EXPECT_EQ(warm.at("count"), 500);
  EXPECT_EQ(warm.at("changed"), true);
  EXPECT_EQ(agent->cached_set(Json::object()),
            (Json{{"count", 500}, {"digest", warm.at("digest")}}));
  const auto hottest = workload::hottest_keys(workload::workload_from_json(kWorkload), 500);
  on_loop([&] {
    for (const auto id : hottest) {
      EXPECT_TRUE(the_switch->lookup.contains(workload::wire_key(id)));
    }
  });
  EXPECT_EQ(controller->warm_up({{"workload", kWorkload}, {"count", 500}}).at("changed"), false);

  // Another set: what is too much goes, what is missing comes.
  const Json other = controller->warm_up({{"workload", kWorkload}, {"count", 200}});
  EXPECT_EQ(agent->cached_set(Json::object()).at("count"), 200);
  EXPECT_EQ(agent->cached_set(Json::object()).at("digest"), other.at("digest"));
}

TEST_F(ControllerTest, ReadmissionBringsTheStoresRecordsAndRestoresTheSet) {
  start("farreach", 100);
  controller->warm_up({{"workload", kWorkload}, {"count", 100}});
  start_server({1});
  SnapshotDirectory snapshots(state.path());
  snapshots.save({.id = 1, .records = {}});
  const Json cold = controller->readmit({{"partitions", {1}}, {"prefill", false}});
  EXPECT_EQ(snapshots.last(), std::nullopt) << "of stores that are no more";
  EXPECT_EQ(received(MessageType::kFetch), 0U);
  start_server({1, 2});
  const Json filled = controller->readmit({{"partitions", {1, 2}}, {"prefill", true}});
  EXPECT_GT(filled.at("keys"), cold.at("keys"));
  EXPECT_EQ(filled.at("restored"), false);
  on_loop([&] {
    for (const auto& [key, slot] : the_switch->lookup) {
      const unsigned partition =
          workload::partition_of(workload::slot_of(*workload::key_id_from_wire(key)), 4);
      const bool is_running = partition == 1 || partition == 2;
      EXPECT_EQ(state_of(the_switch->slot(slot).record.cell), is_running ? kLatest : kAdmitted);
      if (!is_running) continue;
      EXPECT_EQ(the_switch->get(key).value, (std::vector<std::uint8_t>{77}));
    }
  });
  // The switch has other keys meanwhile.
  agent->settings({{"cache_size", 1}});
  ASSERT_TRUE(eventually([&] { return the_switch->lookup.size() == 1; }));
  agent->settings({{"cache_size", 100}});
  EXPECT_EQ(controller->readmit({{"partitions", {1, 2}}, {"prefill", true}}).at("restored"), true);
  EXPECT_EQ(agent->cached_set(Json::object()).at("digest"), filled.at("digest"));
}

// Records of stores that are no more would be in snapshots, and a recovery would bring them back.
TEST_F(ControllerTest, ReadmissionForgetsThePartitionsThatRanBefore) {
  start("farreach", 100);
  controller->warm_up({{"workload", kWorkload}, {"count", 100}});
  start_server({1, 2});
  controller->readmit({{"partitions", {1, 2}}, {"prefill", true}});
  start_server({1, 3});
  controller->readmit({{"partitions", {1, 3}}, {"prefill", true}});
  on_loop([&] {
    for (const auto& [key, slot] : the_switch->lookup) {
      const unsigned partition =
          workload::partition_of(workload::slot_of(*workload::key_id_from_wire(key)), 4);
      const bool runs = partition == 1 || partition == 3;
      EXPECT_EQ(state_of(the_switch->slot(slot).record.cell), runs ? kLatest : kAdmitted);
    }
  });
}

TEST_F(ControllerTest, ReadmissionIsRefusedWhileAStoreOfBeforeLivesOn) {
  start("farreach", 100);
  controller->warm_up({{"workload", kWorkload}, {"count", 100}});
  start_server({1, 2});
  ASSERT_TRUE(serves({1, 2}));
  SnapshotDirectory snapshots(state.path());
  snapshots.save({.id = 1, .records = {}});
  try {
    controller->readmit({{"partitions", {1}}, {"prefill", false}});
    ADD_FAILURE() << "partition 2 has lost its snapshot";
  } catch (const CommandError& error) {
    EXPECT_NE(std::string(error.what()).find("partition 2 has a server"), std::string::npos);
  }
  EXPECT_NE(snapshots.last(), std::nullopt);
}

TEST_F(ControllerTest, AHotReportIsAdmittedAndTheVictimGoesHome) {
  start("farreach", 1);
  start_server({0, 1, 2, 3});
  const Key first = first_key_of(1), second = first_key_of(2);
  std::vector<std::uint32_t> outcomes;
  const auto report = [&](const Key& key) {
    outcomes.clear();
    on_loop([&] {
      server->link.ask(request(MessageType::kHot, {}, {key_only(key)}),
                       [&](const Message& answer) { outcomes = answer.numbers; });
    });
    return eventually([&] { return !outcomes.empty(); });
  };
  ASSERT_TRUE(report(first));
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_NE(outcomes[0], 0U);
  // A message without lists has 23 bytes, a key as many, a number 4.
  EXPECT_EQ(controller->stats(Json::object()).at("admission_bytes"), 2 * 23 + 2 * 23 + 4);
  EXPECT_EQ(controller->stats(Json::object()).at("eviction_bytes"), 0);
  on_loop([&] { the_switch->write(testing::value_record(first, 9)); });
  // The server dies before the victim's record is stored; the next one gets it.
  on_loop([&] {
    server->stores_records = false;
    server->link.ask(request(MessageType::kHot, {}, {key_only(second)}), [](const Message&) {});
  });
  ASSERT_TRUE(eventually([&] { return received(MessageType::kStore) == 1; }));
  start_server({0, 1, 2, 3});
  ASSERT_TRUE(report(second));
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_NE(outcomes[0], 0U);
  on_loop([&] {
    EXPECT_TRUE(the_switch->lookup.contains(second));
    EXPECT_FALSE(the_switch->lookup.contains(first));
  });
  EXPECT_TRUE(eventually([&] { return received(MessageType::kEvicted) > 0; }));
  EXPECT_EQ(controller->stats(Json::object()).at("records_stored"), 1);
  // STORE with the record, and EVICTED with the key's admission; each with its answer.
  constexpr std::size_t kEmpty = 23;
  constexpr std::size_t kKey = 23;
  const std::size_t value = testing::value_record(first, 9).value.size();
  EXPECT_EQ(controller->stats(Json::object()).at("eviction_bytes"),
            (2 * kEmpty + kKey + value) + (2 * kEmpty + kKey + 4));
}

TEST_F(ControllerTest, NetCacheFetchesUnderAMarkAndEndsIt) {
  start("netcache", 4);
  start_server({0, 1, 2, 3});
  const Key hot = first_key_of(3);
  on_loop([&] { the_switch->report_hot(hot); });
  ASSERT_TRUE(eventually([&] { return received(MessageType::kSettled) == 1; }));
  on_loop([&] {
    EXPECT_EQ(server->received.at(0).type, MessageType::kFetch);
    EXPECT_EQ(server->received.at(0).numbers, std::vector<std::uint32_t>{1});
    const auto settled = read_cached(server->received.at(1));
    ASSERT_EQ(settled.size(), 1U);
    EXPECT_EQ(settled[0].key, hot);
    EXPECT_NE(settled[0].admission.id, 0U);  // cached
    EXPECT_EQ(the_switch->slot(the_switch->lookup.at(hot)).record.cell, kLatest);
  });
}

// Of an admission whose record is on its way to the switch, nobody knows how it will end.
TEST_F(ControllerTest, AServerIsNotAcceptedWhileARecordOfAnEarlierOneIsOnItsWayToTheSwitch) {
  start("netcache", 4);
  start_server({0, 1, 2, 3}, 1, /*is_netcache=*/true);
  ASSERT_TRUE(eventually([&] { return server->link.is_up(); }));
  const Key hot = first_key_of(3);
  on_loop([&] {
    the_switch->holds_frames = true;
    the_switch->report_hot(hot);
  });
  ASSERT_TRUE(eventually([&] { return the_switch->held_frames > 0; }));
  start_server({0, 1, 2, 3}, 1, /*is_netcache=*/true);
  EXPECT_EQ(controller->cached_set(Json::object()).at("count"), 0);  // all three can talk
  on_loop([&] {
    EXPECT_FALSE(server->cached);
    the_switch->holds_frames = false;
  });
  ASSERT_TRUE(eventually([&] { return server->cached.has_value(); }));
  on_loop([&] {
    ASSERT_EQ(server->cached->size(), 1U);
    EXPECT_EQ(server->cached->front().key, hot);
    EXPECT_NE(server->cached->front().admission.id, 0U);
  });
}

TEST_F(ControllerTest, ARecordOfAStoreThatIsNoMoreIsNotWrittenIntoItsSuccessor) {
  start("farreach", 1);
  start_server({0, 1, 2, 3}, /*store=*/1);
  ASSERT_TRUE(eventually([&] { return server->link.is_up(); }));
  on_loop([&] {
    server->stores_records = false;
    server->link.ask(request(MessageType::kHot, {}, {key_only(first_key_of(1))}),
                     [](const Message&) {});
  });
  ASSERT_TRUE(eventually([&] { return the_switch->lookup.size() == 1; }));
  on_loop([&] {
    the_switch->write(testing::value_record(first_key_of(1), 9));
    server->link.ask(request(MessageType::kHot, {}, {key_only(first_key_of(2))}),
                     [](const Message&) {});
  });
  ASSERT_TRUE(eventually([&] { return received(MessageType::kStore) == 1; }));
  start_server({0, 1, 2, 3}, /*store=*/2);
  ASSERT_TRUE(eventually([&] { return the_switch->lookup.contains(first_key_of(2)); }));
  EXPECT_EQ(received(MessageType::kStore), 0U);
  EXPECT_EQ(controller->stats(Json::object()).at("records_of_old_stores"), 1);
  EXPECT_EQ(controller->stats(Json::object()).at("records_stored"), 0);
}

TEST_F(ControllerTest, ARecoveryWhoseStoreBeganAnewFailsAndSaysSo) {
  start("farreach", 10);
  SnapshotDirectory(state.path())
      .save({.id = 1, .records = {testing::value_record(first_key_of(1), 5, 9)}});
  start_server({0, 1, 2, 3}, /*store=*/1);
  on_loop([&] { server->unanswered_type = MessageType::kReplay; });
  std::string failure;
  std::jthread recovery([&] {
    try {
      controller->recover({{"clients", 0}, {"deadline_s", 20}});
    } catch (const CommandError& error) {
      failure = error.what();
    }
  });
  ASSERT_TRUE(eventually([&] { return received(MessageType::kReplay) == 1; }));
  start_server({0, 1, 2, 3}, /*store=*/2);
  recovery.join();
  EXPECT_NE(failure.find("refused REPLAY: the store of partition 1 began anew"), std::string::npos)
      << failure;
  EXPECT_EQ(received(MessageType::kReplay), 0U);
}

// A REPLAY that the server has and does not answer.
TEST_F(ControllerTest, WhatAControllerHasAskedDiesWithIt) {
  start("farreach", 10);
  SnapshotDirectory(state.path())
      .save({.id = 1, .records = {testing::value_record(first_key_of(1), 5, 9)}});
  start_server({0, 1, 2, 3});
  on_loop([&] { server->unanswered_type = MessageType::kReplay; });
  std::string failure;
  std::jthread recovery([&] {
    try {
      controller->recover({{"clients", 0}, {"deadline_s", 20}});
    } catch (const CommandError& error) {
      failure = error.what();
    }
  });
  ASSERT_TRUE(eventually([&] { return received(MessageType::kReplay) == 1; }));
  configure_controller("farreach");
  recovery.join();
  EXPECT_NE(failure.find("stopped before it was done"), std::string::npos) << failure;
  start_server({0, 1, 2, 3});
  controller->warm_up({{"workload", kWorkload}, {"count", 10}});
  controller->readmit({{"partitions", {0, 1, 2, 3}}, {"prefill", true}});  // so it is connected
  EXPECT_GT(received(MessageType::kFetch), 0U);
  EXPECT_EQ(received(MessageType::kReplay), 0U);
}

// Nobody who has given up on a command must find the next one refused because of it.
TEST_F(ControllerTest, AReadmissionEndsAtItsDeadline) {
  start("farreach", 100);
  controller->warm_up({{"workload", kWorkload}, {"count", 100}});
  const auto failure_of = [&](const Json& args) -> std::string {
    try {
      controller->readmit(args);
    } catch (const CommandError& error) {
      return error.what();
    }
    return "";
  };
  const std::string failure =
      failure_of({{"partitions", {1}}, {"prefill", true}, {"deadline_s", 0.2}});
  EXPECT_NE(failure.find("the server of partition 1"), std::string::npos) << failure;
  EXPECT_EQ(failure_of({{"partitions", {1}}, {"prefill", false}}), "");
  start_server({1});
  ASSERT_TRUE(serves({1}));
  EXPECT_EQ(on_loop([&] { return received(MessageType::kFetch); }), 0U) << "asked by nobody";
}

TEST_F(ControllerTest, AWarmUpEndsAtItsDeadline) {
  start("farreach", 10);
  on_loop([&] { agent.reset(); });
  for (int i = 0; i < 2; ++i) {
    try {
      controller->warm_up({{"workload", kWorkload}, {"count", 10}, {"deadline_s", 0.2}});
      ADD_FAILURE() << "there is no agent";
    } catch (const CommandError& error) {
      EXPECT_EQ(error.code(), "timeout") << error.what();
      EXPECT_NE(std::string(error.what()).find("switch-agent"), std::string::npos) << error.what();
    }
  }
}

TEST_F(ControllerTest, RefusesWhatItCannotDo) {
  start("farreach", 10);
  EXPECT_THROW(controller->warm_up({{"workload", kWorkload}, {"count", 20}, {"deadline_s", 30}}),
               CommandError);
  EXPECT_THROW(agent->settings({{"cache_size", 0}}), CommandError);
  EXPECT_THROW(agent->settings({{"hot_treshold", 1}}), CommandError);
  EXPECT_EQ(agent->settings({{"hot_threshold", 5}, {"clear_period_s", 0}}).at("hot_threshold"), 5);
  agent->stop(Json::object());
  EXPECT_THROW(agent->cached_set(Json::object()), CommandError);
}

TEST_F(ControllerTest, AHelloOfAnotherScaleIsRefused) {
  start("farreach", 10);
  start_server({4});
  const Deadline deadline = Deadline::after(std::chrono::seconds(20));
  while (controller->stats(Json::object()).at("refused_hellos") == 0 && !deadline.passed()) {
    std::this_thread::yield();
  }
  EXPECT_GE(controller->stats(Json::object()).at("refused_hellos"), 1);
  EXPECT_EQ(controller->stats(Json::object()).at("servers"), Json::array());
}

}  // namespace
}  // namespace turntable::cache
