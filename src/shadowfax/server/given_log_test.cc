// What a server answers of its log to those who were pointed into it.

#include "shadowfax/server/given_log.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "common/scratch_directory.h"
#include "hybridlog/testing_client.h"
#include "shadowfax/server/fetched_record.h"
#include "shadowfax/server/peer_limits.h"
#include "shadowfax/server/receiver.h"

namespace turntable::shadowfax {
namespace {

using hybridlog::Address;
using hybridlog::testing::Client;

constexpr std::uint64_t kKeys = 2000;  // 48 kB, of which memory has 16

// Every read takes longer than an answer should.
class SlowDevice : public hybridlog::Device {
 public:
  explicit SlowDevice(std::unique_ptr<Device> device) : device_(std::move(device)) {}

  std::error_code write(std::uint64_t offset, const std::byte* data, std::size_t size) override {
    return device_->write(offset, data, size);
  }
  std::error_code read(std::uint64_t offset, std::byte* data, std::size_t size) override {
    std::this_thread::sleep_for(kAnswerTime + std::chrono::milliseconds(1));
    return device_->read(offset, data, size);
  }
  std::error_code sync() override { return device_->sync(); }

 private:
  const std::unique_ptr<Device> device_;
};

class GivenLogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Client client(store_);
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      ASSERT_EQ(client.upsert(key, key + 1), hybridlog::Status::kOk);
      client.refresh();
    }
    head_ = store_.log().head();
    ASSERT_GT(head_, Address{4} * 4096);
  }
  nlohmann::json question(std::uint64_t migration, std::uint64_t sequence,
                          hybridlog::HashRange range) {
    return {{"id", migration},    {"first", range.first},
            {"last", range.last}, {"begin", store_.log().begin()},
            {"until", head_},     {"sequence", sequence}};
  }

  ScratchDirectory directory_;
  hybridlog::Store store_{
      {.index_buckets = 4096,
       .log = {.page_bits = 12, .pages = 4, .mutable_share = 0.5},
       .threads = 4,
       .reader_threads = 32},
      std::make_unique<SlowDevice>(hybridlog::open_file(directory_.path() / "log"))};
  Address head_ = 0;
};

// The log has nothing of the range: without an answer nobody would know that it is looked for.
TEST_F(GivenLogTest, APullIsAnsweredPageByPageWhereTheDeviceIsSlow) {
  PulledLog pulled(store_);
  constexpr hybridlog::HashRange kNothing{1, 1};
  std::uint64_t answers = 0;
  for (bool is_last = false; !is_last; ++answers) {
    const Asking::Answer answer = pulled.answer(question(1, answers, kNothing));
    EXPECT_TRUE(answer.records.empty());
    is_last = answer.json.at("is_last");
  }
  EXPECT_EQ(answers, head_ / 4096 + 1);  // and one that says that there is no further page
}

TEST_F(GivenLogTest, PullsOfSeveralMigrationsDoNotEndEachOther) {
  PulledLog pulled(store_);
  std::map<std::uint64_t, std::uint64_t> records;  // by migration
  std::set<std::uint64_t> open{1, 2};
  for (std::uint64_t sequence = 0; !open.empty(); ++sequence) {
    for (const std::uint64_t migration : std::set(open)) {
      const Asking::Answer answer = pulled.answer(question(migration, sequence, {}));
      EXPECT_EQ(pulled.answer(question(migration, sequence, {})).records, answer.records)
          << "an answer may have been lost" << sequence;
      records[migration] += parsed(answer.records).size();
      if (answer.json.at("is_last")) open.erase(migration);
    }
  }
  // A page of 4,096 bytes has 170 records of 24, the first one 168, for it begins 64 bytes later.
  const std::uint64_t there = head_ / 4096 * 170 - 2;
  EXPECT_EQ(records, (std::map<std::uint64_t, std::uint64_t>{{1, there}, {2, there}}));
}

// The oldest one makes room when it seems to be forgotten.
TEST_F(GivenLogTest, SoManyPullsAtOnceAndNoMore) {
  constexpr hybridlog::HashRange kNothing{1, 1};
  PulledLog pulled(store_), forgetful(store_, std::chrono::nanoseconds(0));
  for (std::uint64_t migration = 1; migration <= PulledLog::kMostPulls; ++migration) {
    pulled.answer(question(migration, 0, kNothing));
    forgetful.answer(question(migration, 0, kNothing));
  }
  EXPECT_THROW(pulled.answer(question(100, 0, kNothing)), Refusal);
  EXPECT_NO_THROW(pulled.answer(question(1, 1, kNothing)));
  EXPECT_NO_THROW(pulled.answer(question(1, 0, kNothing)));  // it has its room already
  EXPECT_NO_THROW(forgetful.answer(question(100, 0, kNothing)));
  EXPECT_THROW(forgetful.answer(question(1, 1, kNothing)), Refusal);
  EXPECT_NO_THROW(forgetful.answer(question(2, 1, kNothing)));
}

TEST_F(GivenLogTest, AFetchIsAnsweredInPartWhereTheDeviceIsSlow) {
  constexpr std::uint64_t kAsked = 100;
  std::vector<std::uint8_t> questions;
  for (std::uint64_t key = 0; key < kAsked; ++key) {
    const auto found = store_.index().find(hybridlog::hash_of(key));
    append(questions, FetchQuestion{found.entry.address(), key});
  }
  std::uint64_t messages = 0, key = 0;
  for (; key < kAsked; ++messages) {
    const std::uint64_t before = key;
    const Asking::Answer answer = fetch(store_, {{"begin", store_.log().begin()}},
                                        std::span(questions).subspan(key * FetchQuestion::kBytes));
    hybridlog::Bytes rest = std::as_bytes(std::span(answer.records));
    while (const std::optional<FetchAnswer> next = next_fetch_answer(rest)) {
      ASSERT_EQ(next->found, hybridlog::OtherLogs::Found::kValue);
      EXPECT_EQ(hybridlog::number_of(next->value), ++key);
      rest = rest.subspan(next->bytes());
    }
    ASSERT_GT(key, before);
  }
  EXPECT_GT(messages, 1U);
}

}  // namespace
}  // namespace turntable::shadowfax
