#include "messages/asking_listener.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "messages/link.h"
#include "messages/testing_message.h"
#include "net/testing_credentials.h"
#include "net/testing_loop.h"
#include "net/testing_loopback.h"

namespace turntable::messages {
namespace {

using net::testing::credentials;
using net::testing::loopback;
using net::testing::run_until;
using testing::answer_to;
using testing::hello;
using testing::Note;
using testing::question;
using testing::Type;

// Answers whatever it is asked.
struct Listening {
  explicit Listening(net::EventLoop& loop)
      : listener(loop, loopback(), credentials(), Type::kHello,
                 [this](const Note& message, const AskingListener<Note>::Reply& reply) {
                   asked.push_back(message);
                   reply(answer_to(message));
                 }) {}

  sockaddr_in address() const { return loopback(listener.port()); }

  std::vector<Note> asked;
  AskingListener<Note> listener;
};

// Connects, and answers with its name.
struct Peer {
  Peer(net::EventLoop& loop, const sockaddr_in& to, const std::string& name)
      : link(loop, to, credentials(name), hello, [this, name](const Note& asked) {
          ++questions;
          if (answers) link.send(answer_to(asked, name));
        }) {}

  bool answers = true;
  int questions = 0;
  Link<Note> link;
};

TEST(AskingListener, AsksOnceSomebodyHasGreeted) {
  net::EventLoop loop;
  Listening listening(loop);
  std::string answer;
  listening.listener.ask(question(), [&](const Note& said) { answer = said.text; });
  EXPECT_FALSE(listening.listener.is_up());
  Peer peer(loop, listening.address(), "peer");
  ASSERT_TRUE(run_until(loop, [&] { return !answer.empty() && peer.link.is_up(); }));
  EXPECT_EQ(answer, "peer");
  EXPECT_TRUE(listening.listener.is_up());
  EXPECT_EQ(listening.listener.unanswered(), 0U);
}

TEST(AskingListener, AsksTheSuccessorWhatHasNoAnswer) {
  net::EventLoop loop;
  Listening listening(loop);
  auto before = std::make_unique<Peer>(loop, listening.address(), "before");
  before->answers = false;
  std::optional<Peer> after;
  std::string answer;
  listening.listener.ask(question(), [&](const Note& said) { answer = said.text; });
  ASSERT_TRUE(run_until(loop, [&] {
    if (before && before->questions > 0) {
      before.reset();
      after.emplace(loop, listening.address(), "after");
    }
    return !answer.empty();
  }));
  EXPECT_EQ(answer, "after");
}

// It died; what it had asked and nobody has read must not come behind its successor's requests.
TEST(AskingListener, AGreetingEndsTheConnectionOfTheOneBefore) {
  net::EventLoop loop;
  Listening listening(loop);
  const sockaddr_in address = listening.address();
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
            0);
  const net::Credentials another = credentials("another");
  int closed = 0;
  Channel before(
      loop, std::move(socket),
      std::make_unique<net::ConnectorHandshake>(another.secret(), another.next()), {}, [](Frame) {},
      [&](const std::string&) { ++closed; });
  before.send(hello());
  std::optional<Peer> after;
  EXPECT_TRUE(run_until(loop, [&] {
    if (!listening.asked.empty() && !after) after.emplace(loop, address, "after");
    return after && after->link.is_up() && closed > 0;
  }));
}

}  // namespace
}  // namespace turntable::messages
