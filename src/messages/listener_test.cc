#include "messages/listener.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "common/few_descriptors.h"
#include "messages/link.h"
#include "messages/testing_message.h"
#include "net/testing_credentials.h"
#include "net/testing_loop.h"
#include "net/testing_loopback.h"

namespace turntable::messages {
namespace {

using net::testing::credentials;
using net::testing::credentials_of_another_run;
using net::testing::loopback;
using net::testing::run_until;
using testing::answer_to;
using testing::hello;
using testing::Note;

// Answers every message, and tells which sessions have spoken and ended.
struct Answering {
  explicit Answering(net::EventLoop& loop)
      : listener(
            loop, loopback(), credentials("listener"),
            [this](SessionListener::SessionId session, const Note& message) {
              spoke.insert(session);
              listener.send(session, answer_to(message));
            },
            [this](SessionListener::SessionId session) { ended.push_back(session); }) {}

  sockaddr_in address() const { return loopback(listener.port()); }

  std::set<SessionListener::SessionId> spoke;
  std::vector<SessionListener::SessionId> ended;
  Listener<Note> listener;
};

// from: an address of this machine.
UniqueFd connected(const sockaddr_in& to, const char* from = "127.0.0.1") {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in own = net::parse_ipv4("test", from, 0);
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&own), sizeof(own)), 0);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
  return socket;
}

// A connection whose incarnation the test chooses, and whether it has been ended.
struct Connection {
  Connection(net::EventLoop& loop, const sockaddr_in& to, const net::Identity& identity)
      : channel(
            loop, connected(to),
            std::make_unique<net::ConnectorHandshake>(credentials().secret(), identity), {},
            [this](Frame) { answered = true; }, [this](const std::string&) { closed = true; }) {
    channel.send(hello());
  }
  bool answered = false, closed = false;
  Channel channel;
};

TEST(Listener, NobodyOfAnotherRunGetsIn) {
  net::EventLoop loop;
  Answering listener(loop);
  Link<Note> stranger(loop, listener.address(), credentials_of_another_run(), hello,
                      [](const Note&) {});
  Link<Note> node(loop, listener.address(), credentials(), hello, [](const Note&) {});
  ASSERT_TRUE(
      run_until(loop, [&] { return node.is_up() && listener.listener.refusals().unproven >= 2; }));
  EXPECT_FALSE(stranger.is_up());
  EXPECT_EQ(listener.spoke.size(), 1U);
  EXPECT_TRUE(listener.ended.empty());
}

TEST(Listener, ANodeDoesNotTalkToAListenerOfAnotherRun) {
  net::EventLoop loop;
  Answering listener(loop);
  int greetings = 0;
  Link<Note> node(
      loop, listener.address(), credentials_of_another_run(),
      [&] {
        ++greetings;
        return hello();
      },
      [](const Note&) {});
  ASSERT_TRUE(run_until(loop, [&] { return greetings >= 3; }));
  EXPECT_TRUE(listener.spoke.empty());
}

TEST(Listener, ANewerIncarnationTakesThePlaceOfTheOneBefore) {
  net::EventLoop loop;
  Answering listener(loop);
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

TEST(Listener, OtherNodesKeepTheirConnections) {
  net::EventLoop loop;
  Answering listener(loop);
  Connection one(loop, listener.address(), credentials("one").next());
  Connection other(loop, listener.address(), credentials("other").next());
  ASSERT_TRUE(run_until(loop, [&] { return one.answered && other.answered; }));
  EXPECT_TRUE(listener.ended.empty());
  EXPECT_EQ(listener.listener.sessions(), 2U);
}

TEST(Listener, SilentConnectionsMakeRoomForNodes) {
  net::EventLoop loop;
  Answering listener(loop);
  std::vector<UniqueFd> silent;
  silent.reserve(100);
  for (int i = 0; i < 100; ++i) silent.push_back(connected(listener.address()));
  Link<Note> node(loop, listener.address(), credentials(), hello, [](const Note&) {});
  ASSERT_TRUE(run_until(loop, [&] { return node.is_up(); }));
  EXPECT_LE(listener.listener.sessions(), 64U + 1U);
  EXPECT_GE(listener.listener.refusals().silent, 100U - 64U);
}

using Bytes = net::Handshake::Bytes;

void say(const UniqueFd& socket, std::span<const std::uint8_t> bytes) {
  ASSERT_EQ(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

Bytes heard(const UniqueFd& socket, std::size_t size) {
  Bytes bytes(size);
  const ssize_t count = ::recv(socket.get(), bytes.data(), size, MSG_WAITALL);
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return bytes;
}

void expect_end(const UniqueFd& socket) {
  while (!heard(socket, 1).empty()) {
  }
}

// A node has begun to prove itself. Before it has ended strangers come from an address, more than
// may wait, and say something or nothing.
void expect_to_be_let_in_among(const char* strangers_from, const Bytes& said) {
  constexpr std::size_t kStrangers = 100, kMost = 64, kChallengeBytes = 4 + 32;  // net/handshake.h
  net::EventLoop loop;
  Answering listener(loop);
  std::thread runs([&] { loop.run(); });
  const UniqueFd node = connected(listener.address());
  Bytes challenge = heard(node, kChallengeBytes), proof;
  net::ConnectorHandshake handshake(credentials().secret(), credentials("node").next());
  handshake.receive(challenge, proof);
  say(node, std::span(proof).first(1));
  std::vector<UniqueFd> strangers;
  for (std::size_t i = 0; i < kStrangers; ++i) {
    strangers.push_back(connected(listener.address(), strangers_from));
    if (!said.empty()) say(strangers.back(), said);
  }
  for (std::size_t i = 0; i < kStrangers - kMost; ++i) expect_end(strangers[i]);
  say(node, std::span(proof).subspan(1));
  EXPECT_EQ(heard(node, net::Handshake::kMacBytes).size(), net::Handshake::kMacBytes);
  loop.stop();
  runs.join();
  EXPECT_GE(
      said.empty() ? listener.listener.refusals().silent : listener.listener.refusals().unproven,
      kStrangers - kMost);
}

TEST(Listener, ManyThatSayNothingPushOutNobodyWhoProvesHimself) {
  expect_to_be_let_in_among("127.0.0.1", {});
}

TEST(Listener, ManyOfOneAddressPushOutNobodyOfAnother) {
  expect_to_be_let_in_among("127.0.0.2", {'T', 'T', 'C', '1'});
}

TEST(Listener, WithoutDescriptorsWaitsAndThenAccepts) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer needs descriptors itself: it looks at objects through a pipe";
#endif
  net::EventLoop loop;
  Answering listener(loop);
  const sockaddr_in address = listener.address();
  const UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  auto none = std::make_unique<turntable::testing::NoDescriptorLeft>();
  ASSERT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
            0);
  std::uint64_t failed = 0;
  int turns = 0;  // of the loop, a millisecond each at least
  ASSERT_TRUE(run_until(loop, [&] {
    if (++turns == 50) {
      failed = listener.listener.failed_accepts();
      none.reset();
    }
    return listener.listener.sessions() == 1;
  }));
  EXPECT_GE(failed, 1U);
  EXPECT_LT(failed, 10U) << "it tries in every turn of the loop";
}

// Whoever has proven itself may still be of another build.
TEST(Listener, BytesThatAreNoMessageEndTheirConnectionOnly) {
  net::EventLoop loop;
  Answering listener(loop);
  Connection good(loop, listener.address(), credentials("good").next());
  Connection bad(loop, listener.address(), credentials("bad").next());
  bool is_sent = false;
  ASSERT_TRUE(run_until(loop, [&] {
    if (good.answered && bad.answered && !std::exchange(is_sent, true)) {
      bad.channel.send(Note{.type = static_cast<testing::Type>(0x55), .text = {}});
    }
    return bad.closed;
  }));
  EXPECT_FALSE(good.closed);
  EXPECT_EQ(listener.ended.size(), 1U);
  EXPECT_EQ(listener.listener.sessions(), 1U);
  EXPECT_EQ(listener.listener.refusals().unproven, 0U);
}

}  // namespace
}  // namespace turntable::messages
