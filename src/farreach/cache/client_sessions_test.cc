#include "farreach/cache/client_sessions.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "farreach/cache/controller_listener.h"
#include "farreach/cache/links.h"
#include "net/testing_credentials.h"
#include "net/testing_loop.h"
#include "net/testing_loopback.h"

namespace turntable::cache {
namespace {

using SessionId = ClientSessions::SessionId;

Message hello(std::uint32_t version = kMessagesVersion) {
  return request(MessageType::kClientHello, {version});
}

class ClientSessionsTest : public ::testing::Test {
 protected:
  struct Sent {
    SessionId session;
    Message message;
  };

  // Asks, and keeps the answers' texts, "ok" for none.
  void ask(SessionId session, MessageType type = MessageType::kCopies) {
    sessions_.ask(session, request(type), [this](const Message& answer) {
      answers_.push_back(answer.text.empty() ? "ok" : answer.text);
    });
  }

  std::vector<Sent> sent_;
  std::vector<std::string> answers_;
  ClientSessions sessions_{[this](SessionId session, const Message& message) {
    sent_.push_back({session, message});
  }};
};

TEST_F(ClientSessionsTest, WhoHasGreetedIsConnectedUntilItCloses) {
  sessions_.received(4, hello());
  sessions_.received(2, hello());
  EXPECT_EQ(sessions_.connected(), (std::vector<SessionId>{2, 4}));
  EXPECT_EQ(sent_.at(0).message, answer_to(hello(), {kMessagesVersion}));
  sessions_.closed(4);
  EXPECT_EQ(sessions_.connected(), std::vector<SessionId>{2});
}

TEST_F(ClientSessionsTest, AnotherVersionIsRefused) {
  sessions_.received(1, hello(kMessagesVersion + 1));
  sessions_.received(2, request(MessageType::kClientHello));
  EXPECT_TRUE(sessions_.connected().empty());
  EXPECT_EQ(sessions_.refused_hellos(), 2U);
  EXPECT_NE(sent_.at(0).message.text.find("expected version"), std::string::npos);
}

TEST_F(ClientSessionsTest, AnAnswerComesOnce) {
  sessions_.received(1, hello());
  ask(1);
  const Message asked = sent_.back().message;
  sessions_.received(1, answer_to(asked));
  EXPECT_EQ(answers_, std::vector<std::string>{"ok"});
  sessions_.received(1, answer_to(asked));
  sessions_.closed(1);
  EXPECT_EQ(answers_.size(), 1U);
  EXPECT_EQ(sessions_.unexpected_messages(), 1U);
  EXPECT_EQ(sessions_.unanswered(), 0U);
}

TEST_F(ClientSessionsTest, WhatAClosedSessionWasAskedFailsAndIsNotAskedAgain) {
  sessions_.received(1, hello());
  sessions_.received(2, hello());
  ask(1);
  ask(1, MessageType::kReleaseCopies);
  ask(2);
  sessions_.closed(1);
  ASSERT_EQ(answers_.size(), 2U);
  EXPECT_NE(answers_[0].find("closed"), std::string::npos);
  const std::size_t sent = sent_.size();
  sessions_.received(3, hello());  // it has come back
  EXPECT_EQ(sent_.size(), sent + 1);
  ask(1);
  EXPECT_EQ(answers_.size(), 3U);
  EXPECT_EQ(sessions_.unanswered(), 1U);  // session 2's
}

TEST_F(ClientSessionsTest, OddMessagesAreCountedAndSettleNothing) {
  sessions_.received(1, hello());
  sessions_.received(2, hello());
  ask(1);
  const Message asked = sent_.back().message;
  sessions_.received(2, answer_to(asked));  // another client's
  Message other = asked;
  other.type = MessageType::kReleaseCopies;
  sessions_.received(1, answer_to(other));
  sessions_.received(1, request(MessageType::kHot));
  EXPECT_NE(sent_.back().message.text, "");
  EXPECT_EQ(sessions_.unexpected_messages(), 3U);
  EXPECT_TRUE(answers_.empty());
  sessions_.received(1, answer_to(asked));
  EXPECT_EQ(answers_.size(), 1U);
}

TEST(ControllerListener, TellsClientsFromServersAtOnePort) {
  net::EventLoop loop;
  std::vector<MessageType> asked_by_servers;
  ControllerListener listener(
      loop, net::testing::loopback(), net::testing::credentials(),
      [&](const Message& asked, const ServerSessions::Reply& reply) {
        asked_by_servers.push_back(asked.type);
        reply(answer_to(asked));
      },
      [](const auto&, const auto&) {});
  listener.begin_generation(16);
  const sockaddr_in to = net::testing::loopback(listener.port());
  std::unique_ptr<MessageLink> client, server;
  client = std::make_unique<MessageLink>(
      loop, to, net::testing::credentials("client"), [] { return hello(); },
      [&](const Message& asked) { client->send(answer_to(asked, {8})); });
  server = std::make_unique<MessageLink>(
      loop, to, net::testing::credentials("server"),
      [] { return message_of(ServerHello{.scale = 16, .served = {{.partition = 3, .store = 1}}}); },
      [](const Message&) {});
  bool server_answered = false, gone = false;
  std::vector<std::uint32_t> answered;
  server->ask(request(MessageType::kHot), [&](const Message&) { server_answered = true; });
  std::function<void()> watch = [&] {
    ClientSessions& clients = listener.clients();
    if (!answered.empty()) {
      client.reset();
    } else if (client->is_up() && server_answered && clients.unanswered() == 0) {
      clients.ask(clients.connected().at(0), request(MessageType::kCopies),
                  [&](const Message& answer) { answered = answer.numbers; });
    }
    gone = !client && clients.connected().empty();
    if (!gone) loop.call_at(loop.now_ns() + 1'000'000, watch);
  };
  watch();
  ASSERT_TRUE(net::testing::run_until(loop, [&] { return gone; }));
  EXPECT_EQ(answered, std::vector<std::uint32_t>{8});
  EXPECT_EQ(asked_by_servers, std::vector<MessageType>{MessageType::kHot});
  EXPECT_EQ(listener.servers().partitions(), std::set<unsigned>{3});
}

}  // namespace
}  // namespace turntable::cache
