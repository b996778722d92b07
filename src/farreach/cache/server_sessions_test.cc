// Which server is asked what, over generations of the controller, processes and stores.
#include "farreach/cache/server_sessions.h"

#include <gtest/gtest.h>

#include <utility>

namespace turntable::cache {
namespace {

constexpr unsigned kPartition = 3;
constexpr std::uint32_t kStore = 70, kNewStore = 71;

class ServerSessionsTest : public ::testing::Test {
 protected:
  ServerSessionsTest() { sessions_.begin_generation(16); }

  void hello(ServerSessions::SessionId session, std::uint32_t store = kStore,
             bool holds_writes = false) {
    Message message = message_of({.scale = 16,
                                  .holds_writes = holds_writes,
                                  .served = {{.partition = kPartition, .store = store}}});
    message.id = 1;
    sessions_.received(session, message);
  }
  void ask(MessageType type = MessageType::kReplay, std::uint32_t store = 0) {
    sessions_.ask(
        kPartition, request(type), [this](const Message& answer) { answers_.push_back(answer); },
        store == 0 ? std::nullopt : std::optional(store));
  }
  void answer(ServerSessions::SessionId session, const Message& question) {
    sessions_.received(session, answer_to(question));
  }
  // What the session was sent, without answers to HELLO.
  std::vector<Message> asked(ServerSessions::SessionId session) {
    std::vector<Message> result;
    for (const auto& [to, message] : sent_) {
      if (to == session && !message.is_answer) result.push_back(message);
    }
    return result;
  }
  bool is_accepted(ServerSessions::SessionId session) {
    return std::any_of(sent_.begin(), sent_.end(), [=](const auto& sent) {
      return sent.first == session && sent.second.is_answer && sent.second.text.empty();
    });
  }

  std::vector<std::pair<ServerSessions::SessionId, Message>> sent_;
  std::vector<Message> answers_;
  std::vector<ServerSessions::Found> searches_;
  ServerSessions sessions_{
      [this](auto session, const Message& message) { sent_.emplace_back(session, message); },
      [](const Message&, const ServerSessions::Reply&) {},
      [this](const std::set<unsigned>& partitions, ServerSessions::Found found) {
        EXPECT_EQ(partitions, std::set<unsigned>{kPartition});
        searches_.push_back(std::move(found));
      }};
};

TEST_F(ServerSessionsTest, AnAnswerTellsThatTheQuestionWasAskedBefore) {
  ask();  // before there is any server: not sent
  hello(1);
  answer(1, asked(1)[0]);
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_FALSE(answers_[0].was_asked_before);
  ask();
  sessions_.closed(1);
  hello(2);
  answer(2, asked(2)[0]);
  ASSERT_EQ(answers_.size(), 2U);
  EXPECT_TRUE(answers_[1].was_asked_before);
}

TEST_F(ServerSessionsTest, AKilledServerThatComesBackWithItsStoreIsAskedAgain) {
  ask();  // before there is any
  hello(1);
  ASSERT_EQ(asked(1).size(), 1U);
  EXPECT_EQ(asked(1)[0].store, kStore);
  sessions_.closed(1);
  hello(2);
  ASSERT_EQ(asked(2).size(), 1U);
  answer(1, asked(1)[0]);  // read late
  EXPECT_TRUE(answers_.empty());
  EXPECT_EQ(sessions_.unexpected_answers(), 1U);
  answer(2, asked(2)[0]);
  EXPECT_EQ(answers_.size(), 1U);
  EXPECT_EQ(sessions_.unanswered(), 0U);
}

TEST_F(ServerSessionsTest, WhatIsForAStoreFailsWhenAnotherTakesItsPlace) {
  hello(1);
  ask();
  sessions_.closed(1);
  ask(MessageType::kFence);
  hello(2, kNewStore);
  EXPECT_TRUE(asked(2).empty());
  ASSERT_EQ(answers_.size(), 2U);
  EXPECT_NE(answers_[0].text.find("the store of partition 3 began anew"), std::string::npos);
  EXPECT_EQ(sessions_.for_other_stores(), 2U);
  EXPECT_EQ(answers_[0].store, kNewStore);
  ask(MessageType::kStore, kStore);  // asked late
  EXPECT_EQ(answers_.size(), 3U);
  ask(MessageType::kStore);
  EXPECT_EQ(asked(2).size(), 1U);
}

TEST_F(ServerSessionsTest, AGenerationAsksNothingOfTheOneBefore) {
  hello(1);
  ask();
  sessions_.begin_generation(16);
  EXPECT_TRUE(sessions_.partitions().empty());
  EXPECT_EQ(sessions_.unanswered(), 0U);
  hello(2);
  EXPECT_TRUE(asked(2).empty());
  answer(1, asked(1)[0]);
  EXPECT_TRUE(answers_.empty());
}

TEST_F(ServerSessionsTest, WhoeverWaitsNoMoreHasNotAsked) {
  const std::uint32_t id =
      sessions_.ask(kPartition, request(MessageType::kReplay), [](const Message&) { FAIL(); });
  sessions_.withdraw(id);
  hello(1);
  EXPECT_TRUE(asked(1).empty());
}

TEST_F(ServerSessionsTest, WithoutAControllerNobodyIsAccepted) {
  sessions_.begin_generation(0);
  hello(1);
  EXPECT_FALSE(is_accepted(1));
  EXPECT_EQ(sessions_.refused_hellos(), 1U);
}

TEST_F(ServerSessionsTest, AServerThatHoldsWritesBackIsToldWhatIsCached) {
  hello(1, kStore, /*holds_writes=*/true);
  ask();
  EXPECT_FALSE(is_accepted(1));
  EXPECT_TRUE(asked(1).empty());
  EXPECT_TRUE(sessions_.partitions().empty());
  const CachedKey cached{workload::wire_key(5), {.id = 9, .number = 8}};
  searches_.at(0)({cached});
  ASSERT_EQ(sent_.size(), 2U);
  EXPECT_EQ(read_cached(sent_[0].second, 1), std::vector{cached});
  EXPECT_EQ(sent_[1].second.type, MessageType::kReplay);
}

TEST_F(ServerSessionsTest, WhoHasGoneOrHasASuccessorIsToldNothing) {
  hello(1, kStore, true);
  hello(9, kStore, true);  // another node
  EXPECT_EQ(sessions_.refused_hellos(), 1U);
  sessions_.closed(1);
  hello(2, kStore, true);
  ask();
  searches_.at(0)({});  // what 1 had waited for
  EXPECT_TRUE(sessions_.partitions().empty());
  EXPECT_TRUE(asked(1).empty());
  searches_.at(1)({});
  EXPECT_EQ(asked(2).size(), 1U);
  sessions_.closed(2);
  hello(3, kStore, true);
  sessions_.closed(3);
  searches_.at(2)({});
  EXPECT_TRUE(asked(3).empty());
  EXPECT_FALSE(is_accepted(3));
}

}  // namespace
}  // namespace turntable::cache
