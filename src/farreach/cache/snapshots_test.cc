// The controller's part of a snapshot, step by step.
#include "farreach/cache/snapshots.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/clock.h"
#include "farreach/cache/snapshots_testing.h"

namespace turntable::cache {
namespace {

using testing::Json;
using testing::key_number;
using testing::kStore;
using testing::Log;
using testing::Peer;
using testing::SnapshotsTest;
using testing::value_record;

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
  // BEGIN, POINT and FINISH of 31 bytes each, 2 START and 2 RELEASE of 27, and the list.
  EXPECT_EQ(taken.at("sent_bytes"), 3 * 31 + 4 * 27 + 31 + 2 * 23);
  EXPECT_EQ(taken.at("received_bytes"), 5 * 23 + 2 * 24);
  EXPECT_EQ(stats().at("complete").back().at("sent_bytes"), taken.at("sent_bytes"));
  EXPECT_EQ(stats().at("complete").back().at("received_bytes"), taken.at("received_bytes"));
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
      servers[1] = std::make_unique<Peer>(
          loop, port, log, "server",
          message_of({.scale = 4, .served = {{.partition = 3, .store = kStore}}}));
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

TEST_F(SnapshotsTest, APeriodCountsFromTheInstantThatIsGiven) {
  constexpr std::int64_t kPeriodNs = 30'000'000, kAheadNs = 200'000'000;
  controller->settings({{"snapshot_period_s", 0.001}});
  const std::int64_t from_ns = realtime_ns() + kAheadNs;
  EXPECT_EQ(controller->settings({{"snapshot_period_s", 0.03}, {"snapshot_from_ns", from_ns}}),
            (Json{{"snapshot_period_s", 0.03}, {"snapshot_from_ns", from_ns}}));
  const Deadline deadline = Deadline::after(std::chrono::seconds(20));
  Json complete = Json::array();
  while (complete.size() < 4 && !deadline.passed()) complete = stats().at("complete");
  ASSERT_GE(complete.size(), 4U);
  std::int64_t earliest = from_ns + kPeriodNs;
  for (std::size_t i = 1; i < complete.size(); ++i) {  // the first may have been under way
    const std::int64_t began = complete[i].at("began_at_ns"), ended = complete[i].at("ended_at_ns");
    EXPECT_GE(began, earliest - 1'000'000) << i;  // two clocks
    EXPECT_GT(ended, began);
    EXPECT_GT(complete[i].at("id"), complete[i - 1].at("id"));
    earliest += kPeriodNs;
  }
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
