// kvserver's answers to a controller that the test plays, over loopback.
#include "kv/controller_link.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "cache/message_listener.h"
#include "common/deadline.h"
#include "kv/testing.h"
#include "kv/value.h"

namespace turntable::kv {
namespace {

using cache::Message;
using cache::MessageListener;
using cache::MessageType;
using Kind = cache::Record::Kind;
using Numbers = std::vector<std::uint32_t>;

// Key id and partition among 16 (FarReach reference §5.2), and key number 0 of YCSB, of another
// one.
constexpr workload::KeyId kKey = 2571001333982442796, kElsewhere = 6284781860667377211;
constexpr unsigned kPartition = 14;
constexpr std::chrono::seconds kPatience{20};

class ControllerLinkTest : public ::testing::Test {
 protected:
  ControllerLinkTest() {
    build_store(directory_.path() / "db", {.workload = testing::small_workload(), .numbered = true},
                std::array{kKey});
    store_.emplace(directory_.path() / "db", StoreProfile::kEmbedded);
    records_.emplace(*store_);
    listen(0);
    link_.emplace(cache::tcp_address("127.0.0.1", port_), 16);
    link_->start({{kPartition, &*records_, &hot_keys_, &gate_}});
  }
  ~ControllerLinkTest() override {
    link_->stop();
    on_loop([&] { listener_.reset(); });
    loop_.stop();
    controller_.join();
  }

  template <typename Task>
  void on_loop(Task task) {
    loop_.tasks().call(task, Deadline::after(kPatience));
  }

  void listen(std::uint16_t port) {
    on_loop([&] {
      listener_.reset();
      listener_.emplace(
          loop_, cache::tcp_address("127.0.0.1", port),
          [this](MessageListener::SessionId session, const Message& message) {
            received(session, message);
          },
          [](MessageListener::SessionId) {});
      port_ = listener_->port();
    });
  }

  void received(MessageListener::SessionId session, const Message& message) {
    const std::lock_guard lock(mutex_);
    session_ = session;
    if (message.is_answer) {
      answers_[message.id] = message;
    } else if (message.type == MessageType::kHello) {
      hello_ = message;
      listener_->send(session, cache::answer_to(message));
    } else {
      asked_.push_back(message);
    }
    changed_.notify_all();
  }

  void send(const Message& message) {
    on_loop([&] { listener_->send(session_, message); });
  }

  // Waits until `condition`, which may look at what has been received; fails the test if that takes
  // too long.
  void wait_for(const std::function<bool()>& condition) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kPatience, condition)) << "it took too long";
  }

  // The message that kvserver has asked as number `index`.
  Message asked(std::size_t index) {
    wait_for([&] { return asked_.size() > index; });
    const std::lock_guard lock(mutex_);
    return asked_.size() > index ? asked_[index] : Message{};
  }

  Message ask(MessageType type, Numbers numbers = {}, std::vector<cache::Record> records = {}) {
    wait_for([&] { return hello_.has_value(); });
    Message request = cache::request(type, std::move(numbers), std::move(records));
    request.id = ++last_id_;
    send(request);
    wait_for([&] { return answers_.contains(last_id_); });
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(answers_[last_id_].type, type);
    return answers_[last_id_];
  }

  static cache::Record key(workload::KeyId id) { return cache::key_only(workload::wire_key(id)); }
  static cache::Record value(std::uint32_t number, std::vector<std::uint8_t> bytes) {
    cache::Record record = key(kKey);
    record.kind = Kind::kValue;
    record.number = number;
    record.value = std::move(bytes);
    return record;
  }
  static cache::Record tombstone(std::uint32_t number) {
    cache::Record record = key(kKey);
    record.kind = Kind::kDeleted;
    record.number = number;
    return record;
  }

  cache::Record fetched(std::uint32_t mark = 0) {
    const Message answer = ask(MessageType::kFetch, {mark}, {key(kKey)});
    EXPECT_EQ(answer.records.size(), 1u);
    return answer.records.empty() ? cache::Record{} : answer.records.front();
  }

  testing::TemporaryDirectory directory_;
  std::optional<Store> store_;
  std::optional<RecordStore> records_;
  std::optional<ControllerLink> link_;
  HotKeys hot_keys_{[this] { link_->wake(); }};
  WriteGate gate_{[this] { link_->wake(); }};

  cache::EventLoop loop_;
  std::thread controller_{[this] { loop_.run(); }};
  std::optional<MessageListener> listener_;  // the loop's, as the session
  MessageListener::SessionId session_{};
  std::uint16_t port_ = 0;
  std::uint32_t last_id_ = 0;

  std::mutex mutex_;  // of what has been received
  std::condition_variable changed_;
  std::optional<Message> hello_;
  std::vector<Message> asked_;
  std::map<std::uint32_t, Message> answers_;
};

TEST_F(ControllerLinkTest, HelloSaysWhatIsServed) {
  wait_for([&] { return hello_.has_value(); });
  EXPECT_EQ(hello_->numbers, (Numbers{cache::kMessagesVersion, 16, kPartition}));
}

TEST_F(ControllerLinkTest, FetchAnswersTheRecordsOfTheStore) {
  std::vector<std::uint8_t> loaded(128);
  fill_value(loaded, kKey, kLoadedVersion);
  EXPECT_EQ(fetched(), value(0, loaded));
  const auto stored = workload::store_key(kKey);
  records_->apply(stored, {.number = 5, .exists = false});
  EXPECT_EQ(fetched(), tombstone(5));
  const std::vector<std::uint8_t> large(129);
  records_->apply(stored, {.value = large, .number = 6, .exists = true});
  EXPECT_EQ(fetched().kind, Kind::kLarge);
  EXPECT_EQ(fetched().number, 6u);
}

TEST_F(ControllerLinkTest, StoreAppliesWhatIsNewerAndReplayCountsIt) {
  ask(MessageType::kStore, {}, {value(5, {5})});
  ask(MessageType::kStore, {}, {value(4, {4})});
  EXPECT_EQ(fetched(), value(5, {5}));
  ask(MessageType::kStore, {}, {tombstone(6)});
  EXPECT_EQ(fetched(), tombstone(6));
  EXPECT_EQ(ask(MessageType::kReplay, {}, {value(6, {6}), value(7, {7}), value(3, {3})}).numbers,
            Numbers{1});
  EXPECT_EQ(ask(MessageType::kMaxNumber).numbers, Numbers{7});
}

TEST_F(ControllerLinkTest, SnapshotsAreTakenAndReleased) {
  ask(MessageType::kStart, {3});
  records_->apply(workload::store_key(kKey), {.number = 5, .exists = false});
  const auto at = [&] {
    std::vector<std::uint8_t> bytes;
    Record record;
    return records_->fetch_at(3, workload::store_key(kKey), bytes, record);
  };
  EXPECT_EQ(at(), Store::Result::kOk);
  ask(MessageType::kRelease, {4});
  EXPECT_EQ(at(), Store::Result::kNotFound);
}

TEST_F(ControllerLinkTest, WhatCannotBeDoneIsAFailureAndEndsNothing) {
  EXPECT_NE(ask(MessageType::kFetch, {0}, {key(kElsewhere)}).text.find("not served"),
            std::string::npos);
  EXPECT_NE(ask(MessageType::kFetch).text, "");
  EXPECT_NE(ask(MessageType::kSettled, {}, {key(kKey)}).text, "");
  EXPECT_NE(ask(MessageType::kBegin, {1}).text, "");
  cache::Record odd = key(kKey);
  odd.key[0] = 1;
  EXPECT_NE(ask(MessageType::kStore, {}, {odd}).text, "");
  EXPECT_EQ(fetched().number, 0u);
}

TEST_F(ControllerLinkTest, HotKeysAreReportedWithTheirRecordAlsoToTheNextController) {
  wait_for([&] { return hello_.has_value(); });
  hot_keys_.report(workload::wire_key(kKey));
  const Message first = asked(0);
  EXPECT_EQ(first.type, MessageType::kHot);
  ASSERT_EQ(first.records.size(), 1u);
  EXPECT_EQ(first.records[0].key, workload::wire_key(kKey));
  EXPECT_EQ(first.records[0].kind, Kind::kValue);
  listen(port_);  // that controller has died without an answer
  const Message again = asked(1);
  EXPECT_EQ(again.records, first.records);
  send(cache::answer_to(again, {1}));  // refused
  ask(MessageType::kMaxNumber);        // so the answer has been read
  hot_keys_.report(workload::wire_key(kKey));
  send(cache::answer_to(asked(2), {0}));  // cached
  ask(MessageType::kMaxNumber);
  hot_keys_.report(workload::wire_key(kKey));
  EXPECT_TRUE(hot_keys_.take(1).empty());
}

TEST_F(ControllerLinkTest, AMarkedKeyIsHeldBackUntilItIsSettledAndEvictedWhenAWriteNeedsIt) {
  EXPECT_EQ(fetched(/*mark=*/1).number, 0u);
  EXPECT_FALSE(gate_.enter(kKey, /*passed_as_cached=*/false));
  ask(MessageType::kSettled, {0}, {key(kKey)});
  EXPECT_FALSE(gate_.enter(kKey, /*passed_as_cached=*/false));
  EXPECT_EQ(asked(0).type, MessageType::kEvict);
  send(cache::failure_of(asked(0), "not now"));
  const Message again = asked(1);  // there is no other way in
  EXPECT_FALSE(gate_.enter(kKey, false));
  send(cache::answer_to(again));
  ask(MessageType::kMaxNumber);
  EXPECT_TRUE(gate_.enter(kKey, false));
  gate_.leave();
}

// The next controller knows nothing of an admission that its predecessor had begun; the agent may
// still end it.
TEST_F(ControllerLinkTest, MarksOfAControllerThatDiedEndWithAnEviction) {
  EXPECT_EQ(fetched(/*mark=*/1).number, 0u);
  EXPECT_FALSE(gate_.enter(kKey, /*passed_as_cached=*/false));
  listen(port_);
  const auto opened = [&] {
    const bool open = gate_.enter(kKey, /*passed_as_cached=*/true);
    if (open) gate_.leave();
    return open;
  };
  const Deadline deadline = Deadline::after(kPatience);
  while (!opened() && !deadline.passed()) std::this_thread::yield();
  EXPECT_FALSE(gate_.enter(kKey, /*passed_as_cached=*/false));
  EXPECT_EQ(asked(0).type, MessageType::kEvict);
  send(cache::answer_to(asked(0)));
  ask(MessageType::kMaxNumber);
  EXPECT_TRUE(gate_.enter(kKey, false));
  gate_.leave();
}

}  // namespace
}  // namespace turntable::kv
