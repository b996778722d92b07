#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "common/scratch_directory.h"
#include "hybridlog/checkpoint_file.h"
#include "hybridlog/recovery.h"
#include "hybridlog/store.h"
#include "hybridlog/testing_client.h"
#include "workload/random.h"

namespace turntable::hybridlog {
namespace {

using testing::Client;

constexpr LogSettings kSmallLog = {.page_bits = 12, .pages = 4, .mutable_share = 0.5};

StoreSettings settings(const LogSettings& log = kSmallLog) {
  return {.index_buckets = 64, .log = log, .threads = 8, .reader_threads = 2};
}

// A store in a directory, which is left as a killed process leaves it.
class Checkpoints : public ::testing::Test {
 protected:
  std::unique_ptr<Store> begin(const LogSettings& log = kSmallLog) {
    auto device = open_file(directory_.path() / "log");
    if (const auto from = read_checkpoint(file()))
      return std::make_unique<Store>(settings(log), std::move(device), *from);
    return std::make_unique<Store>(settings(log), std::move(device));
  }
  std::string file() const { return directory_.path() / "checkpoint.json"; }

  static Session::Answer read(Session& session, std::uint64_t key) {
    auto answer = session.read(key);
    while (session.complete_pending([&](auto, Session::Answer found) { answer = found; }))
      std::this_thread::yield();
    return answer;
  }

  ScratchDirectory directory_;
};

TEST_F(Checkpoints, AnEmptyStoreComesBack) {
  auto store = begin();
  write_checkpoint(file(), store->checkpoint());
  store.reset();
  store = begin();
  Client session(*store);
  EXPECT_EQ(read(session, 1).status, Status::kNotFound);
  session.upsert(1, 10);
  EXPECT_EQ(read(session, 1).value, 10U);
}

TEST_F(Checkpoints, WhatWasThereComesBack) {
  auto store = begin();
  {
    Client session(*store);
    for (std::uint64_t key = 0; key < 1000; ++key) session.upsert(key, key + 1);
    session.erase(7);
  }
  write_checkpoint(file(), store->checkpoint());
  {
    Client session(*store);
    for (std::uint64_t key = 0; key < 2000; ++key) session.upsert(key, 0);  // is lost
  }
  store.reset();
  store = begin();
  Client session(*store);
  for (std::uint64_t key = 0; key < 1000; ++key) {
    if (key == 7) {
      EXPECT_EQ(read(session, key).status, Status::kNotFound);
    } else {
      ASSERT_EQ(read(session, key).value, key + 1) << key;
    }
  }
  EXPECT_EQ(read(session, 1500).status, Status::kNotFound);
}

// Again and again, with a crash after each: nothing of what was lost returns.
TEST_F(Checkpoints, WhatWasLostStaysLost) {
  for (std::uint64_t life = 1; life <= 6; ++life) {
    auto store = begin();
    {
      Client session(*store);
      for (std::uint64_t key = 500; key < 700; ++key)
        ASSERT_EQ(read(session, key).status, Status::kNotFound) << "life " << life << ", " << key;
      for (std::uint64_t key = 0; key < 500; ++key) {
        const auto answer = read(session, key);
        ASSERT_EQ(answer.value, life == 1 ? 0 : life - 1) << "life " << life << ", key " << key;
        ASSERT_EQ(session.upsert(key, life), Status::kOk);
      }
    }
    write_checkpoint(file(), store->checkpoint());
    Client session(*store);
    for (std::uint64_t key = 700; key-- > 0;)
      ASSERT_EQ(session.upsert(key, 1000 + life), Status::kOk);
  }
}

// Gives records only while its gate is open.
class GatedDevice : public Device {
 public:
  GatedDevice(std::unique_ptr<Device> device, std::atomic<bool>& is_open)
      : device_(std::move(device)), is_open_(is_open) {}

  std::error_code write(std::uint64_t offset, const std::byte* data, std::size_t size) override {
    return device_->write(offset, data, size);
  }
  std::error_code read(std::uint64_t offset, std::byte* data, std::size_t size) override {
    waiting.fetch_add(1);
    is_open_.wait(false);
    return device_->read(offset, data, size);
  }
  std::error_code sync() override { return device_->sync(); }

  std::atomic<int> waiting{0};  // how often it was asked

 private:
  std::unique_ptr<Device> device_;
  std::atomic<bool>& is_open_;
};

// A session waits in the middle of an addition while another one crosses and changes the key: the
// addition belongs to the next version, too.
TEST_F(Checkpoints, AnAdditionThatMeetsTheNextVersionBelongsToIt) {
  constexpr SessionId kSlow{1, 1}, kQuick{1, 2};
  std::atomic<bool> is_open{false};
  auto* const device = new GatedDevice(open_file(directory_.path() / "log"), is_open);
  auto store = std::make_unique<Store>(settings(), std::unique_ptr<Device>(device));
  {
    Client session(*store);
    session.upsert(1, 10);
    const Address until = store->log().tail();
    for (std::uint64_t key = 1000; store->log().head() < until; ++key) {
      session.upsert(key, 1);
      session.complete_pending([](auto...) {});
    }
  }
  std::atomic<bool> has_begun{false}, has_ended{false};
  std::jthread slow([&] {
    Client session(*store, kSlow);
    session.upsert(2, 20);
    has_begun = true;
    while (store->versions().phase() != Versions::Phase::kPrepare) std::this_thread::yield();
    session.take_part();
    Status status = session.add(1, 5);  // waits for the device
    // It may find the checkpoint going on by then, and wait for that, as any other operation.
    const auto take = [&](auto, Session::Answer answer) { status = answer.status; };
    while (session.complete_pending(take) > 0) std::this_thread::yield();
    EXPECT_EQ(status, Status::kOk);
    has_ended = true;
    while (session.serial() == 2 && store->versions().phase() != Versions::Phase::kRest)
      session.take_part();
  });
  Checkpoint made;
  std::jthread checkpointing;
  {
    Client session(*store, kQuick);
    session.upsert(3, 30);
    while (!has_begun) std::this_thread::yield();
    checkpointing = std::jthread([&] { made = store->checkpoint(); });
    while (device->waiting == 0) std::this_thread::yield();  // the other one is in its addition
    while (store->versions().phase() != Versions::Phase::kCross) session.take_part();
    session.take_part();
    EXPECT_FALSE(has_ended);
    EXPECT_EQ(session.upsert(1, 100), Status::kOk);  // in the next version
    is_open = true;
    is_open.notify_all();
    while (!has_ended) session.complete_pending([](auto...) { FAIL(); });
    EXPECT_EQ(read(session, 1).value, 105U);
  }
  slow.join();
  checkpointing.join();
  EXPECT_EQ(made.serials.at(kSlow), 1U);
  EXPECT_EQ(made.serials.at(kQuick), 1U);
  write_checkpoint(file(), made);
  store.reset();
  store = begin();
  Client session(*store);
  EXPECT_EQ(read(session, 1).value, 10U);
  EXPECT_EQ(read(session, 2).value, 20U);
  EXPECT_EQ(read(session, 3).value, 30U);
}

// A header has 12 bits of its record's version: of 4,095 versions ago they are those of the next
// one. A session that touches such a record while a cut is prepared has not crossed: what it goes
// on to do is in the checkpoint, and so is its number.
class OldRecords : public Checkpoints, public ::testing::WithParamInterface<bool> {
 protected:
  static constexpr SessionId kBusy{1, 1}, kOther{1, 2};
  static constexpr int kApart = 4095;

  // What `touch` and an addition behind it do while `other` is not prepared.
  void touch_while_prepared(const std::function<void(Client&)>& touch) {
    auto store = begin();
    {
      Client session(*store);
      session.upsert(1, 10);
      const Address until = store->log().tail();
      for (std::uint64_t key = 1000; GetParam() && store->log().head() < until; ++key) {
        session.upsert(key, 1);
        session.complete_pending([](auto...) {});
      }
    }
    for (int n = 0; n < kApart; ++n) store->versions().cut([&] { return store->log().tail(); });
    Checkpoint made;
    std::atomic<bool> is_made{false}, may_prepare{false}, has_begun{false};
    std::jthread other([&] {
      Client session(*store, kOther);
      session.upsert(3, 30);
      has_begun = true;
      for (; !may_prepare; std::this_thread::yield()) session.refresh();
      for (; !is_made; std::this_thread::yield()) session.complete_pending([](auto...) {});
    });
    while (!has_begun) std::this_thread::yield();
    auto busy = std::make_unique<Client>(*store, kBusy);
    std::jthread checkpointing([&] {
      made = store->checkpoint();
      is_made = true;
    });
    while (store->versions().phase() != Versions::Phase::kPrepare) std::this_thread::yield();
    busy->take_part();
    touch(*busy);
    EXPECT_EQ(busy->add(2, 5), Status::kOk);
    const std::uint64_t last = busy->serial();
    busy.reset();
    may_prepare = true;
    checkpointing.join();
    other.join();
    EXPECT_EQ(made.serials[kBusy], last);
    EXPECT_EQ(made.serials[kOther], 1U);
    write_checkpoint(file(), made);
    store.reset();
    store = begin();
    Client session(*store);
    EXPECT_EQ(read(session, 1).value, 10U);
    EXPECT_EQ(read(session, 2).value, 5U);
    EXPECT_EQ(read(session, 3).value, 30U);
  }
};

TEST_P(OldRecords, AReadOfOneIsOfTheVersionThatItsSessionIsIn) {
  touch_while_prepared([](Client& session) { EXPECT_EQ(session.read(1).value, 10U); });
}
TEST_P(OldRecords, AnAdditionToOneIsOfTheVersionThatItsSessionIsIn) {
  touch_while_prepared([](Client& session) { EXPECT_EQ(session.add(1, 0), Status::kOk); });
}
TEST_P(OldRecords, AnUpsertOfOneIsOfTheVersionThatItsSessionIsIn) {
  touch_while_prepared([](Client& session) { EXPECT_EQ(session.upsert(1, 10), Status::kOk); });
}
TEST_P(OldRecords, WhatIsTakenInVainIsOfTheVersionThatItsSessionIsIn) {
  constexpr std::uint64_t kOlder = 7;
  touch_while_prepared([&](Client& session) {
    EXPECT_EQ(session.take(1, bytes_of(kOlder), /*is_tombstone=*/false), Status::kOk);
  });
}

INSTANTIATE_TEST_SUITE_P(Regions, OldRecords, ::testing::Bool(),
                         [](const auto& of) { return of.param ? "Device" : "Memory"; });

// What a session has done is known by its operations' numbers. Each has keys of its own, which say
// the last operation that was done, and adds to counters that all share.
struct Work {
  static constexpr std::uint64_t kShared = 40, kOwn = 50;

  static bool is_shared(std::uint64_t serial) { return serial % 3 == 0; }
  static std::uint64_t shared_key(std::uint64_t serial) { return serial / 3 % kShared; }
  static std::uint64_t own_key(SessionId id, std::uint64_t serial) {
    return (id.low << 32U) + serial % kOwn;
  }
  static void next(Session& session, SessionId id) {
    const std::uint64_t serial = session.serial() + 1;
    if (is_shared(serial)) {
      session.add(shared_key(serial), 1);
    } else {
      session.upsert(own_key(id, serial), serial);
    }
    ASSERT_EQ(session.serial(), serial);
  }
};

TEST_F(Checkpoints, EverySessionComesBackUpToOneOfItsOperations) {
  constexpr std::uint64_t kSessions = 3;
  for (int life = 0; life < 8; ++life) {
    auto store = begin({.page_bits = 12, .pages = 6, .mutable_share = 0.6});
    if (life > 0) {
      const Checkpoint from = *read_checkpoint(file());
      std::map<std::uint64_t, std::uint64_t> expected;
      for (const auto& [id, last] : from.serials) {
        for (std::uint64_t serial = 1; serial <= last; ++serial) {
          if (Work::is_shared(serial)) {
            ++expected[Work::shared_key(serial)];
          } else {
            expected[Work::own_key(id, serial)] = serial;
          }
        }
      }
      Client session(*store);
      ASSERT_EQ(from.serials.size(), kSessions);
      for (std::uint64_t key = 0; key < Work::kShared; ++key)
        ASSERT_EQ(read(session, key).value, expected[key]) << "life " << life << ", shared " << key;
      for (const auto& [key, value] : expected)
        ASSERT_EQ(read(session, key).value, value) << "life " << life << ", key " << key;
      for (const auto& [id, last] : from.serials)
        for (std::uint64_t i = 0; i < Work::kOwn; ++i)
          ASSERT_EQ(read(session, (id.low << 32U) + i).value, expected[(id.low << 32U) + i]);
    }
    std::atomic<bool> ends{false};
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 1; i <= kSessions; ++i) {
      threads.emplace_back([&, i] {
        const SessionId id{1, i};
        Client session(*store, id);
        while (!ends.load()) {
          for (int n = 0; n < 16; ++n) Work::next(session, id);
          session.complete_pending(
              [](auto, Session::Answer answer) { ASSERT_EQ(answer.status, Status::kOk); });
        }
      });
    }
    for (int n = 0; n < 5; ++n) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      write_checkpoint(file(), store->checkpoint());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ends = true;
  }
}

nlohmann::json content_of_format(int format) {
  return {{"format", format},
          {"version", 7},
          {"page_bits", 12},
          {"begin", 64},
          {"cut", 4096},
          {"end", 8192},
          {"sessions", {{1, 2, 30}}},
          {"left", {{9, 5, ""}, {8, 3, "0300ff"}}}};
}

TEST_F(Checkpoints, AFileHasTheAdditionsThatAreLeft) {
  write_checked(file(), "checkpoint", content_of_format(2));
  const Checkpoint read = read_checkpoint(file()).value();
  const std::vector<Awaited::Addition> left = {
      {9, 5}, {8, 3, {std::byte{3}, std::byte{0}, std::byte{255}}}};
  EXPECT_EQ(read.left, left);
  write_checkpoint(file(), read);
  EXPECT_EQ(read_checked(file(), "checkpoint")->at("left"), content_of_format(2)["left"]);
}

TEST_F(Checkpoints, AFileOfFormat1HasNone) {
  auto content = content_of_format(1);
  content.erase("left");
  write_checked(file(), "checkpoint", content);
  const Checkpoint read = read_checkpoint(file()).value();
  EXPECT_TRUE(read.left.empty());
  EXPECT_EQ(read.serials, (Serials{{{1, 2}, 30}}));
}

TEST_F(Checkpoints, AFileOfALaterFormatOrWithoutItsValuesIsRefused) {
  write_checked(file(), "checkpoint", content_of_format(3));
  EXPECT_THROW(read_checkpoint(file()), CheckpointError);
  for (const char* const no_bytes : {"0", "030", "0g", "-1", "0x"}) {
    auto content = content_of_format(2);
    content["left"][0][2] = no_bytes;
    write_checked(file(), "checkpoint", content);
    EXPECT_THROW(read_checkpoint(file()), CheckpointError) << no_bytes;
  }
}

TEST_F(Checkpoints, ASessionThatBeginsAgainGoesOnCounting) {
  const SessionId id{1, 2};
  auto store = begin();
  {
    Client session(*store, id);
    session.upsert(1, 1);
    session.upsert(2, 2);
  }
  write_checkpoint(file(), store->checkpoint());
  {
    Client session(*store, id);
    EXPECT_EQ(session.serial(), 2U);
    session.upsert(3, 3);
  }
  store.reset();
  store = begin();
  Client session(*store, id);
  EXPECT_EQ(session.serial(), 2U);
}

// Anybody can open sessions, and end them.
TEST_F(Checkpoints, SessionsThatHaveDoneNothingAreForgotten) {
  auto store = begin();
  {
    Client session(*store, {1, 1});
    session.upsert(1, 1);
  }
  for (std::uint64_t i = 2; i < 1000; ++i) const Client session(*store, {1, i});
  EXPECT_EQ(store->checkpoint().serials, (Serials{{{1, 1}, 1}}));
}

// Who has ended before a time; not who is there, nor who has come again.
TEST_F(Checkpoints, SessionsThatHaveEndedLongAgoAreForgotten) {
  constexpr SessionId kOld{1, 1}, kAgain{1, 2}, kNew{1, 3}, kThere{1, 4};
  auto store = begin();
  const auto work = [](Client& session) { session.upsert(session.serial(), 1); };
  for (const SessionId id : {kOld, kAgain}) {
    Client session(*store, id);
    work(session);
  }
  write_checkpoint(file(), store->checkpoint());
  store.reset();
  store = begin();  // which does not know when they have ended
  std::optional<Client> there(std::in_place, *store, kThere);
  work(*there);
  const auto begun = Versions::Clock::now();
  while (Versions::Clock::now() == begun) std::this_thread::yield();
  const auto before = Versions::Clock::now();
  for (const SessionId id : {kAgain, kNew}) {
    Client session(*store, id);
    work(session);
  }
  const auto serials = [&] {
    Serials found;
    std::atomic<bool> is_made{false};
    std::jthread checkpointing([&] {
      found = store->checkpoint().serials;
      is_made = true;
    });
    while (!is_made) there->complete_pending([](auto...) {});
    checkpointing.join();
    return found;
  };
  EXPECT_EQ(serials(), (Serials{{kOld, 1}, {kAgain, 2}, {kNew, 1}, {kThere, 1}}));
  store->versions().forget_ended(before);
  EXPECT_EQ(serials(), (Serials{{kAgain, 2}, {kNew, 1}, {kThere, 1}}));
}

TEST_F(Checkpoints, ACorruptFileIsNamed) {
  auto store = begin();
  write_checkpoint(file(), store->checkpoint());
  std::string text;
  {
    std::ifstream in(file());
    text.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (std::size_t at = 0; at < text.size(); at += 7) {
    std::string changed = text;
    changed[at] ^= 1;
    std::ofstream(file()) << changed;
    try {
      const auto found = read_checkpoint(file());
      // White space may change.
      EXPECT_EQ(found->end, kFirstAddress) << at;
    } catch (const CheckpointError& error) {
      EXPECT_NE(std::string(error.what()).find(file()), std::string::npos);
    }
  }
  std::ofstream(file()) << text.substr(0, text.size() / 2);
  EXPECT_THROW(read_checkpoint(file()), CheckpointError);
}

TEST_F(Checkpoints, ALogThatIsNotTheCheckpointsIsNamed) {
  auto store = begin();
  {
    Client session(*store);
    for (std::uint64_t key = 0; key < 1000; ++key) session.upsert(key, key);
  }
  write_checkpoint(file(), store->checkpoint());
  store.reset();
  EXPECT_THROW(begin({.page_bits = 13, .pages = 4, .mutable_share = 0.5}), RecoveryError);
  std::filesystem::resize_file(directory_.path() / "log", 8192);
  EXPECT_THROW(begin(), RecoveryError);
}

}  // namespace
}  // namespace turntable::hybridlog
