// A range moves from one store to another, which gets what memory has of it, and indirection
// records for the rest.

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "common/scratch_directory.h"
#include "hybridlog/chain_lookup.h"
#include "hybridlog/chain_scan.h"
#include "hybridlog/compaction.h"
#include "hybridlog/log_scan.h"
#include "hybridlog/testing_client.h"
#include "workload/random.h"

namespace turntable::hybridlog {
namespace {

using testing::Client;
using testing::settled;

constexpr HashRange kAll{}, kLower{0, UINT64_MAX / 2};
constexpr std::uint64_t kKeys = 1000;   // of 24 bytes, twice each, in memory of 16 KiB
constexpr std::uint64_t kOthers = 100;  // keys that are never there
constexpr std::uint64_t kMigration = 7;

// Keys of 16 tags, so that chains have several of them.
std::uint64_t key_at(std::uint64_t i) {
  static const std::vector<std::uint64_t> keys = [] {
    std::vector<std::uint64_t> few;
    for (std::uint64_t key = 0; few.size() < kKeys + kOthers; ++key)
      if (IndexEntry::tag_of(hash_of(key)) % 1024 == 0) few.push_back(key);
    return few;
  }();
  return keys.at(i);
}

// The source's log: it answers at once, or when it is told to.
class Source : public OtherLogs {
 public:
  Source(Store& store, Address begin) : store_(store), begin_(begin) {}

  std::shared_ptr<Ticket> read(const Indirection& at, std::uint64_t key) override {
    ++asked_;
    auto ticket = std::make_shared<Ticket>(at, key);
    if (holds_) {
      held_.push_back(ticket);
    } else {
      answer(*ticket);
    }
    return ticket;
  }
  void hold() { holds_ = true; }
  void let_go() {
    holds_ = false;
    for (const auto& ticket : std::exchange(held_, {})) answer(*ticket);
  }
  std::uint64_t asked() const { return asked_; }

 private:
  void answer(Ticket& ticket) {
    ChainLookup lookup(store_, ticket.key, ticket.indirection.address, begin_);
    while (!lookup.go_on()) std::this_thread::yield();
    if (lookup.found() == Found::kValue) ticket.value.assign(lookup.value());
    ticket.finish(lookup.found());
  }

  Store& store_;
  const Address begin_;
  std::atomic<std::uint64_t> asked_{0};
  bool holds_ = false;
  std::deque<std::shared_ptr<Ticket>> held_;
};

class IndirectionTest : public ::testing::Test {
 protected:
  static StoreSettings settings(std::size_t buckets) {
    return {.index_buckets = buckets,
            .log = {.page_bits = 12, .pages = 4, .mutable_share = 0.5},
            .threads = 8,
            .reader_threads = 2};
  }
  std::unique_ptr<Store> store(const char* name, std::size_t buckets = 64) {
    return std::make_unique<Store>(settings(buckets), open_file(directory_.path() / name));
  }
  std::unique_ptr<Store> recovered(const char* name, const Checkpoint& from,
                                   std::size_t buckets = 64) {
    return std::make_unique<Store>(settings(buckets), open_file(directory_.path() / name), from);
  }

  static Session::Answer read(Client& client, std::uint64_t key) {
    return settled(client, client.read(key));
  }
  static void add(Client& client, std::uint64_t key, std::uint64_t delta) {
    EXPECT_EQ(settled(client, {client.add(key, delta)}).status, Status::kOk);
  }
  static void take(Client& client, const ScannedRecord& record) {
    EXPECT_EQ(settled(client, {client.take(record.key, record.value, record.is_tombstone)}).status,
              Status::kOk);
  }

  // What a migration does, while no client lives.
  struct Moved {
    Address floor = 0, until = 0;
    std::uint64_t records = 0, indirections = 0;
    std::unique_ptr<Source> source;
  };
  static Moved move(Store& from, Store& to, HashRange range = kAll,
                    std::uint64_t migration = kMigration) {
    Moved moved = send(from, to, range, migration);
    count(to, moved, migration);
    return moved;
  }
  static void count(Store& to, const Moved& moved, std::uint64_t migration = kMigration) {
    to.elsewhere().begin(migration, moved.floor);
    EXPECT_TRUE(to.awaited().end().empty());
  }
  static Moved send(Store& from, Store& to, HashRange range = kAll,
                    std::uint64_t migration = kMigration) {
    Moved moved;
    moved.floor = to.checkpoint().end;
    const Address end = from.checkpoint().end;
    to.awaited().begin(range, moved.floor);
    {
      ChainScan scan(from, range, end);
      Client receiver(to);
      while (scan.next(
          1000,
          [&](const ScannedRecord& record) {
            take(receiver, record);
            ++moved.records;
          },
          [&](std::uint64_t hash, Address address) {
            EXPECT_LT(address, end);
            const Indirection to_rest{.hash = hash,
                                      .migration = migration,
                                      .range = range,
                                      .address = address,
                                      .bits = scan.bits(),
                                      .log = 3};
            EXPECT_EQ(receiver.point(to_rest), Status::kOk);
            ++moved.indirections;
          })) {
      }
      moved.until = scan.until();
    }
    moved.source = std::make_unique<Source>(from, from.log().begin());
    to.elsewhere().read_by(moved.source.get());
    return moved;
  }
  // All of it, so that the indirection records are nothing any more.
  static void pull(Store& from, Store& to, const Moved& moved, HashRange range = kAll) {
    LogScan scan(from, range, moved.until);
    std::vector<ScannedRecord> records;
    Client receiver(to);
    while (scan.next_page(records))
      for (const ScannedRecord& record : records) take(receiver, record);
    to.elsewhere().end(kMigration);
  }
  // The first kKeys keys, of which every tenth was deleted; the last ones are in memory.
  static std::map<std::uint64_t, std::uint64_t> fill(Store& store) {
    std::map<std::uint64_t, std::uint64_t> values;
    Client client(store);
    for (std::uint64_t round = 1; round <= 2; ++round)
      for (std::uint64_t i = 0; i < kKeys; ++i)
        client.upsert(key_at(i), values[key_at(i)] = 10 * i + round);
    for (std::uint64_t i = 0; i < kKeys; i += 10) {
      client.erase(key_at(i));
      values.erase(key_at(i));
    }
    return values;
  }
  static void expect(Store& store, const std::map<std::uint64_t, std::uint64_t>& values,
                     HashRange range = kAll) {
    Client client(store);
    for (std::uint64_t i = 0; i < kKeys + kOthers; ++i) {
      const std::uint64_t key = key_at(i);
      if (!range.contains(hash_of(key))) continue;
      const auto found = values.find(key);
      const Session::Answer answer = read(client, key);
      ASSERT_EQ(answer.status, found == values.end() ? Status::kNotFound : Status::kOk) << key;
      if (found == values.end()) continue;
      ASSERT_EQ(answer.value, found->second) << key;
    }
  }

  ScratchDirectory directory_;
};

TEST_F(IndirectionTest, ARecordTakes64BytesAndSaysWhatItCovers) {
  const Indirection made{.hash = Indirection::hash_of_chain(5, 9),
                         .migration = 3,
                         .range = kLower,
                         .address = 4711,
                         .bits = 6,
                         .log = 2};
  const Indirection::Words value = made.value();
  EXPECT_EQ(Record::bytes_of_sized(sizeof value), 64U);
  EXPECT_EQ(Indirection::of(made.hash, reinterpret_cast<const std::byte*>(value.data())), made);
  const std::uint64_t tag = std::uint64_t{9} << 48U;
  EXPECT_TRUE(made.covers(tag | 5));
  EXPECT_TRUE(made.covers(tag | 5 | 64));                        // bits above its own
  EXPECT_FALSE(made.covers(tag | 6));                            // another bucket
  EXPECT_FALSE(made.covers((std::uint64_t{8} << 48U) | 5));      // another tag
  EXPECT_FALSE(made.covers(std::uint64_t{1} << 63U | tag | 5));  // not of the range
}

TEST_F(IndirectionTest, WhatTheDeviceHasIsAskedForOnceAndKept) {
  const auto from = store("from"), to = store("to");
  const auto values = fill(*from);
  const Moved moved = move(*from, *to);
  // 16 KiB of memory have at most 682 records of 24 bytes.
  EXPECT_GT(moved.records, 100U);
  EXPECT_LT(moved.records, 683U);
  EXPECT_GT(moved.indirections, 0U);
  expect(*to, values);
  const std::uint64_t asked = moved.source->asked();
  EXPECT_GT(asked, kKeys / 4);
  expect(*to, values);
  EXPECT_EQ(moved.source->asked(), asked);
}

TEST_F(IndirectionTest, ChangesOverThem) {
  const auto from = store("from"), to = store("to");
  auto values = fill(*from);
  const Moved moved = move(*from, *to);
  {
    Client client(*to);
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      const std::uint64_t key = key_at(i);
      switch (i % 4) {
        case 0:
          EXPECT_EQ(client.upsert(key, values[key] = 5), Status::kOk);
          break;
        case 1:
          add(client, key, 3);  // every tenth was deleted: from 0
          values[key] += 3;
          break;
        case 2:
          EXPECT_EQ(client.erase(key), Status::kOk);
          values.erase(key);
          break;
        default:
          break;
      }
      if (i % 2 == 0) {
        const std::uint64_t asked = moved.source->asked();
        read(client, key);
        ASSERT_EQ(moved.source->asked(), asked) << "what was stored needs no answer";
      }
    }
  }
  expect(*to, values);
}

// Also of a record that comes while the answer is under way.
TEST_F(IndirectionTest, OperationsWaitForTheirAnswer) {
  const auto from = store("from"), to = store("to");
  const auto values = fill(*from);
  const Moved moved = move(*from, *to);
  moved.source->hold();
  const std::uint64_t read_key = key_at(1), added = key_at(2), stored = key_at(3);
  Client client(*to), other(*to);
  EXPECT_EQ(client.read(read_key, 11).status, Status::kPending);
  EXPECT_EQ(client.add(added, 5, 12), Status::kPending);
  EXPECT_EQ(client.add(stored, 7, 13), Status::kPending);
  while (moved.source->asked() < 3)
    client.complete_pending([](std::uint64_t, Session::Answer) { FAIL(); });
  EXPECT_EQ(other.upsert(stored, 100), Status::kOk);
  EXPECT_EQ(other.upsert(read_key, 1), Status::kOk);  // the read's answer is of the time before
  moved.source->let_go();
  std::map<std::uint64_t, Session::Answer> told;
  while (client.complete_pending(
             [&](std::uint64_t context, Session::Answer answer) { told[context] = answer; }) > 0)
    std::this_thread::yield();
  EXPECT_EQ(told.at(11).value, values.at(read_key));
  EXPECT_EQ(read(client, read_key).value, 1U);
  EXPECT_EQ(read(client, added).value, values.at(added) + 5);
  EXPECT_EQ(read(client, stored).value, 107U);
}

TEST_F(IndirectionTest, LongValues) {
  const auto from = store("from"), to = store("to");
  const auto value_of_key = [](std::uint64_t key) {
    std::vector<std::byte> value(8 + key % 60, static_cast<std::byte>(key));
    return value;
  };
  {
    Client client(*from);
    for (std::uint64_t i = 0; i < kKeys; ++i)
      EXPECT_EQ(client.upsert_value(key_at(i), value_of_key(key_at(i))), Status::kOk);
  }
  const Moved moved = move(*from, *to);
  Client client(*to);
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    const std::uint64_t key = key_at(i);
    std::vector<std::byte> expected = value_of_key(key);
    if (i % 2 == 0) {
      add(client, key, 1);
      expected[0] = static_cast<std::byte>(static_cast<unsigned>(expected[0]) + 1);
      if (key % 256 == 255) continue;  // a carry
    }
    ASSERT_EQ(settled(client, client.read_value(key)).status, Status::kOk);
    const Bytes there = client.value().bytes();
    ASSERT_TRUE(std::ranges::equal(there, expected)) << key;
  }
}

// A value that this store has no room for is read where it is, and does not get into the log: half
// a page is 2,048 bytes.
TEST_F(IndirectionTest, ValuesThatAreTooLongForTheTargetStayWhereTheyAre) {
  StoreSettings larger = settings(64);
  larger.log.page_bits = 14;
  Store from(larger, open_file(directory_.path() / "from"));
  const auto to = store("to");
  std::uint64_t keys = 0;
  {
    Client client(from);
    for (; from.log().head() < Address{8} << 14U; ++keys) {
      const std::vector<std::byte> value(keys % 2 == 0 ? 3000 : 5000, static_cast<std::byte>(keys));
      ASSERT_EQ(client.upsert_value(keys, value), Status::kOk);
      client.refresh();
    }
  }
  const Address end = from.checkpoint().end;
  const Address floor = to->checkpoint().end;
  Client client(*to);
  // As of a source that sends nothing but indirection records.
  const std::uint64_t first = 0, second = 1;
  Source source(from, from.log().begin());
  to->elsewhere().read_by(&source);
  to->elsewhere().begin(kMigration, floor);
  for (const std::uint64_t key : {first, second}) {
    const HashIndex::Found found = from.index().find(hash_of(key));
    ASSERT_LT(found.entry.address(), std::min(end, from.log().head()));
    ASSERT_EQ(client.point({.hash = hash_of(key),
                            .migration = kMigration,
                            .range = kAll,
                            .address = found.entry.address(),
                            .bits = 6,
                            .log = 3}),
              Status::kOk);
  }
  const Address tail = to->log().tail();
  for (const std::uint64_t key : {first, second}) {
    ASSERT_EQ(settled(client, client.read_value(key)).status, Status::kOk);
    EXPECT_EQ(client.value().size(), key == first ? 3000U : 5000U);
    ASSERT_EQ(to->log().tail(), tail);
    ASSERT_EQ(settled(client, {client.add(key, 1)}).status, Status::kWrongSize);
    ASSERT_EQ(to->log().tail(), tail);
  }
  EXPECT_EQ(client.upsert(second, 7), Status::kOk);
  EXPECT_EQ(read(client, second).value, 7U);
}

// The range was here before, and has come back: its records of then count for nothing, nor are they
// kept by a compaction.
TEST_F(IndirectionTest, WhatTheTargetHadBeforeDoesNotCount) {
  const auto from = store("from"), to = store("to");
  {
    Client client(*to);
    for (std::uint64_t i = 0; i < kKeys; ++i) client.upsert(key_at(i), 1);
  }
  auto values = fill(*from);
  const Moved moved = move(*from, *to, kLower);
  Compaction(*to, {.keeps_tombstones = true}).run();
  EXPECT_GT(to->log().begin(), kFirstAddress);
  EXPECT_LE(to->log().begin(), moved.floor);
  expect(*to, values, kLower);
  Client client(*to);
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    if (kLower.contains(hash_of(key_at(i)))) continue;
    ASSERT_EQ(read(client, key_at(i)).value, 1U);
  }
}

class IndexSizes : public IndirectionTest,
                   public ::testing::WithParamInterface<std::pair<std::size_t, std::size_t>> {};

TEST_P(IndexSizes, MayDiffer) {
  const auto [source, target] = GetParam();
  const auto from = store("from", source), to = store("to", target);
  auto values = fill(*from);
  const Moved moved = move(*from, *to);
  EXPECT_GT(moved.indirections, 0U);
  expect(*to, values);
}

INSTANTIATE_TEST_SUITE_P(Each, IndexSizes,
                         ::testing::Values(std::pair{4, 64}, std::pair{64, 4}, std::pair{8, 8},
                                           std::pair{4, 8}));

// A store that comes back has them, also with a larger index. Which of them count is said anew.
TEST_F(IndirectionTest, ACheckpointHasThem) {
  const auto from = store("from");
  auto values = fill(*from);
  Moved moved;
  Checkpoint made;
  {
    const auto to = store("to");
    moved = move(*from, *to);
    {
      Client client(*to);
      for (std::uint64_t i = 0; i < kKeys; i += 3) {
        add(client, key_at(i), 1);
        ++values[key_at(i)];
      }
    }
    made = to->checkpoint();
    Client client(*to);
    for (std::uint64_t i = 0; i < kKeys; i += 2) add(client, key_at(i), 1);  // which are lost
  }
  for (const std::size_t buckets : {64, 1024}) {
    const auto to = recovered("to", made, buckets);
    to->elsewhere().read_by(moved.source.get());
    to->elsewhere().begin(kMigration, moved.floor);
    const std::uint64_t asked = moved.source->asked();
    expect(*to, values);
    EXPECT_GT(moved.source->asked(), asked);
  }
}

TEST_F(IndirectionTest, WhatIsPulledNeedsThemNoMore) {
  const auto from = store("from"), to = store("to");
  auto values = fill(*from);
  const Moved moved = move(*from, *to);
  {
    Client client(*to);
    for (std::uint64_t i = 0; i < kKeys; i += 3) {  // before it is pulled
      add(client, key_at(i), 1);
      ++values[key_at(i)];
    }
  }
  Compaction(*to, {.keeps_tombstones = true}).run();
  EXPECT_LE(to->log().begin(), moved.floor);
  pull(*from, *to, moved);
  const std::uint64_t asked = moved.source->asked();
  expect(*to, values);
  Compaction(*to, {.keeps_tombstones = true}).run();
  EXPECT_GT(to->log().begin(), moved.floor);
  // The source's log may go.
  Compaction(*from, {.is_wanted = [](std::uint64_t) { return false; }}).run();
  EXPECT_GT(from->log().begin(), kFirstAddress);
  expect(*to, values);
  EXPECT_EQ(moved.source->asked(), asked);
  // A scan has the records, the newest first, and no indirections.
  std::map<std::uint64_t, std::optional<std::uint64_t>> scanned;
  LogScan scan(*to, kAll, to->log().tail());
  std::vector<ScannedRecord> records;
  while (scan.next_page(records))
    for (const ScannedRecord& record : records)
      scanned.emplace(record.key,
                      record.is_tombstone ? std::nullopt : std::optional(number_of(record.value)));
  std::map<std::uint64_t, std::uint64_t> there;
  for (const auto& [key, value] : scanned)
    if (value) there[key] = *value;
  EXPECT_EQ(there, values);
}

// The source has compacted its log: it must have been told that this store has all of it.
TEST_F(IndirectionTest, WhatIsGoneIsLookedUpAgain) {
  const auto from = store("from"), to = store("to");
  auto values = fill(*from);
  const Moved moved = move(*from, *to);
  moved.source->hold();
  Client client(*to);
  std::map<std::uint64_t, Session::Answer> told;
  const auto go_on = [&] {
    return client.complete_pending(
        [&](std::uint64_t key, Session::Answer answer) { told[key] = answer; });
  };
  for (std::uint64_t i = 1; i < kKeys / 4; i += 25)  // which memory does not have
    EXPECT_EQ(client.read(key_at(i), key_at(i)).status, Status::kPending);
  while (moved.source->asked() < kKeys / 100) go_on();
  {
    LogScan scan(*from, kAll, moved.until);
    std::vector<ScannedRecord> records;
    Client receiver(*to);
    while (scan.next_page(records)) {
      for (const ScannedRecord& record : records) {
        Session::Answer answer{receiver.take(record.key, record.value, record.is_tombstone)};
        while (answer.status == Status::kPending) {
          go_on();
          receiver.complete_pending([&](std::uint64_t, Session::Answer each) { answer = each; });
        }
        go_on();  // its thread must refresh
      }
    }
  }
  to->elsewhere().end(kMigration);
  Compaction(*from, {.is_wanted = [](std::uint64_t) { return false; }}).run();
  from->log().give_back(from->log().begin());
  moved.source->let_go();
  while (go_on() > 0) std::this_thread::yield();
  EXPECT_EQ(told.size(), kKeys / 100);
  for (const auto& [key, answer] : told) EXPECT_EQ(answer.value, values.at(key)) << key;
}

// Operations look at their chains again and again while the records begin to count: none takes a
// key for one that is not there.
TEST_F(IndirectionTest, NothingIsMissedWhenTheyBeginToCount) {
  const auto from = store("from");
  const auto values = fill(*from);
  for (int round = 0; round < 40; ++round) {
    const auto to = store(("to" + std::to_string(round)).c_str());
    const Moved moved = send(*from, *to);
    std::atomic<int> waiting{0};
    std::map<std::uint64_t, std::uint64_t> read;
    std::jthread looks([&] {
      Client client(*to);
      constexpr std::uint64_t kLooked = 100;
      const auto done = [&](std::uint64_t key, Session::Answer answer) {
        if (answer.status == Status::kOk) read[key] = answer.value;
      };
      for (std::uint64_t i = 0; i < kLooked; ++i) {
        const std::uint64_t key = key_at(i);
        if (!values.contains(key)) continue;
        EXPECT_EQ(client.read(key, key).status, Status::kPending);
      }
      do ++waiting;
      while (client.complete_pending(done) > 0);
    });
    while (waiting < 20) std::this_thread::yield();
    count(*to, moved);
    looks.join();
    for (std::uint64_t i = 0; i < 100; ++i) {
      const auto found = values.find(key_at(i));
      if (found == values.end()) continue;
      ASSERT_EQ(read[key_at(i)], found->second) << round << " " << i;
    }
  }
}

// Everything at once against a map, with checkpoints, lives, and a pull at some time.
TEST_F(IndirectionTest, RandomOperationsAreThoseOfAMap) {
  workload::Random random(1);
  for (std::uint64_t round = 0; round < 2; ++round) {
    const std::string of_source = "from" + std::to_string(round),
                      of_target = "to" + std::to_string(round);
    const auto from = store(of_source.c_str(), 16);
    auto to = store(of_target.c_str(), 16);
    auto values = fill(*from);
    Moved moved = move(*from, *to);
    auto committed = values;
    Checkpoint made = to->checkpoint();
    bool is_pulled = false;
    for (int life = 0; life < 3; ++life) {
      for (int part = 0; part < 3; ++part) {
        {
          Client client(*to);
          for (int i = 0; i < 500; ++i) {
            const std::uint64_t key = key_at(random.next() % (kKeys + kOthers));
            switch (random.next() % 4) {
              case 0:
                client.upsert(key, values[key] = random.next());
                break;
              case 1:
                add(client, key, 1);
                ++values[key];
                break;
              case 2:
                client.erase(key);
                values.erase(key);
                break;
              default: {
                const auto found = values.find(key);
                const Session::Answer answer = read(client, key);
                ASSERT_EQ(answer.status, found == values.end() ? Status::kNotFound : Status::kOk);
                if (found == values.end()) break;
                ASSERT_EQ(answer.value, found->second);
              }
            }
          }
        }
        if (random.next() % 3 == 0) {
          made = to->checkpoint();
          committed = values;
        }
        if (random.next() % 3 == 0) Compaction(*to, {.keeps_tombstones = true}).run();
        if (!is_pulled && random.next() % 8 == 0) {
          pull(*from, *to, moved);
          made = to->checkpoint();
          committed = values;
          is_pulled = true;
        }
      }
      to.reset();
      to = recovered(of_target.c_str(), made, 16);
      values = committed;
      to->elsewhere().read_by(moved.source.get());
      if (!is_pulled) to->elsewhere().begin(kMigration, moved.floor);
    }
    expect(*to, values);
  }
}

// Sums of additions by several threads, while all is pulled and checkpoints are made.
TEST_F(IndirectionTest, SumsAreExactWhileItIsPulled) {
  const auto from = store("from"), to = store("to");
  auto values = fill(*from);
  const Moved moved = move(*from, *to);
  constexpr int kThreads = 2, kAdditions = 2000;
  std::vector<std::map<std::uint64_t, std::uint64_t>> added(kThreads);
  std::atomic<int> running{kThreads};
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        Client client(*to);
        workload::Random random(static_cast<std::uint64_t>(thread) + 1);
        const auto done = [](std::uint64_t, Session::Answer answer) {
          EXPECT_EQ(answer.status, Status::kOk);
        };
        for (int i = 0; i < kAdditions; ++i) {
          const std::uint64_t key = key_at(random.next() % kKeys);
          client.add(key, 1);
          ++added[static_cast<std::size_t>(thread)][key];
          while (client.pending() > 16) client.complete_pending(done);
          if (i % 16 == 0) client.complete_pending(done);
        }
        while (client.complete_pending(done) > 0) std::this_thread::yield();
        --running;
      });
    }
    pull(*from, *to, moved);
    while (running > 0) to->checkpoint();
  }
  for (const auto& each : added)
    for (const auto& [key, count] : each) values[key] += count;
  expect(*to, values);
}

// It would wait for them. Sessions, prepared or not, go on as if nobody had asked for it.
TEST_F(IndirectionTest, ACutIsGivenUpWhileAnotherStoreIsAskedForWhatIsPending) {
  const auto from = store("from"), to = store("to");
  const auto values = fill(*from);
  const Moved moved = move(*from, *to);
  moved.source->hold();
  const std::uint64_t first = key_at(1), second = key_at(2);
  {
    Client asks(*to, {1, 1}), other(*to, {1, 2});
    EXPECT_EQ(asks.add(first, 5), Status::kPending);
    while (moved.source->asked() == 0)
      asks.complete_pending([](std::uint64_t, Session::Answer) { FAIL(); });
    std::atomic<bool> may_give_up{false}, is_over{false};
    std::jthread checkpointing([&] {
      int looks = 0;
      const auto gives_up = [&] { return may_give_up && ++looks > 3; };
      EXPECT_THROW(to->checkpoint({.gives_up = gives_up}), std::system_error);
      is_over = true;
    });
    while (to->versions().phase() != Versions::Phase::kPrepare) std::this_thread::yield();
    other.take_part();  // it is prepared then
    may_give_up = true;
    while (!is_over) asks.complete_pending([](std::uint64_t, Session::Answer) { FAIL(); });
    EXPECT_EQ(other.add(second, 7), Status::kPending);
    moved.source->let_go();
    const auto is_done = [](std::uint64_t, Session::Answer answer) {
      EXPECT_EQ(answer.status, Status::kOk);
    };
    while (asks.complete_pending(is_done) + other.complete_pending(is_done) > 0)
      std::this_thread::yield();
    EXPECT_EQ(read(asks, first).value, values.at(first) + 5);
    EXPECT_EQ(read(other, second).value, values.at(second) + 7);
  }
  EXPECT_EQ(to->checkpoint().serials, (Serials{{{1, 1}, 2}, {{1, 2}, 2}}));
}

// Of a batch that has begun before: its session is prepared, and nobody can give the cut up.
TEST_F(IndirectionTest, AnOperationThatAsksAnotherStoreWhileSessionsCrossIsOfTheNextVersion) {
  const auto from = store("from"), to = store("to");
  const auto values = fill(*from);
  const Moved moved = move(*from, *to);
  moved.source->hold();
  const std::uint64_t key = key_at(1);
  Client client(*to, {1, 1});
  EXPECT_EQ(client.upsert(key_at(2), 3), Status::kOk);
  Checkpoint made;
  std::atomic<bool> is_made{false};
  std::jthread checkpointing([&] {
    made = to->checkpoint();
    is_made = true;
  });
  const auto wait_for = [&](Versions::Phase phase) {
    while (to->versions().phase() != phase) std::this_thread::yield();
  };
  {
    const Session::Batch batch(client);
    wait_for(Versions::Phase::kPrepare);
    client.take_part();
    wait_for(Versions::Phase::kCross);
    EXPECT_EQ(client.add(key, 5), Status::kPending);
  }
  while (!is_made) client.complete_pending([](std::uint64_t, Session::Answer) { FAIL(); });
  EXPECT_EQ(made.serials, (Serials{{{1, 1}, 1}}));  // the upsert's
  moved.source->let_go();
  EXPECT_EQ(settled(client, {Status::kPending}).status, Status::kOk);
  EXPECT_EQ(read(client, key).value, values.at(key) + 5);
}

// The other store may be gone for good then.
TEST_F(IndirectionTest, WhatIsPulledMeanwhileNeedsNoAnswer) {
  const auto from = store("from"), to = store("to");
  const auto values = fill(*from);
  const Moved moved = move(*from, *to);
  moved.source->hold();
  const std::uint64_t key = key_at(1), added = key_at(2);
  Client client(*to);
  EXPECT_EQ(client.read(key, 11).status, Status::kPending);
  EXPECT_EQ(client.add(added, 5, 12), Status::kPending);
  while (moved.source->asked() < 2)
    client.complete_pending([](std::uint64_t, Session::Answer) { FAIL(); });
  const std::jthread pulls([&] { pull(*from, *to, moved); });
  std::map<std::uint64_t, Session::Answer> told;
  while (client.complete_pending(
             [&](std::uint64_t context, Session::Answer answer) { told[context] = answer; }) > 0)
    std::this_thread::yield();
  EXPECT_EQ(told.at(11).value, values.at(key));
  EXPECT_EQ(told.at(12).status, Status::kOk);
  EXPECT_EQ(read(client, added).value, values.at(added) + 5);
}

}  // namespace
}  // namespace turntable::hybridlog
