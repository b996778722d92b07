// Rules: P4Runtime 1.4, "DigestEntry".
#include "p4runtime_server/digest_lists.h"

#include <gtest/gtest.h>

#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {
namespace {

using namespace std::chrono_literals;
using p4::v1::Update;

constexpr std::uint32_t kLearn = 7;

class DigestListsTest : public ::testing::Test {
 protected:
  p4::v1::DigestEntry entry(std::chrono::nanoseconds wait, int size,
                            std::chrono::nanoseconds memory) {
    p4::v1::DigestEntry made;
    made.set_digest_id(kLearn);
    made.mutable_config()->set_max_timeout_ns(wait.count());
    made.mutable_config()->set_max_list_size(size);
    made.mutable_config()->set_ack_timeout_ns(memory.count());
    return made;
  }
  void insert(std::chrono::nanoseconds wait, int size, std::chrono::nanoseconds memory) {
    lists_.write(Update::INSERT, entry(wait, size, memory));
  }

  // Sizes of the lists that are sent.
  using Sizes = std::vector<int>;
  Sizes add(char digest, std::chrono::nanoseconds at) {
    p4::v1::P4Data data;
    data.set_bitstring(std::string(1, digest));
    return sizes(lists_.add(kLearn, data, start_ + at));
  }
  Sizes due(std::chrono::nanoseconds at) { return sizes(lists_.due(start_ + at)); }
  Sizes sizes(const DigestLists::Lists& sent) {
    Sizes all;
    for (const auto& list : sent) {
      all.push_back(list.data_size());
      last_ = list.list_id();
    }
    return all;
  }
  void acknowledge() {
    p4::v1::DigestListAck ack;
    ack.set_digest_id(kLearn);
    ack.set_list_id(last_);
    lists_.acknowledge(ack);
  }
  grpc::StatusCode refused(Update::Type type, const p4::v1::DigestEntry& given) {
    try {
      lists_.write(type, given);
    } catch (const Refusal& refusal) {
      return refusal.code();
    }
    return grpc::StatusCode::OK;
  }

  DigestLists lists_;
  DigestLists::Time start_ = std::chrono::steady_clock::now();
  std::uint64_t last_ = 0;
};

TEST_F(DigestListsTest, NothingIsSentOfWhatIsNotConfigured) {
  EXPECT_EQ(add('a', 0s), Sizes{});
  EXPECT_EQ(due(1s), Sizes{});
}

TEST_F(DigestListsTest, AFullListIsSentAtOnce) {
  insert(10s, 2, 0s);
  EXPECT_EQ(add('a', 0s), Sizes{});
  EXPECT_EQ(add('b', 0s), Sizes{2});
  EXPECT_EQ(add('c', 0s), Sizes{});
}

TEST_F(DigestListsTest, TheOldestWaitsForItsTime) {
  insert(10s, 0, 0s);
  EXPECT_EQ(lists_.next_due(), std::nullopt);
  EXPECT_EQ(add('a', 1s), Sizes{});
  EXPECT_EQ(add('b', 5s), Sizes{});
  EXPECT_EQ(lists_.next_due(), start_ + 11s);
  EXPECT_EQ(due(10s), Sizes{});
  EXPECT_EQ(due(11s), Sizes{2});
  EXPECT_EQ(due(30s), Sizes{});
}

TEST_F(DigestListsTest, WithoutATimeEachIsSent) {
  insert(0s, 100, 0s);
  EXPECT_EQ(add('a', 0s), Sizes{1});
  EXPECT_EQ(add('a', 0s), Sizes{1});
}

TEST_F(DigestListsTest, AListHasEachOnce) {
  insert(10s, 3, 0s);
  EXPECT_EQ(add('a', 0s), Sizes{});
  EXPECT_EQ(add('a', 0s), Sizes{});
  EXPECT_EQ(due(10s), Sizes{1});
}

TEST_F(DigestListsTest, WhatIsNotAcknowledgedIsNotSentAgain) {
  insert(0s, 1, 10s);
  EXPECT_EQ(add('a', 0s), Sizes{1});
  EXPECT_EQ(add('a', 1s), Sizes{});
  EXPECT_EQ(add('b', 1s), Sizes{1});
  acknowledge();
  EXPECT_EQ(add('b', 2s), Sizes{1});
  EXPECT_EQ(add('a', 2s), Sizes{});
  due(10s);
  EXPECT_EQ(add('a', 10s), Sizes{1});
}

TEST_F(DigestListsTest, ConfigurationsAreThereOrNot) {
  EXPECT_EQ(refused(Update::MODIFY, entry(1s, 1, 1s)), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(refused(Update::DELETE, entry(1s, 1, 1s)), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(refused(Update::INSERT, entry(-1s, 1, 1s)), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(refused(Update::INSERT, entry(1s, 1, 1s)), grpc::StatusCode::OK);
  EXPECT_EQ(refused(Update::INSERT, entry(1s, 1, 1s)), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(lists_.entries(0).size(), 1U);
  EXPECT_EQ(refused(Update::DELETE, entry(1s, 1, 1s)), grpc::StatusCode::OK);
  EXPECT_FALSE(lists_.has_any());
}

TEST_F(DigestListsTest, the_longest_wait_is_ahead) {
  insert(std::chrono::nanoseconds::max(), 2, 0ns);
  add('a', 0ns);
  EXPECT_GT(lists_.next_due().value(), start_ + 1h);
}

}  // namespace
}  // namespace turntable::p4runtime_server
