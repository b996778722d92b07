// Values of other lengths than 8 bytes, in every region, by several threads, and after a crash.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/scratch_directory.h"
#include "hybridlog/log_scan.h"
#include "hybridlog/recovery.h"
#include "hybridlog/sized_value.h"
#include "hybridlog/testing_client.h"
#include "workload/random.h"

namespace turntable::hybridlog {
namespace {

using testing::Client;
using testing::settled;

using Content = std::vector<std::byte>;

constexpr LogSettings kLog = {.page_bits = 12, .pages = 4, .mutable_share = 0.5};
constexpr std::size_t kMost = 2048;  // half a page of 4 KiB

Content filled(std::size_t bytes, std::uint64_t with) {
  return Content(bytes, static_cast<std::byte>(with));
}
Content drawn(std::size_t bytes, workload::Random& random) {
  Content content(bytes);
  for (std::byte& each : content) each = static_cast<std::byte>(random.next());
  return content;
}
// What an addition makes of it.
Content added(Content content, std::uint64_t delta) {
  const std::uint64_t sum = number_of(content) + delta;
  std::memcpy(content.data(), &sum, sizeof sum);
  return content;
}
Content content_of(const Value& value) {
  return {value.bytes().begin(), value.bytes().end()};
}

class ValuesTest : public ::testing::Test {
 protected:
  std::unique_ptr<Store> open(const char* name = "log") {
    return std::make_unique<Store>(settings_, open_file(directory_.path() / name));
  }
  std::unique_ptr<Store> recovered(const Checkpoint& from) {
    return std::make_unique<Store>(settings_, open_file(directory_.path() / "log"), from);
  }

  // kOk with the content, or else the status alone.
  struct Found {
    Status status;
    Content content{};
    bool operator==(const Found&) const = default;
  };
  static Found read(Client& client, std::uint64_t key) {
    const Session::Answer answer = settled(client, client.read_value(key));
    if (answer.status != Status::kOk) return {answer.status};
    return {Status::kOk, content_of(client.value())};
  }
  static Status add(Client& client, std::uint64_t key, const Content& value) {
    return settled(client, {client.add_to_value(key, value)}).status;
  }
  // Until nobody changes records below the tail in place any more.
  static void settle(Client& client, Store& store) {
    const Address until = client.make_read_only();
    while (store.log().safe_read_only() < until) client.refresh();
  }
  // Until the keys' records are on the device alone.
  static void push_out(Client& client, Store& store) {
    const Address until = store.log().tail();
    for (std::uint64_t key = 1U << 20U; store.log().head() < until; ++key) {
      ASSERT_EQ(client.upsert(key, 1), Status::kOk);
      client.refresh();
    }
  }

  const ScratchDirectory directory_;
  const StoreSettings settings_ = {
      .index_buckets = 64, .log = kLog, .threads = 8, .reader_threads = 2};
};

TEST(Records, SayHowLongTheyAre) {
  Record record{.header = Header(kNoAddress, 1).word(), .key = 1, .value = 300};
  EXPECT_EQ(record.bytes(), 24U);
  EXPECT_EQ(record.value_bytes(), 8U);
  record.header |= Header::kSized;
  record.value = std::uint64_t{7} << 32U | 300;  // a sequence, which says nothing about it
  EXPECT_EQ(record.value_bytes(), 300U);
  EXPECT_EQ(record.bytes(), 24U + 304U);
  record.value = 0;
  EXPECT_EQ(record.bytes(), 24U);
}

TEST(LogSettings, AValueTakesHalfAPageAtMost) {
  EXPECT_EQ(LogSettings{.page_bits = 12}.most_value_bytes(), 2048U);
  EXPECT_EQ(LogSettings{.page_bits = 17}.most_value_bytes(), 65'536U);
  EXPECT_EQ(LogSettings{.page_bits = 25}.most_value_bytes(), 65'536U);
}

TEST_F(ValuesTest, OfAnyLengthInMemoryAndOnTheDevice) {
  const auto store = open();
  Client client(*store);
  workload::Random random(1);
  std::map<std::uint64_t, Content> expected;
  for (const std::size_t bytes : {0, 1, 7, 8, 9, 15, 16, 17, 100, 255, 256, 1000, 2047, 2048}) {
    expected[bytes] = drawn(bytes, random);
    ASSERT_EQ(client.upsert_value(bytes, expected[bytes]), Status::kOk);
    EXPECT_EQ(read(client, bytes), (Found{Status::kOk, expected[bytes]}));
  }
  push_out(client, *store);
  for (const auto& [key, content] : expected)
    EXPECT_EQ(read(client, key), (Found{Status::kOk, content})) << key;
}

// In larger pages records begin anywhere in a sector and end in others.
TEST_F(ValuesTest, OverManySectorsOfTheDevice) {
  StoreSettings settings = settings_;
  settings.log.page_bits = 17;
  Store store(settings, open_file(directory_.path() / "log"));
  Client client(store);
  workload::Random random(4);
  std::map<std::uint64_t, Content> expected;
  for (std::uint64_t key = 0; key < 200; ++key) {
    expected[key] = drawn(key == 0 ? 65'536 : random.next() % 16'384, random);
    ASSERT_EQ(client.upsert_value(key, expected[key]), Status::kOk);
    client.refresh();
  }
  push_out(client, store);
  for (const auto& [key, content] : expected)
    ASSERT_EQ(read(client, key), (Found{Status::kOk, content})) << key;
}

TEST_F(ValuesTest, InPlaceWhereTheLengthIsTheSame) {
  const auto store = open();
  Client client(*store);
  client.upsert_value(1, filled(100, 1));
  const Address tail = store->log().tail();
  EXPECT_EQ(client.upsert_value(1, filled(100, 2)), Status::kOk);
  EXPECT_EQ(read(client, 1).content, filled(100, 2));
  EXPECT_EQ(add(client, 1, added(filled(100, 0), 5)), Status::kOk);
  EXPECT_EQ(read(client, 1).content, added(filled(100, 2), 5));
  EXPECT_EQ(store->log().tail(), tail);
  EXPECT_EQ(client.upsert_value(1, filled(101, 3)), Status::kOk);
  EXPECT_EQ(store->log().tail(), tail + 24 + 104);
  EXPECT_EQ(read(client, 1).content, filled(101, 3));
  // To 8 bytes and back.
  EXPECT_EQ(client.upsert(1, 7), Status::kOk);
  EXPECT_EQ(client.read(1).value, 7U);
  EXPECT_EQ(client.upsert_value(1, filled(101, 4)), Status::kOk);
  EXPECT_EQ(store->log().tail(), tail + 24 + 104 + 24 + 24 + 104);
  EXPECT_EQ(read(client, 1).content, filled(101, 4));
  EXPECT_EQ(client.erase(1), Status::kOk);
  EXPECT_EQ(read(client, 1).status, Status::kNotFound);
  EXPECT_EQ(client.upsert_value(1, filled(101, 5)), Status::kOk);
  EXPECT_EQ(read(client, 1).content, filled(101, 5));
}

TEST_F(ValuesTest, OutsideOfTheMutableRegionWhatChangesIsCopied) {
  const auto store = open();
  Client client(*store);
  for (const std::uint64_t key : {1, 2, 3, 4}) client.upsert_value(key, filled(100, key));
  settle(client, *store);
  EXPECT_EQ(client.upsert_value(1, filled(100, 9)), Status::kOk);
  EXPECT_EQ(add(client, 2, added(filled(200, 0), 5)), Status::kOk);  // the rest of it is not used
  EXPECT_EQ(client.erase(3), Status::kOk);
  push_out(client, *store);
  EXPECT_EQ(read(client, 1).content, filled(100, 9));
  EXPECT_EQ(read(client, 2).content, added(filled(100, 2), 5));
  EXPECT_EQ(read(client, 3).status, Status::kNotFound);
  EXPECT_EQ(add(client, 4, added(filled(100, 0), 6)), Status::kOk);  // from the device
  EXPECT_EQ(read(client, 4).content, added(filled(100, 4), 6));
}

// `other` has not refreshed since the record became read-only: it may still be adding in place.
TEST_F(ValuesTest, InTheFuzzyRegionAdditionsWait) {
  const auto store = open();
  Client client(*store), other(*store);
  client.upsert_value(1, filled(100, 1));
  client.make_read_only();
  client.refresh();
  EXPECT_EQ(client.add_to_value(1, added(filled(100, 0), 5)), Status::kPending);
  EXPECT_EQ(read(client, 1).content, filled(100, 1));
  other.refresh();
  while (client.complete_pending(
             [](auto, Session::Answer answer) { EXPECT_EQ(answer.status, Status::kOk); }) > 0) {
  }
  EXPECT_EQ(read(client, 1).content, added(filled(100, 1), 5));
}

TEST_F(ValuesTest, LengthsThatAnOperationCannotHaveAreSaid) {
  const auto store = open();
  EXPECT_EQ(store->most_value_bytes(), kMost);
  Client client(*store);
  EXPECT_EQ(client.upsert_value(1, filled(kMost + 1, 1)), Status::kWrongSize);
  EXPECT_EQ(client.add_to_value(1, filled(kMost + 1, 1)), Status::kWrongSize);
  EXPECT_EQ(client.add_to_value(1, filled(7, 1)), Status::kWrongSize);
  EXPECT_EQ(client.take(1, filled(kMost + 1, 1), false), Status::kWrongSize);
  EXPECT_EQ(read(client, 1).status, Status::kNotFound);
  client.upsert_value(1, filled(7, 1));
  client.upsert_value(2, filled(100, 2));
  const auto expect_all = [&] {
    EXPECT_EQ(settled(client, {client.add(1, 1)}).status, Status::kWrongSize);
    EXPECT_EQ(add(client, 1, filled(9, 1)), Status::kWrongSize);
    EXPECT_EQ(read(client, 1).content, filled(7, 1));
    const Session::Answer other = settled(client, client.read(2));
    EXPECT_EQ(other.status, Status::kWrongSize);
    EXPECT_EQ(other.value, 100U);
    EXPECT_EQ(settled(client, client.read_value(1)).value, 0x01010101010101U);  // seven of them
  };
  expect_all();
  settle(client, *store);
  expect_all();
  push_out(client, *store);
  expect_all();
}

TEST_F(ValuesTest, AKeyThatIsNotThereBeginsAsWhatIsAdded) {
  const auto store = open();
  Client client(*store);
  const Content value = added(filled(256, 0), 3);
  EXPECT_EQ(add(client, 1, value), Status::kOk);
  EXPECT_EQ(add(client, 1, value), Status::kOk);
  EXPECT_EQ(read(client, 1).content, added(filled(256, 0), 6));
  client.erase(1);
  EXPECT_EQ(add(client, 1, value), Status::kOk);
  EXPECT_EQ(read(client, 1).content, value);
  EXPECT_EQ(client.add(1, 4), Status::kOk);  // whatever its length
  EXPECT_EQ(read(client, 1).content, added(value, 4));
  EXPECT_EQ(add(client, 2, added(filled(8, 0), 3)), Status::kOk);
  EXPECT_EQ(client.read(2).value, 3U);
}

// One session, a log that is much smaller than the data, and a crash now and then.
TEST_F(ValuesTest, AsAMapHasThem) {
  constexpr std::array<std::size_t, 10> kLengths{0, 3, 8, 8, 16, 20, 100, 256, 1000, kMost};
  std::map<std::uint64_t, Content> expected;
  auto store = open();
  workload::Random random(2);
  for (int life = 0; life < 6; ++life) {
    {
      Client client(*store);
      for (int i = 0; i < 6000; ++i) {
        const std::uint64_t key = random.next() % 120;
        const auto there = expected.find(key);
        const bool may_be_added_to = there == expected.end() || there->second.size() >= 8;
        Content value = drawn(kLengths[random.next() % kLengths.size()], random);
        switch (random.next() % 8) {
          case 0:
            ASSERT_EQ(client.erase(key), Status::kOk);
            expected.erase(key);
            break;
          case 1:
          case 2:
            ASSERT_EQ(client.upsert_value(key, value), Status::kOk);
            expected[key] = std::move(value);
            break;
          case 3:  // as long as it is
            value = drawn(there == expected.end() ? 256 : there->second.size(), random);
            ASSERT_EQ(client.upsert_value(key, value), Status::kOk);
            expected[key] = std::move(value);
            break;
          case 4:
          case 5: {
            if (value.size() < 8) value.resize(8);
            ASSERT_EQ(add(client, key, value), may_be_added_to ? Status::kOk : Status::kWrongSize);
            if (!may_be_added_to) break;
            expected[key] =
                there == expected.end() ? value : added(there->second, number_of(value));
            break;
          }
          default:
            ASSERT_EQ(read(client, key), there == expected.end()
                                             ? Found{Status::kNotFound}
                                             : (Found{Status::kOk, there->second}))
                << "life " << life << ", " << i;
        }
        if (i % 64 == 0) client.refresh();
        if (i % 1000 == 999) client.make_read_only();
      }
    }
    const Checkpoint checkpoint = store->checkpoint();
    EXPECT_GT(store->log().head(), kFirstAddress);
    store.reset();
    store = recovered(checkpoint);
    Client client(*store);
    for (std::uint64_t key = 0; key < 120; ++key) {
      const auto there = expected.find(key);
      ASSERT_EQ(read(client, key), there == expected.end() ? Found{Status::kNotFound}
                                                           : (Found{Status::kOk, there->second}))
          << "life " << life << ", key " << key;
    }
  }
}

// Several threads replace values, in place and by other lengths; each is of one byte again and
// again. A value with two of them was read while it was written.
TEST_F(ValuesTest, AreNeverTorn) {
  constexpr std::uint64_t kKeys = 3, kWrites = 20'000;
  const auto store = open();
  {
    Client client(*store);
    for (std::uint64_t key = 0; key < kKeys; ++key) client.upsert_value(key, filled(256, 0));
  }
  std::atomic<int> writing{2};
  std::vector<std::jthread> threads;
  for (std::uint64_t i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      Client client(*store);
      workload::Random random(i);
      for (std::uint64_t n = 0; n < kWrites; ++n) {
        const std::size_t bytes = random.next() % 64 == 0 ? 9 + random.next() % 300 : 256;
        ASSERT_EQ(client.upsert_value(random.next() % kKeys, filled(bytes, n)), Status::kOk);
        if (n % 64 == 0) client.refresh();
      }
      --writing;
    });
  }
  for (std::uint64_t i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      Client client(*store);
      workload::Random random(10 + i);
      std::uint64_t reads = 0;
      for (; writing > 0 || reads < 1000; ++reads) {
        const Found found = read(client, random.next() % kKeys);
        ASSERT_EQ(found.status, Status::kOk);
        ASSERT_GE(found.content.size(), 9U);
        const std::byte first = found.content.front();
        ASSERT_TRUE(std::ranges::all_of(found.content, [&](std::byte b) { return b == first; }));
        if (reads % 64 == 0) client.refresh();
      }
    });
  }
}

// As Store.SumsAreExact, with values of 256 bytes, whose other bytes stay as they are.
TEST_F(ValuesTest, SumsAreExact) {
  constexpr int kThreads = 4;
  constexpr std::uint64_t kKeys = 100, kAdditions = 10'000;
  const auto store = open();
  const auto value_of = [](std::uint64_t key) {
    Content content = filled(256, 1 + key);
    const std::uint64_t one = 1;
    std::memcpy(content.data(), &one, sizeof one);
    return content;
  };
  std::array<std::vector<std::uint64_t>, kThreads> done;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      done[i].resize(kKeys);
      threads.emplace_back([&, &mine = done[i], i] {
        Client client(*store);
        workload::Random random(i);
        const auto take = [&](std::uint64_t key, Session::Answer answer) {
          ASSERT_EQ(answer.status, Status::kOk);
          ++mine[key];
        };
        for (std::uint64_t n = 0; n < kAdditions; ++n) {
          const std::uint64_t key = random.next() % kKeys;
          if (client.add_to_value(key, value_of(key), key) == Status::kOk) ++mine[key];
          if (n % 16 == 0) client.complete_pending(take);
          if (n % 4096 == 0) client.make_read_only();
        }
        while (client.complete_pending(take) > 0) std::this_thread::yield();
      });
    }
  }
  Client client(*store);
  std::uint64_t all = 0;
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    std::uint64_t expected = 0;
    for (const auto& mine : done) expected += mine[key];
    if (expected == 0) continue;
    EXPECT_EQ(read(client, key).content, added(value_of(key), expected - 1)) << key;
    all += expected;
  }
  EXPECT_EQ(all, kThreads * kAdditions);
  EXPECT_GT(store->log().head(), kFirstAddress);
}

// A pending read's value comes with its answer, whatever else was answered before.
TEST_F(ValuesTest, AnswersHaveTheirOwnValues) {
  const auto store = open();
  Client client(*store);
  for (std::uint64_t key = 0; key < 20; ++key) client.upsert_value(key, filled(30 + key, key));
  push_out(client, *store);
  std::map<std::uint64_t, Content> found;
  for (std::uint64_t key = 0; key < 20; ++key)
    EXPECT_EQ(client.read_value(key, key).status, Status::kPending);
  // A cut is prepared: what is pending ends, and is told after it.
  std::atomic<bool> has_ended{false};
  std::jthread checkpointing([&] {
    store->checkpoint();
    has_ended = true;
  });
  while (store->versions().phase() != Versions::Phase::kPrepare) std::this_thread::yield();
  client.take_part();
  EXPECT_EQ(client.pending(), 20U);
  while (client.complete_pending([&](std::uint64_t key, Session::Answer answer) {
    EXPECT_EQ(answer.status, Status::kOk);
    found[key] = content_of(client.value());
  }) > 0) {
  }
  while (!has_ended) client.complete_pending([](auto, auto) { FAIL(); });
  ASSERT_EQ(found.size(), 20U);
  for (const auto& [key, content] : found) EXPECT_EQ(content, filled(30 + key, key));
}

TEST_F(ValuesTest, MoveToAnotherStore) {
  const auto from = open("from"), to = open("to");
  workload::Random random(3);
  std::map<std::uint64_t, Content> expected;
  {
    Client client(*from);
    for (int i = 0; i < 1000; ++i) {
      const std::uint64_t key = random.next() % 200;
      expected[key] = drawn(random.next() % 300, random);
      client.upsert_value(key, expected[key]);
    }
    client.erase(7);
    expected.erase(7);
  }
  EXPECT_GT(from->log().head(), kFirstAddress);
  to->awaited().begin({}, to->checkpoint().end);
  Client client(*to);
  EXPECT_EQ(client.add_to_value(300, added(filled(100, 3), 5), 1), Status::kPending);
  LogScan scan(*from, {}, from->log().tail());
  std::vector<ScannedRecord> records;
  while (scan.next_page(records)) {
    for (const ScannedRecord& record : records) {
      const Status status = client.take(record.key, record.value, record.is_tombstone);
      ASSERT_EQ(settled(client, {status}).status, Status::kOk);
    }
  }
  {
    Client other(*to);  // ends while its addition waits
    EXPECT_EQ(other.add_to_value(301, added(filled(100, 4), 5)), Status::kPending);
  }
  const auto left = to->awaited().end();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].begins_as, added(filled(100, 4), 5));
  while (client.complete_pending([](auto, auto) {}) > 0) std::this_thread::yield();
  expected[300] = added(filled(100, 3), 5);
  for (std::uint64_t key = 0; key <= 300; ++key) {
    const auto there = expected.find(key);
    ASSERT_EQ(read(client, key), there == expected.end() ? Found{Status::kNotFound}
                                                         : (Found{Status::kOk, there->second}))
        << key;
  }
}

// What the file has instead of a record's length.
class CorruptLengths : public ValuesTest, public ::testing::WithParamInterface<std::uint32_t> {
 protected:
  // The first record's length is at 64 + 16.
  void change_length() const {
    std::fstream file(directory_.path() / "log", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(kFirstAddress + 16);
    const std::uint32_t length = GetParam();
    file.write(reinterpret_cast<const char*>(&length), sizeof length);
  }
};

TEST_P(CorruptLengths, AreNamedWhereTheyLie) {
  auto store = open();
  {
    Client client(*store);
    for (std::uint64_t key = 1; key <= 30; ++key) client.upsert_value(key, filled(300, key));
  }
  const Checkpoint checkpoint = store->checkpoint();
  store.reset();
  change_length();
  try {
    recovered(checkpoint);
    FAIL() << "nothing is wrong with it";
  } catch (const RecoveryError& error) {
    EXPECT_NE(std::string(error.what()).find("address 64"), std::string::npos) << error.what();
  }
}

TEST_P(CorruptLengths, AreReadFromNoDevice) {
  const auto store = open();
  Client client(*store);
  client.upsert_value(1, filled(300, 1));
  push_out(client, *store);
  change_length();
  EXPECT_EQ(read(client, 1).status, Status::kIoError);
  EXPECT_EQ(settled(client, {client.add(1, 1)}).status, Status::kIoError);
}

// One more than fits in the page, 2^31, and the largest.
INSTANTIATE_TEST_SUITE_P(Lengths, CorruptLengths,
                         ::testing::Values(4096 - 64 - 24 + 1, 0x8000'0000U, UINT32_MAX));

}  // namespace
}  // namespace turntable::hybridlog
