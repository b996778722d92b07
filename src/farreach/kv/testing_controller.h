// A cache-controller that a test plays, over loopback, on a thread of its own. One node connects.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "common/deadline.h"
#include "farreach/cache/links.h"
#include "net/testing_credentials.h"
#include "net/testing_loopback.h"

namespace turntable::kv::testing {

class PlayedController {
 public:
  using Message = cache::Message;
  using MessageType = cache::MessageType;
  using Numbers = std::vector<std::uint32_t>;

  PlayedController() { listen(0); }
  // NOLINTNEXTLINE(bugprone-exception-escape): a loop that does not answer may end the test
  ~PlayedController() {
    on_loop([&] { listener_.reset(); });
    loop_.stop();
    thread_.join();
  }
  PlayedController(const PlayedController&) = delete;
  PlayedController& operator=(const PlayedController&) = delete;

  sockaddr_in address() const { return net::testing::loopback(port_); }

  // Dies and comes back, without knowing anything.
  void restart() {
    {
      const std::lock_guard lock(mutex_);
      hello_.reset();
    }
    listen(port_);
  }

  void send(const Message& message) {
    on_loop([&] { listener_->send(session_, message); });
  }

  // What the next HELLO is answered from now on.
  void answer_hello(Numbers numbers, std::vector<cache::Record> records) {
    const std::lock_guard lock(mutex_);
    hello_numbers_ = std::move(numbers);
    hello_records_ = std::move(records);
  }

  // What the node says when it connects; waits for it.
  Message hello() {
    wait_for([&] { return hello_.has_value(); });
    const std::lock_guard lock(mutex_);
    return hello_.value_or(Message{});
  }

  // What the node has asked as number `index`; waits for it.
  Message asked(std::size_t index) {
    wait_for([&] { return asked_.size() > index; });
    const std::lock_guard lock(mutex_);
    return asked_.size() > index ? asked_[index] : Message{};
  }

  // The node's answer.
  Message ask(MessageType type, Numbers numbers = {}, std::vector<cache::Record> records = {}) {
    return ask(cache::request(type, std::move(numbers), std::move(records)));
  }
  Message ask(Message request) {
    hello();
    request.id = ++last_id_;
    send(request);
    wait_for([&] { return answers_.contains(last_id_); });
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(answers_[last_id_].type, request.type);
    return answers_[last_id_];
  }

 private:
  static constexpr std::chrono::seconds kPatience{20};

  template <typename Task>
  void on_loop(Task task) {
    loop_.tasks().call(task, Deadline::after(kPatience));
  }

  void listen(std::uint16_t port) {
    on_loop([&] {
      listener_.reset();
      listener_.emplace(
          loop_, net::testing::loopback(port), net::testing::credentials(),
          [this](cache::MessageListener::SessionId session, const Message& message) {
            received(session, message);
          },
          [](cache::MessageListener::SessionId) {});
      port_ = listener_->port();
    });
  }

  void received(cache::MessageListener::SessionId session, const Message& message) {
    const std::lock_guard lock(mutex_);
    session_ = session;
    if (message.is_answer) {
      answers_[message.id] = message;
    } else if (message.type == MessageType::kHello || message.type == MessageType::kClientHello) {
      hello_ = message;
      listener_->send(session, cache::answer_to(message, hello_numbers_, hello_records_));
    } else {
      asked_.push_back(message);
    }
    changed_.notify_all();
  }

  // `condition` may look at what has been received. It fails the test if that takes too long.
  void wait_for(const std::function<bool()>& condition) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kPatience, condition)) << "it took too long";
  }

  net::EventLoop loop_;
  std::thread thread_{[this] { loop_.run(); }};
  std::optional<cache::MessageListener> listener_;  // the loop's, as the session
  cache::MessageListener::SessionId session_{};
  std::uint16_t port_ = 0;
  std::uint32_t last_id_ = 0;

  std::mutex mutex_;  // of what has been received
  std::condition_variable changed_;
  std::optional<Message> hello_;
  Numbers hello_numbers_ = {cache::kMessagesVersion};
  std::vector<cache::Record> hello_records_;
  std::vector<Message> asked_;
  std::map<std::uint32_t, Message> answers_;
};

}  // namespace turntable::kv::testing
