// Every state of a key, and what each message does in it.
#include "farreach/kv/cached_keys.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

#include "farreach/kv/testing_keys.h"

namespace turntable::kv {
namespace {

using testing::kKey;

constexpr workload::KeyId kOther = 6284781860667377211;
constexpr bool kAsCached = true, kAsUncached = false;

class CachedKeysTest : public ::testing::Test {
 protected:
  bool lets_in(CachedKeys& keys, bool as_cached, std::uint32_t number = 100,
               workload::KeyId key = kKey) {
    const bool is_in = keys.enter(key, number, as_cached);
    if (is_in) keys.leave();
    return is_in;
  }
  bool lets_in(bool as_cached, std::uint32_t number = 100, workload::KeyId key = kKey) {
    return lets_in(keys_, as_cached, number, key);
  }
  void admit(std::uint32_t id, std::uint32_t number = 0) {
    keys_.mark(std::array{kKey});
    keys_.settle(kKey, {.id = id, .number = number});
  }

  int woken_ = 0;
  CachedKeys keys_{{.holds_writes = true}, [this] { ++woken_; }};
};

TEST_F(CachedKeysTest, AServerWithoutAControllerHoldsNothingBack) {
  EXPECT_TRUE(lets_in(kAsUncached));
  EXPECT_TRUE(lets_in(kAsCached));
}

TEST_F(CachedKeysTest, AProcessThatStartsHoldsEveryWriteBackUntilItKnowsWhatIsCached) {
  CachedKeys keys({.holds_writes = true, .is_controlled = true});
  EXPECT_FALSE(lets_in(keys, kAsUncached));
  EXPECT_FALSE(lets_in(keys, kAsCached));
  EXPECT_TRUE(keys.take_evictions().empty());
  keys.synchronize(std::array{CachedKeys::Listed{kKey, {.id = 3, .number = 50}}});
  pollfd event{keys.event_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&event, 1, 0), 1);
  EXPECT_TRUE(lets_in(keys, kAsUncached, 100, kOther));
  EXPECT_TRUE(lets_in(keys, kAsCached, 51));
  EXPECT_FALSE(lets_in(keys, kAsCached, 50));
  EXPECT_FALSE(lets_in(keys, kAsUncached, 51));
  EXPECT_EQ(keys.take_evictions(), (std::vector{CachedKeys::Eviction{kKey, 3}}));
}

TEST_F(CachedKeysTest, AnEvictionIsAskedForOnceAndItsAnswerOpensTheKey) {
  admit(5);
  EXPECT_FALSE(lets_in(kAsUncached));
  EXPECT_FALSE(lets_in(kAsUncached));
  EXPECT_EQ(woken_, 1);
  const CachedKeys::Eviction eviction{kKey, 5};
  EXPECT_EQ(keys_.take_evictions(), std::vector{eviction});
  EXPECT_TRUE(keys_.waits_for(eviction));
  keys_.eviction_answered(eviction);
  EXPECT_FALSE(keys_.waits_for(eviction));
  EXPECT_TRUE(lets_in(kAsUncached));
}

TEST_F(CachedKeysTest, AKeyThatTheAgentEvictedNeedsNobody) {
  admit(5);
  keys_.evicted(kKey, 5);
  EXPECT_TRUE(lets_in(kAsUncached));
  EXPECT_EQ(woken_, 0);
}

TEST_F(CachedKeysTest, WhatIsSaidOfAnEarlierAdmissionChangesNothing) {
  admit(5);
  EXPECT_FALSE(lets_in(kAsUncached));  // asks for the eviction of 5
  keys_.evicted(kKey, 5);
  admit(6);
  keys_.evicted(kKey, 5);
  keys_.eviction_answered({kKey, 5});
  keys_.settle(kKey, {});
  EXPECT_FALSE(lets_in(kAsUncached));
  keys_.evicted(kKey, 6);
  EXPECT_TRUE(lets_in(kAsUncached));
  keys_.settle(kKey, {.id = 6});
  EXPECT_TRUE(lets_in(kAsUncached));
}

TEST_F(CachedKeysTest, AnAdmissionThatEndsBeforeItIsSettledIsNone) {
  keys_.mark(std::array{kKey});
  keys_.evicted(kKey, 6);
  EXPECT_FALSE(lets_in(kAsUncached));  // still marked
  keys_.settle(kKey, {.id = 6});
  EXPECT_TRUE(lets_in(kAsUncached));
  keys_.mark(std::array{kKey});
  keys_.evicted(kKey, 6);  // said again
  keys_.settle(kKey, {.id = 7});
  EXPECT_FALSE(lets_in(kAsUncached));
}

TEST_F(CachedKeysTest, LaterAdmissionsHaveLaterIdsAlsoWhenTheyBeginAgain) {
  EXPECT_EQ(cache::admission_after(cache::kLargestAdmission), 1u);
  admit(cache::kLargestAdmission);
  keys_.evicted(kKey, cache::kLargestAdmission - 1);
  EXPECT_FALSE(lets_in(kAsUncached));
  keys_.evicted(kKey, 1);
  EXPECT_TRUE(lets_in(kAsUncached));
}

TEST_F(CachedKeysTest, AMarkEndsWhatWasKnown) {
  admit(5);
  EXPECT_FALSE(lets_in(kAsUncached));
  keys_.mark(std::array{kKey});
  EXPECT_FALSE(lets_in(kAsCached));
  keys_.eviction_answered({kKey, 5});
  EXPECT_FALSE(lets_in(kAsCached));
  keys_.settle(kKey, {});
  EXPECT_TRUE(lets_in(kAsUncached));
}

TEST_F(CachedKeysTest, AConnectionMadeAnewSettlesMarksAndForgetsWhatIsGone) {
  admit(5);
  keys_.mark(std::array{kOther});
  keys_.synchronize(std::array{CachedKeys::Listed{kOther, {.id = 9}}});
  EXPECT_TRUE(lets_in(kAsUncached));
  EXPECT_TRUE(lets_in(kAsCached, 100, kOther));
  EXPECT_FALSE(lets_in(kAsUncached, 100, kOther));
  keys_.take_evictions();
  keys_.synchronize(std::array{CachedKeys::Listed{kOther, {.id = 9}}});  // being evicted still
  EXPECT_FALSE(lets_in(kAsUncached, 100, kOther));
  EXPECT_TRUE(keys_.take_evictions().empty());
  keys_.synchronize(std::array{CachedKeys::Listed{kOther, {.id = 10}}});  // and there again
  EXPECT_FALSE(lets_in(kAsUncached, 100, kOther));
  EXPECT_EQ(keys_.take_evictions(), (std::vector{CachedKeys::Eviction{kOther, 10}}));
}

TEST_F(CachedKeysTest, AMarkWaitsForTheWriteThatIsBeingExecuted) {
  ASSERT_TRUE(keys_.enter(kKey, 1, kAsUncached));
  std::atomic<bool> is_marked = false;
  std::jthread marker([&] {
    keys_.mark(std::array{kOther});  // another key's does not
    keys_.mark(std::array{kKey});
    is_marked = true;
  });
  EXPECT_FALSE(is_marked);
  keys_.leave();
  marker.join();
  EXPECT_TRUE(is_marked);
}

TEST_F(CachedKeysTest, ReportsOfManyKeysAreBounded) {
  CachedKeys keys({});
  for (workload::KeyId key = 0; key <= CachedKeys::kMaxKeys; ++key) keys.report(key);
  EXPECT_EQ(keys.dropped(), 1u);
  EXPECT_EQ(keys.take_reports(10).size(), 10u);
}

}  // namespace
}  // namespace turntable::kv
