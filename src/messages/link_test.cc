#include "messages/link.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <optional>

#include "messages/listener.h"
#include "messages/testing_message.h"
#include "net/testing_credentials.h"
#include "net/testing_loop.h"
#include "net/testing_loopback.h"

namespace turntable::messages {
namespace {

using net::testing::loopback;
using net::testing::run_until;
using testing::answer_to;
using testing::hello;
using testing::Note;
using testing::question;
using testing::refusal_of;
using testing::Type;

// A node that can be killed and comes back at the same port.
struct Node {
  explicit Node(net::EventLoop& the_loop, std::uint16_t port = 0)
      : loop(the_loop),
        listener(
            loop, loopback(port), net::testing::credentials(),
            [this](SessionListener::SessionId session, const Note& message) {
              received.push_back(message);
              if (answers) listener.send(session, answer_to(message, "42"));
            },
            [](SessionListener::SessionId) {}) {}

  net::EventLoop& loop;
  bool answers = true;
  std::vector<Note> received;
  Listener<Note> listener;
};

TEST(Link, GreetsAndAsks) {
  net::EventLoop loop;
  Node node(loop);
  Link<Note> link(loop, loopback(node.listener.port()), net::testing::credentials(), hello,
                  [](const Note&) {});
  std::optional<Note> answer;
  link.ask(question(), [&](const Note& message) { answer = message; });
  ASSERT_TRUE(run_until(loop, [&] { return answer.has_value() && link.is_up(); }));
  EXPECT_EQ(answer->text, "42");
  ASSERT_EQ(node.received.size(), 2U);
  EXPECT_EQ(node.received[0].text, hello().text);
}

TEST(Link, AsksAgainWhenTheOtherSideHasBeenReplaced) {
  net::EventLoop loop;
  auto node = std::make_unique<Node>(loop);
  node->answers = false;
  const std::uint16_t port = node->listener.port();
  Link<Note> link(loop, loopback(port), net::testing::credentials(), hello, [](const Note&) {});
  int answers = 0;
  link.ask(question(), [&](const Note&) { ++answers; });
  std::function<void()> replace = [&] {
    if (node->received.size() < 2) {
      loop.call_at(loop.now_ns() + 1'000'000, replace);
    } else {
      node.reset();
      node = std::make_unique<Node>(loop, port);
    }
  };
  replace();
  ASSERT_TRUE(run_until(loop, [&] { return answers > 0 && link.is_up(); }));
  EXPECT_EQ(answers, 1);
  EXPECT_EQ(link.unanswered(), 0U);
  EXPECT_EQ(node->received[0].type, Type::kHello);
}

// A machine that is gone, as its peer sees it: what answers belongs to its kernel, or to a program
// that has stopped. Accepts connections, sends `says` on each, and reads what comes.
class Mute {
 public:
  Mute(net::EventLoop& loop, std::string says)
      : loop_(loop),
        says_(std::move(says)),
        socket_(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    const sockaddr_in address = loopback();
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
              0);
    EXPECT_EQ(::listen(socket_.get(), 8), 0);
    loop_.watch(socket_.get(), POLLIN, [this](short) {
      connections_.emplace_back(::accept(socket_.get(), nullptr, nullptr));
      ::send(connections_.back().get(), says_.data(), says_.size(), MSG_NOSIGNAL);
    });
  }
  ~Mute() { loop_.unwatch(socket_.get()); }
  Mute(const Mute&) = delete;
  Mute& operator=(const Mute&) = delete;

  std::size_t connections() const { return connections_.size(); }
  sockaddr_in address() const { return net::address_of(socket_.get()); }

 private:
  net::EventLoop& loop_;
  const std::string says_;
  UniqueFd socket_;
  std::vector<UniqueFd> connections_;
};

TEST(Link, TriesAgainWhereNobodyProvesAnything) {
  net::EventLoop loop;
  Mute without_challenge(loop, "");
  Mute without_proof(loop, "TTC1" + std::string(32, 'n'));
  Link<Note> one(loop, without_challenge.address(), net::testing::credentials(), hello,
                 [](const Note&) {});
  Link<Note> other(loop, without_proof.address(), net::testing::credentials(), hello,
                   [](const Note&) {});
  EXPECT_TRUE(run_until(
      loop,
      [&] { return without_challenge.connections() >= 2 && without_proof.connections() >= 2; }))
      << without_challenge.connections() << " and " << without_proof.connections()
      << " connections";
}

// As a node does that has been started and not configured yet.
TEST(Link, SaysAgainWhatWasRefused) {
  net::EventLoop loop;
  int greetings = 0;
  std::unique_ptr<Listener<Note>> listener;
  listener = std::make_unique<Listener<Note>>(
      loop, loopback(), net::testing::credentials(),
      [&](SessionListener::SessionId session, const Note& message) {
        const bool is_ready = ++greetings == 3;
        listener->send(session, is_ready ? answer_to(message) : refusal_of(message));
      },
      [](SessionListener::SessionId) {});
  Link<Note> link(loop, loopback(listener->port()), net::testing::credentials(), hello,
                  [](const Note&) {});
  ASSERT_TRUE(run_until(loop, [&] { return link.is_up(); }));
  EXPECT_EQ(greetings, 3);
}

TEST(Link, AnswersWhatTheOtherSideAsks) {
  net::EventLoop loop;
  std::optional<Note> answer;
  std::optional<Listener<Note>> listener;
  listener.emplace(
      loop, loopback(), net::testing::credentials(),
      [&](SessionListener::SessionId session, const Note& message) {
        if (message.is_answer) {
          answer = message;
        } else {  // more than the socket's buffers take at once
          listener->send(session, question(std::string(3'000'000, 'x')));
        }
      },
      [](SessionListener::SessionId) {});
  std::unique_ptr<Link<Note>> link;
  link = std::make_unique<Link<Note>>(
      loop, loopback(listener->port()), net::testing::credentials(), hello,
      [&](const Note& asked) { link->send(answer_to(asked, std::to_string(asked.text.size()))); });
  ASSERT_TRUE(run_until(loop, [&] { return answer.has_value(); }));
  EXPECT_EQ(answer->text, "3000000");
}

// One that is not waited for any more is not asked again, and its late answer is for nobody.
TEST(Link, CountsAnswersThatNobodyWaitsFor) {
  net::EventLoop loop;
  Node node(loop);
  Link<Note> link(loop, loopback(node.listener.port()), net::testing::credentials(), hello,
                  [](const Note&) {});
  bool is_answered = false;
  std::optional<std::uint32_t> id;
  ASSERT_TRUE(run_until(loop, [&] {
    if (link.is_up() && !id) {
      id = link.ask(question(), [&](const Note&) { is_answered = true; });
      link.withdraw(*id);
    }
    return link.unexpected_answers() == 1;
  }));
  EXPECT_FALSE(is_answered);
  EXPECT_EQ(link.unanswered(), 0U);
}

TEST(Link, ATalkerThatIsNoneLosesItsConnectionOnly) {
  net::EventLoop loop;
  Node node(loop);
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in to = loopback(node.listener.port());
  ASSERT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
  ASSERT_EQ(::send(socket.get(), "GET / HTTP/1.0\r\n\r\n", 18, 0), 18);
  Link<Note> link(loop, to, net::testing::credentials(), hello, [](const Note&) {});
  ASSERT_TRUE(
      run_until(loop, [&] { return link.is_up() && node.listener.refusals().unproven == 1; }));
  EXPECT_EQ(node.received.size(), 1U);
}

}  // namespace
}  // namespace turntable::messages
