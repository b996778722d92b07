#include "farreach/cache/message_link.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <optional>
#include <thread>

#include "common/few_descriptors.h"
#include "farreach/cache/asking_listener.h"
#include "farreach/cache/message_listener.h"
#include "farreach/cache/testing_loop.h"
#include "net/testing_credentials.h"

namespace turntable::cache {
namespace {

using testing::run_until;

Message hello() {
  return request(MessageType::kHello, {kMessagesVersion, 16, 3});
}

// A controller that can be killed and comes back at the same port.
struct Controller {
  explicit Controller(net::EventLoop& the_loop, std::uint16_t port = 0)
      : loop(the_loop),
        listener(
            loop, tcp_address("127.0.0.1", port), net::testing::credentials(),
            [this](MessageListener::SessionId session, const Message& message) {
              received.push_back(message);
              if (answers) listener.send(session, answer_to(message, {42}));
            },
            [](MessageListener::SessionId) {}) {}

  net::EventLoop& loop;
  bool answers = true;
  std::vector<Message> received;
  MessageListener listener;
};

TEST(MessageLink, GreetsAndAsks) {
  net::EventLoop loop;
  Controller controller(loop);
  MessageLink link(loop, tcp_address("127.0.0.1", controller.listener.port()),
                   net::testing::credentials(), hello, [](const Message&) {});
  std::optional<Message> answer;
  link.ask(request(MessageType::kMaxNumber), [&](const Message& message) { answer = message; });
  ASSERT_TRUE(run_until(loop, [&] { return answer.has_value() && link.is_up(); }));
  EXPECT_EQ(answer->numbers, std::vector<std::uint32_t>{42});
  ASSERT_EQ(controller.received.size(), 2U);
  EXPECT_EQ(controller.received[0].numbers, hello().numbers);
}

TEST(MessageLink, AsksAgainWhenTheOtherSideHasBeenReplaced) {
  net::EventLoop loop;
  auto controller = std::make_unique<Controller>(loop);
  controller->answers = false;
  const std::uint16_t port = controller->listener.port();
  MessageLink link(loop, tcp_address("127.0.0.1", port), net::testing::credentials(), hello,
                   [](const Message&) {});
  int answers = 0;
  link.ask(request(MessageType::kHot), [&](const Message&) { ++answers; });
  std::function<void()> replace = [&] {
    if (controller->received.size() < 2) {
      loop.call_at(loop.now_ns() + 1'000'000, replace);
    } else {
      controller.reset();
      controller = std::make_unique<Controller>(loop, port);
    }
  };
  replace();
  ASSERT_TRUE(run_until(loop, [&] { return answers > 0 && link.is_up(); }));
  EXPECT_EQ(answers, 1);
  EXPECT_EQ(link.unanswered(), 0U);
  EXPECT_EQ(controller->received[0].type, MessageType::kHello);
}

// It died; what it had asked and nobody has read must not come behind its successor's requests.
TEST(AskingListener, AControllerEndsTheConnectionOfTheOneBefore) {
  net::EventLoop loop;
  std::vector<MessageType> asked;
  AskingListener agent(loop, tcp_address("127.0.0.1", 0), net::testing::credentials(),
                       [&](const Message& message, const AskingListener::Reply& reply) {
                         asked.push_back(message.type);
                         reply(answer_to(message));
                       });
  int closed = 0;
  const sockaddr_in address = tcp_address("127.0.0.1", agent.port());
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
            0);
  const net::Credentials another = net::testing::credentials("another controller");
  MessageChannel before(
      loop, std::move(socket),
      std::make_unique<net::ConnectorHandshake>(another.secret(), another.next()), {},
      [](const Message&) {}, [&](const std::string&) { ++closed; });
  before.send(hello());
  std::optional<MessageLink> after;
  EXPECT_TRUE(run_until(loop, [&] {
    if (!asked.empty() && !after)
      after.emplace(loop, address, net::testing::credentials(), hello, [](const Message&) {});
    return after && after->is_up() && closed > 0;
  }));
}

// A machine that is gone, as its peer sees it: what answers belongs to its kernel, or to a program
// that has stopped. Accepts connections, sends `says` on each, and reads what comes.
class Mute {
 public:
  Mute(net::EventLoop& loop, std::string says)
      : loop_(loop),
        says_(std::move(says)),
        socket_(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    const sockaddr_in address = tcp_address("127.0.0.1", 0);
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
  sockaddr_in address() const {
    sockaddr_in address{};
    socklen_t size = sizeof(address);
    ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    return address;
  }

 private:
  net::EventLoop& loop_;
  const std::string says_;
  UniqueFd socket_;
  std::vector<UniqueFd> connections_;
};

TEST(MessageLink, TriesAgainWhereNobodyProvesAnything) {
  net::EventLoop loop;
  Mute without_challenge(loop, "");
  Mute without_proof(loop, "TTC1" + std::string(32, 'n'));
  MessageLink one(loop, without_challenge.address(), net::testing::credentials(), hello,
                  [](const Message&) {});
  MessageLink other(loop, without_proof.address(), net::testing::credentials(), hello,
                    [](const Message&) {});
  EXPECT_TRUE(run_until(
      loop,
      [&] { return without_challenge.connections() >= 2 && without_proof.connections() >= 2; }))
      << without_challenge.connections() << " and " << without_proof.connections()
      << " connections";
}

// As a controller does that has been started and not configured yet.
TEST(MessageLink, SaysAgainWhatWasRefused) {
  net::EventLoop loop;
  int greetings = 0;
  std::unique_ptr<MessageListener> listener;
  listener = std::make_unique<MessageListener>(
      loop, tcp_address("127.0.0.1", 0), net::testing::credentials(),
      [&](MessageListener::SessionId session, const Message& message) {
        const bool is_ready = ++greetings == 3;
        listener->send(session, is_ready ? answer_to(message) : failure_of(message, "not yet"));
      },
      [](MessageListener::SessionId) {});
  MessageLink link(loop, tcp_address("127.0.0.1", listener->port()), net::testing::credentials(),
                   hello, [](const Message&) {});
  ASSERT_TRUE(run_until(loop, [&] { return link.is_up(); }));
  EXPECT_EQ(greetings, 3);
}

TEST(MessageLink, AnswersWhatTheOtherSideAsks) {
  net::EventLoop loop;
  std::optional<Message> answer;
  std::optional<MessageListener> listener;
  listener.emplace(
      loop, tcp_address("127.0.0.1", 0), net::testing::credentials(),
      [&](MessageListener::SessionId session, const Message& message) {
        if (message.is_answer) {
          answer = message;
        } else {
          Record record = key_only({});
          record.kind = Record::Kind::kValue;
          record.value.assign(kMaxCachedBytes, 1);
          // More than the socket's buffers take at once.
          listener->send(session, request(MessageType::kStore, {}, std::vector(20'000, record)));
        }
      },
      [](MessageListener::SessionId) {});
  std::unique_ptr<MessageLink> link;
  link = std::make_unique<MessageLink>(
      loop, tcp_address("127.0.0.1", listener->port()), net::testing::credentials(), hello,
      [&](const Message& message) {
        link->send(answer_to(message, {std::uint32_t(message.records.size())}));
      });
  ASSERT_TRUE(run_until(loop, [&] { return answer.has_value(); }));
  EXPECT_EQ(answer->numbers, std::vector<std::uint32_t>{20'000});
}

TEST(MessageLink, ATalkerThatIsNoneLosesItsConnectionOnly) {
  net::EventLoop loop;
  Controller controller(loop);
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in to = tcp_address("127.0.0.1", controller.listener.port());
  ASSERT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
  ASSERT_EQ(::send(socket.get(), "GET / HTTP/1.0\r\n\r\n", 18, 0), 18);
  MessageLink link(loop, to, net::testing::credentials(), hello, [](const Message&) {});
  ASSERT_TRUE(run_until(
      loop, [&] { return link.is_up() && controller.listener.refusals().unproven == 1; }));
  EXPECT_EQ(controller.received.size(), 1U);
}

TEST(MessageListener, WithoutDescriptorsWaitsAndThenAccepts) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer needs descriptors itself: it looks at objects through a pipe";
#endif
  net::EventLoop loop;
  Controller controller(loop);
  const UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = tcp_address("127.0.0.1", controller.listener.port());
  auto none = std::make_unique<turntable::testing::NoDescriptorLeft>();
  ASSERT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
            0);
  std::uint64_t failed = 0;
  int turns = 0;  // of the loop, a millisecond each at least
  ASSERT_TRUE(run_until(loop, [&] {
    if (++turns == 50) {
      failed = controller.listener.failed_accepts();
      none.reset();
    }
    return controller.listener.sessions() == 1;
  }));
  EXPECT_GE(failed, 1U);
  EXPECT_LT(failed, 10U) << "it tries in every turn of the loop";
}

}  // namespace
}  // namespace turntable::cache
