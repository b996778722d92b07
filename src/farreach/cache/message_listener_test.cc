#include "farreach/cache/message_listener.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <optional>

#include "farreach/cache/message_link.h"
#include "farreach/cache/testing_loop.h"
#include "net/testing_credentials.h"

namespace turntable::cache {
namespace {

using net::testing::credentials;
using net::testing::credentials_of_another_run;
using testing::run_until;

Message hello() {
  return request(MessageType::kHello, {kMessagesVersion, 16, 3});
}

// Answers every message, and tells which sessions have spoken and ended.
struct Listener {
  explicit Listener(net::EventLoop& loop)
      : listener(
            loop, tcp_address("127.0.0.1", 0), credentials("controller"),
            [this](MessageListener::SessionId session, const Message& message) {
              spoke.insert(session);
              listener.send(session, answer_to(message));
            },
            [this](MessageListener::SessionId session) { ended.push_back(session); }) {}

  sockaddr_in address() const { return tcp_address("127.0.0.1", listener.port()); }

  std::set<MessageListener::SessionId> spoke;
  std::vector<MessageListener::SessionId> ended;
  MessageListener listener;
};

UniqueFd connected(const sockaddr_in& to) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
  return socket;
}

// A connection whose incarnation the test chooses, and whether it has been ended.
struct Connection {
  Connection(net::EventLoop& loop, const sockaddr_in& to, const net::Identity& identity)
      : channel(
            loop, connected(to),
            std::make_unique<net::ConnectorHandshake>(credentials().secret(), identity), {},
            [this](const Message&) { answered = true; },
            [this](const std::string&) { closed = true; }) {
    channel.send(hello());
  }
  bool answered = false, closed = false;
  MessageChannel channel;
};

TEST(MessageListener, NobodyOfAnotherRunGetsIn) {
  net::EventLoop loop;
  Listener listener(loop);
  MessageLink stranger(loop, listener.address(), credentials_of_another_run(), hello,
                       [](const Message&) {});
  MessageLink node(loop, listener.address(), credentials(), hello, [](const Message&) {});
  ASSERT_TRUE(
      run_until(loop, [&] { return node.is_up() && listener.listener.refusals().unproven >= 2; }));
  EXPECT_FALSE(stranger.is_up());
  EXPECT_EQ(listener.spoke.size(), 1U);
  EXPECT_TRUE(listener.ended.empty());
}

TEST(MessageListener, ANodeDoesNotTalkToAListenerOfAnotherRun) {
  net::EventLoop loop;
  Listener listener(loop);
  int greetings = 0;
  MessageLink node(
      loop, listener.address(), credentials_of_another_run(),
      [&] {
        ++greetings;
        return hello();
      },
      [](const Message&) {});
  ASSERT_TRUE(run_until(loop, [&] { return greetings >= 3; }));
  EXPECT_TRUE(listener.spoke.empty());
}

TEST(MessageListener, ANewerIncarnationTakesThePlaceOfTheOneBefore) {
  net::EventLoop loop;
  Listener listener(loop);
  const net::Incarnation old{.boot = {1}, .started_ns = 5, .connection = 1};
  const net::Incarnation restarted{.boot = {1}, .started_ns = 6, .connection = 1};
  // Half open: it never learns that its process has been replaced.
  Connection before(loop, listener.address(), {.node = "server", .incarnation = old});
  std::optional<Connection> after, late;
  ASSERT_TRUE(run_until(loop, [&] {
    if (before.answered && !after) {
      after.emplace(loop, listener.address(), net::Identity{"server", restarted});
    }
    if (after && after->answered && !late) {
      late.emplace(loop, listener.address(), net::Identity{"server", old});
    }
    return late && late->closed;
  }));
  EXPECT_TRUE(before.closed);
  EXPECT_FALSE(after->closed);
  EXPECT_FALSE(late->answered);
  EXPECT_EQ(listener.ended.size(), 1U);
  EXPECT_EQ(listener.listener.refusals().older, 1U);
  EXPECT_EQ(listener.listener.sessions(), 1U);
}

TEST(MessageListener, OtherNodesKeepTheirConnections) {
  net::EventLoop loop;
  Listener listener(loop);
  Connection one(loop, listener.address(), credentials("one").next());
  Connection other(loop, listener.address(), credentials("other").next());
  ASSERT_TRUE(run_until(loop, [&] { return one.answered && other.answered; }));
  EXPECT_TRUE(listener.ended.empty());
  EXPECT_EQ(listener.listener.sessions(), 2U);
}

TEST(MessageListener, SilentConnectionsMakeRoomForNodes) {
  net::EventLoop loop;
  Listener listener(loop);
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(connected(listener.address()));
  MessageLink node(loop, listener.address(), credentials(), hello, [](const Message&) {});
  ASSERT_TRUE(run_until(loop, [&] { return node.is_up(); }));
  EXPECT_LE(listener.listener.sessions(), 64U + 1U);
  EXPECT_GE(listener.listener.refusals().silent, 100U - 64U);
}

}  // namespace
}  // namespace turntable::cache
