// The controller's part of a snapshot over TCP, with an agent, servers and clients that answer as a
// test wants.
#include "cache/snapshots.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "cache/asking_listener.h"
#include "cache/controller_node.h"
#include "cache/testing_credentials.h"
#include "common/command_error.h"
#include "node/testing.h"

namespace turntable::cache {
namespace {

using Json = nlohmann::json;
using Log = std::vector<std::string>;

Key key_number(std::uint64_t number) {
  return workload::wire_key(workload::key_id(number));
}

Record value_record(std::uint64_t key, std::uint8_t value, std::uint32_t number) {
  return {.key = key_number(key), .kind = Record::Kind::kValue, .number = number, .value = {value}};
}

// An agent, a server or a client: what it is asked goes into the log, and is answered unless the
// test takes it for itself.
struct Asked {
  Log& log;
  std::string name;
  std::vector<Message> messages;
  std::function<std::optional<Message>(const Message&)> answer_of = [](const Message& request) {
    return std::optional(answer_to(request));
  };

  std::optional<Message> take(const Message& request) {
    messages.push_back(request);
    if (request.type != MessageType::kHello) log.push_back(name + " " + name_of(request.type));
    return answer_of(request);
  }
};

struct Peer {
  Peer(EventLoop& loop, std::uint16_t port, Log& log, std::string name, const Message& hello)
      : asked{.log = log, .name = std::move(name), .messages = {}},
        link(
            loop, tcp_address("127.0.0.1", port), testing::credentials(), [hello] { return hello; },
            [this](const Message& request) {
              if (const auto answer = asked.take(request)) link.send(*answer);
            }) {}
  Asked asked;
  MessageLink link;
};

struct Agent {
  Agent(EventLoop& loop, std::uint16_t port, Log& log)
      : asked{.log = log, .name = "agent", .messages = {}},
        listener(loop, tcp_address("127.0.0.1", port), testing::credentials(),
                 [this](const Message& request, const AskingListener::Reply& reply) {
                   last_reply = reply;
                   if (const auto answer = asked.take(request)) reply(*answer);
                 }) {}
  Asked asked;
  AskingListener::Reply last_reply;
  AskingListener listener;
};

class SnapshotsTest : public ::testing::Test {
 protected:
  SnapshotsTest() : thread_([this] { loop.run(); }) {
    start_agent(0);
    start_controller();
    servers.resize(2);
    start_server(0, {0, 1, 2});
    start_server(1, {3});
  }
  // NOLINTNEXTLINE(bugprone-exception-escape): a loop that does not answer may end the test
  ~SnapshotsTest() override {
    on_loop([&] { clients.clear(), servers.clear(), controller.reset(), agent.reset(); });
    loop.stop();
  }

  template <typename Work>
  std::invoke_result_t<Work> on_loop(Work work) {
    return loop.tasks().call(work, Deadline::after(std::chrono::seconds(20)));
  }
  bool eventually(const std::function<bool()>& condition) {
    const Deadline deadline = Deadline::after(std::chrono::seconds(20));
    while (!on_loop(condition)) {
      if (deadline.passed()) return false;
      std::this_thread::yield();
    }
    return true;
  }

  void start_agent(std::uint16_t agent_port) {
    on_loop([&] {
      agent = std::make_unique<Agent>(loop, agent_port, log);
      agent->asked.answer_of = [this](const Message& asked) {
        const bool is_end = asked.type == MessageType::kFinish;
        return std::optional(answer_to(asked, {}, is_end ? cut : std::vector<Record>()));
      };
    });
  }
  void start_controller() {
    on_loop([&] {
      controller = std::make_unique<ControllerNode>(loop, tcp_address("127.0.0.1", port),
                                                    testing::credentials("controller"),
                                                    directory.path(), [](const std::string&) {});
      port = controller->port();
    });
    controller->configure({{"method", "farreach"},
                           {"scale", 4},
                           {"agent_address", "127.0.0.1"},
                           {"agent_port", agent->listener.port()}});
    ASSERT_TRUE(eventually([&] { return agent->listener.is_up(); }));
    ASSERT_TRUE(eventually_stats("agent_connected", true));
  }
  void start_server(std::size_t index, const std::vector<std::uint32_t>& partitions) {
    std::vector<std::uint32_t> numbers = {kMessagesVersion, 4};
    numbers.insert(numbers.end(), partitions.begin(), partitions.end());
    on_loop([&] {
      servers[index].reset();
      servers[index] =
          std::make_unique<Peer>(loop, port, log, "server", request(MessageType::kHello, numbers));
    });
    ASSERT_TRUE(eventually([&] { return servers[index]->link.is_up(); }));
  }
  Peer& start_client() {
    on_loop([&] {
      clients.push_back(std::make_unique<Peer>(
          loop, port, log, "client", request(MessageType::kClientHello, {kMessagesVersion})));
    });
    EXPECT_TRUE(eventually([&] { return clients.back()->link.is_up(); }));
    return *clients.back();
  }
  bool eventually_stats(const char* name, const Json& value) {
    const Deadline deadline = Deadline::after(std::chrono::seconds(20));
    while (controller->stats(Json::object()).at(name) != value) {
      if (deadline.passed()) return false;
      std::this_thread::yield();
    }
    return true;
  }

  Json snapshot() { return controller->snapshot(Json::object()); }
  std::string failure_of_snapshot() {
    try {
      snapshot();
      return "none";
    } catch (const CommandError& error) {
      return error.what();
    }
  }
  Json stats() { return controller->stats(Json::object()).at("snapshots"); }
  std::optional<Snapshot> on_disk() { return SnapshotDirectory(directory.path()).last(); }
  Log logged() {
    return on_loop([&] { return std::exchange(log, {}); });
  }
  // Answers when the new server is known to the controller.
  void finish_once_up(const Message& asked) {
    if (servers[1]->link.is_up()) return agent->last_reply(answer_to(asked, {}, cut));
    loop.call_at(loop.now_ns() + 1'000'000, [this, asked] { finish_once_up(asked); });
  }
  // Whether the list says that the answer to the one before had come; once it is there.
  std::uint32_t confirmation(Peer& client, std::size_t lists) {
    EXPECT_TRUE(eventually([&] { return client.asked.messages.size() == lists; }));
    return on_loop([&] { return client.asked.messages.back().numbers.at(1); });
  }

  Log log;
  std::vector<Record> cut = {value_record(1, 7, 70), value_record(2, 8, 80)};
  node::testing::ScratchDirectory directory;
  EventLoop loop;
  std::uint16_t port = 0;
  std::unique_ptr<Agent> agent;
  std::unique_ptr<ControllerNode> controller;
  std::vector<std::unique_ptr<Peer>> servers, clients;

 private:
  std::jthread thread_;
};

TEST_F(SnapshotsTest, TakesItsStepsInOrderAndReleasesWhatIsOnDisk) {
  Peer& client = start_client();
  std::optional<Snapshot> found;
  client.asked.answer_of = [&](const Message& asked) {
    found = on_disk();
    return std::optional(answer_to(asked));
  };
  const Json taken = snapshot();
  ASSERT_TRUE(eventually([&] { return log.size() == 8; }));
  Log steps = logged();
  std::sort(steps.begin() + 5, steps.end());  // sent in turn, over connections of their own
  EXPECT_EQ(steps,
            (Log{"agent BEGIN", "agent POINT", "server START", "server START", "agent FINISH",
                 "client RELEASE_COPIES", "server RELEASE", "server RELEASE"}));
  const std::uint32_t id = taken.at("id");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(*found, (Snapshot{.id = id, .records = cut}));
  EXPECT_EQ(taken.at("records"), 2);
  EXPECT_EQ(stats().at("last_snapshot"), taken);
  EXPECT_EQ(read_snapshot(std::string(taken.at("path"))), *found);

  const Message list = on_loop([&] { return client.asked.messages.back(); });
  EXPECT_EQ(list.numbers.at(0), id);
  ASSERT_EQ(list.records.size(), 2U);
  EXPECT_EQ(list.records[1].key, key_number(2));
  EXPECT_EQ(list.records[1].number, 80U);
  EXPECT_TRUE(list.records[1].value.empty());
  // BEGIN, POINT, FINISH, 2 START and 2 RELEASE of 23 bytes each, and the list.
  EXPECT_EQ(taken.at("sent_bytes"), 7 * 23 + 27 + 2 * 23);
  EXPECT_EQ(taken.at("received_bytes"), 5 * 19 + 2 * 24);
}

TEST_F(SnapshotsTest, IdsGrowOverTheControllersDeath) {
  const std::uint32_t first = snapshot().at("id");
  const std::uint32_t second = snapshot().at("id");
  EXPECT_GT(second, first);
  on_loop([&] { controller.reset(); });
  start_controller();
  ASSERT_TRUE(eventually_stats("servers", {0, 1, 2, 3}));
  EXPECT_GT(snapshot().at("id"), second);
}

TEST_F(SnapshotsTest, ServersMayGiveUpAllButTheLastCompleteOne) {
  snapshot();
  const std::uint32_t last = snapshot().at("id");
  const std::uint32_t now = snapshot().at("id");
  const auto starts = on_loop([&] {
    std::vector<Message> found = servers[0]->asked.messages;
    std::erase_if(found, [](const Message& m) { return m.type != MessageType::kStart; });
    return found;
  });
  ASSERT_EQ(starts.size(), 3U);
  EXPECT_EQ(starts[0].numbers.size(), 1U);
  EXPECT_EQ(starts[2].numbers, (std::vector<std::uint32_t>{now, last}));
}

// By which the server takes its snapshot before it stores a record from behind the point.
TEST_F(SnapshotsTest, AnEvictedRecordReachesItsServerWithItsToken) {
  on_loop([&] {
    agent->listener.ask(request(MessageType::kStore, {77}, {value_record(1, 7, 70)}),
                        [](const Message&) {});
  });
  const auto stored = [&]() -> const Message* {
    for (const auto& server : servers) {
      if (!server->asked.messages.empty()) return &server->asked.messages.back();
    }
    return nullptr;
  };
  ASSERT_TRUE(eventually([&] { return stored() != nullptr; }));
  EXPECT_EQ(stored()->type, MessageType::kStore);
  EXPECT_EQ(stored()->numbers, std::vector<std::uint32_t>{77});
}

TEST_F(SnapshotsTest, AFailedOneLeavesTheOneBeforeAndTheNextGoesOn) {
  snapshot();
  const std::optional<Snapshot> before = on_disk();
  ASSERT_TRUE(eventually([&] { return log.size() == 7; }));
  logged();
  on_loop([&] {
    agent->asked.answer_of = [](const Message& asked) {
      const bool fails = asked.type == MessageType::kFinish;
      return std::optional(fails ? failure_of(asked, "reports were lost") : answer_to(asked));
    };
    cut = {value_record(1, 9, 90)};
  });
  EXPECT_NE(failure_of_snapshot().find("the agent refused FINISH: reports were lost"),
            std::string::npos);
  EXPECT_EQ(on_disk(), before);
  ASSERT_TRUE(eventually([&] { return log.size() == 6; }));
  EXPECT_EQ(logged(), (Log{"agent BEGIN", "agent POINT", "server START", "server START",
                           "agent FINISH", "agent FINISH"}));
  EXPECT_EQ(stats().at("failed"), 1);
  EXPECT_NE(std::string(stats().at("last_failure")).find("reports were lost"), std::string::npos);
  on_loop([&] {
    agent->asked.answer_of = [this](const Message& asked) {
      return std::optional(answer_to(asked, {}, cut));
    };
  });
  snapshot();
  EXPECT_EQ(on_disk()->records, cut);
  EXPECT_EQ(stats().at("taken"), 2);
}

// What it has stored since the point would be in its snapshot.
TEST_F(SnapshotsTest, AServerThatConnectsAnewEndsIt) {
  on_loop([&] {
    agent->asked.answer_of = [this](const Message& asked) {
      if (asked.type == MessageType::kPoint) servers[1].reset();
      return std::optional(answer_to(asked));
    };
  });
  EXPECT_NE(failure_of_snapshot().find("other servers are connected"), std::string::npos);
  EXPECT_EQ(on_disk(), std::nullopt);
}

TEST_F(SnapshotsTest, AServerThatIsBackBeforeTheEndIsNoticed) {
  bool is_back = false;
  on_loop([&] {
    agent->asked.answer_of = [this, &is_back](const Message& asked) -> std::optional<Message> {
      if (asked.type != MessageType::kFinish || std::exchange(is_back, true)) {
        return answer_to(asked);
      }
      servers[1] = std::make_unique<Peer>(loop, port, log, "server",
                                          request(MessageType::kHello, {kMessagesVersion, 4, 3}));
      finish_once_up(asked);
      return std::nullopt;
    };
  });
  EXPECT_NE(failure_of_snapshot().find("other servers are connected"), std::string::npos);
}

TEST_F(SnapshotsTest, AnAgentThatDiesEndsIt) {
  const std::uint16_t agent_port = agent->listener.port();
  on_loop([&] {
    agent->asked.answer_of = [this](const Message& asked) -> std::optional<Message> {
      if (asked.type != MessageType::kPoint) return answer_to(asked);
      loop.call_soon([this] { agent.reset(); });
      return std::nullopt;
    };
  });
  EXPECT_NE(failure_of_snapshot().find("connection with the agent has broken"), std::string::npos);
  EXPECT_NE(failure_of_snapshot().find("no connection with the agent"), std::string::npos);
  start_agent(agent_port);
  ASSERT_TRUE(eventually_stats("agent_connected", true));
  snapshot();
}

TEST_F(SnapshotsTest, AClientsAnswerCountsForTheListAfterTheNextPoint) {
  Peer& client = start_client();
  snapshot();
  EXPECT_EQ(confirmation(client, 1), 0U);  // there was no list before
  ASSERT_TRUE(eventually_stats("unanswered_by_clients", 0));
  snapshot();
  EXPECT_EQ(confirmation(client, 2), 1U);

  Peer& late = start_client();
  ASSERT_TRUE(eventually_stats("unanswered_by_clients", 0));
  snapshot();
  EXPECT_EQ(confirmation(client, 3), 1U);
  EXPECT_EQ(confirmation(late, 1), 0U);

  // It answers the fourth list only after the fifth snapshot has begun.
  std::optional<Message> fourth;
  on_loop([&] {
    client.asked.answer_of = [&](const Message& asked) {
      fourth = asked;
      return std::optional<Message>();
    };
  });
  ASSERT_TRUE(eventually_stats("unanswered_by_clients", 0));
  snapshot();
  EXPECT_EQ(confirmation(client, 4), 1U);
  on_loop([&] {
    client.asked.answer_of = [](const Message& asked) { return std::optional(answer_to(asked)); };
    agent->asked.answer_of = [&](const Message& asked) -> std::optional<Message> {
      if (fourth) client.link.send(answer_to(*fourth));
      fourth.reset();
      return answer_to(asked);
    };
  });
  snapshot();
  EXPECT_EQ(confirmation(client, 5), 0U);
  EXPECT_EQ(confirmation(late, 3), 1U);
}

TEST_F(SnapshotsTest, APeriodTakesOneAfterTheOtherUntilItIsZero) {
  EXPECT_THROW(controller->settings({{"snapshot_period_s", -1}}), CommandError);
  EXPECT_EQ(controller->settings({{"snapshot_period_s", 0.01}}),
            (Json{{"snapshot_period_s", 0.01}}));
  const Deadline deadline = Deadline::after(std::chrono::seconds(20));
  while (stats().at("taken") < 3 && !deadline.passed()) std::this_thread::yield();
  EXPECT_GE(stats().at("taken"), 3);
  controller->settings({{"snapshot_period_s", 0}});
  while (stats().contains("under_way") && !deadline.passed()) std::this_thread::yield();
  const Json after = stats().at("taken");
  snapshot();
  EXPECT_EQ(stats().at("taken"), after.get<int>() + 1);
}

TEST_F(SnapshotsTest, OneAtATime) {
  on_loop(
      [&] { agent->asked.answer_of = [](const Message&) { return std::optional<Message>(); }; });
  std::jthread first([&] { EXPECT_NE(failure_of_snapshot(), "none"); });
  const Deadline deadline = Deadline::after(std::chrono::seconds(20));
  while (!stats().contains("under_way") && !deadline.passed()) std::this_thread::yield();
  EXPECT_NE(failure_of_snapshot().find("is under way"), std::string::npos);
  on_loop([&] { agent.reset(); });
}

}  // namespace
}  // namespace turntable::cache
