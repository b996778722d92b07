// Snapshots beside recoveries, and over switch epochs (docs/kvcache.md §9).
#include <algorithm>
#include <nlohmann/json.hpp>

#include "farreach/cache/snapshots_testing.h"

namespace turntable::cache {
namespace {

using testing::Json;
using testing::Log;
using testing::Peer;
using testing::SnapshotsTest;
using testing::value_record;

class SnapshotEpochsTest : public SnapshotsTest {
 protected:
  // As `configure` of the agent does: the next connection is of another epoch.
  void begin_epoch(const SwitchEpoch& next) {
    on_loop([&] {
      agent->epoch = epoch = next;
      agent->listener.reconnect();
    });
    ASSERT_TRUE(eventually_stats("epoch", next.number));
  }
  // The agent's answer to a message of this type waits for the test.
  void hold(MessageType type) {
    on_loop([&] {
      agent->asked.answer_of = [this, type](const Message& asked) -> std::optional<Message> {
        if (asked.type == type) return std::nullopt;
        return answer_to(asked, {}, asked.type == MessageType::kFinish ? cut : no_records);
      };
    });
  }
  bool eventually_asked(MessageType type) {
    return eventually([&] {
      const auto& messages = agent->asked.messages;
      return !messages.empty() && messages.back().type == type;
    });
  }
  bool released(const Peer& client) {
    return on_loop([&] { return !client.asked.messages.empty(); });
  }

  const std::vector<Record> no_records;
};

TEST_F(SnapshotEpochsTest, AnEmptySwitchIsNotAskedForOne) {
  Peer& client = start_client();
  begin_epoch({.number = 6, .serves = false});
  EXPECT_NE(failure_of_snapshot().find("has not got back what it had"), std::string::npos);
  EXPECT_EQ(logged(), Log());
  EXPECT_EQ(on_disk(), std::nullopt);
  EXPECT_FALSE(released(client));
  EXPECT_EQ(stats().at("refused"), 1);
  EXPECT_EQ(stats().at("failed"), 0);
}

TEST_F(SnapshotEpochsTest, ThePeriodGoesOnAndTakesOneOnceTheSwitchServes) {
  begin_epoch({.number = 6, .serves = false});
  controller->settings({{"snapshot_period_s", 0.01}});
  const Deadline deadline = Deadline::after(std::chrono::seconds(20));
  while (stats().at("refused") < 3 && !deadline.passed()) std::this_thread::yield();
  EXPECT_EQ(stats().at("taken"), 0);
  begin_epoch({.number = 7, .serves = true});
  while (stats().at("taken") < 1 && !deadline.passed()) std::this_thread::yield();
  EXPECT_GE(stats().at("taken"), 1);
}

TEST_F(SnapshotEpochsTest, AnotherEpochOfTheAgentEndsIt) {
  snapshot();
  const auto before = on_disk();
  Peer& client = start_client();
  hold(MessageType::kFinish);
  std::string failure;
  std::jthread taking([&] { failure = failure_of_snapshot(); });
  ASSERT_TRUE(eventually_asked(MessageType::kFinish));
  const Message finish = on_loop([&] { return agent->asked.messages.back(); });
  EXPECT_EQ(finish.numbers.at(1), 5U) << "of this epoch";
  on_loop([&] { cut = {value_record(1, 9, 90)}; });
  begin_epoch({.number = 6, .serves = true});
  // It was asked again on the new connection. Whoever answers, it is too late.
  on_loop([&] { agent->last_reply(answer_to(finish, {}, cut)); });
  taking.join();
  EXPECT_NE(failure, "none");
  EXPECT_EQ(on_disk(), before);
  EXPECT_FALSE(released(client));
}

TEST_F(SnapshotEpochsTest, ARecoveryEndsItAndForbidsOthers) {
  snapshot();
  const auto before = on_disk();
  Peer& client = start_client();
  hold(MessageType::kFinish);
  std::string failure;
  std::jthread taking([&] { failure = failure_of_snapshot(); });
  ASSERT_TRUE(eventually_asked(MessageType::kFinish));
  const Message finish = on_loop([&] { return agent->asked.messages.back(); });
  on_loop([&] {
    cut = {value_record(1, 9, 90)};
    agent->asked.messages.clear();
    agent->asked.answer_of = [](const Message&) { return std::nullopt; };
  });
  std::jthread recovering([&] {
    EXPECT_THROW(controller->recover({{"clients", 1}, {"deadline_s", 2}}), CommandError);
  });
  // On a busy machine it may have given up by the time that anybody looks.
  ASSERT_TRUE(eventually([&] {
    return std::ranges::count(agent->asked.messages, MessageType::kCachedSet, &Message::type) > 0;
  }));
  on_loop([&] { agent->last_reply(answer_to(finish, {}, cut)); });
  taking.join();
  EXPECT_NE(failure.find("`recover` is under way"), std::string::npos) << failure;
  EXPECT_NE(failure_of_snapshot().find("`recover` is under way"), std::string::npos);
  EXPECT_EQ(on_disk(), before);
  EXPECT_FALSE(released(client));
}

}  // namespace
}  // namespace turntable::cache
