// The timer wheel beside a sorted list of the same timers.
#include "net/timer_wheel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "common/allocation_counter.h"

namespace turntable::net {
namespace {

constexpr std::int64_t kStep = 10'000;
constexpr std::int64_t kBegin = 1'234'567'891'234;  // no multiple of a step

using Expired = std::vector<std::uint32_t>;

Expired expire(TimerWheel& wheel, std::int64_t now_ns) {
  Expired expired;
  wheel.expire(now_ns, [&](std::uint32_t timer) { expired.push_back(timer); });
  return expired;
}

// What the wheel has to do, done slowly.
class Reference {
 public:
  void set(std::uint32_t timer, std::int64_t at_ns) {
    cancel(timer);
    const std::int64_t step = std::max(now_ + 1, (at_ns - kBegin + kStep - 1) / kStep);
    const auto place = timers_.emplace(std::pair(step, order_++), timer).first;
    places_.emplace(timer, place);
  }
  void cancel(std::uint32_t timer) {
    const auto found = places_.find(timer);
    if (found == places_.end()) return;
    timers_.erase(found->second);
    places_.erase(found);
  }
  Expired expire(std::int64_t now_ns) {
    Expired expired;
    while (!timers_.empty() && next_ns() <= now_ns) {
      expired.push_back(timers_.begin()->second);
      cancel(expired.back());
    }
    now_ = std::max(now_, (now_ns - kBegin) / kStep);
    return expired;
  }
  bool is_set(std::uint32_t timer) const { return places_.contains(timer); }
  std::size_t size() const { return timers_.size(); }
  std::int64_t next_ns() const {
    return timers_.empty() ? INT64_MAX : kBegin + timers_.begin()->first.first * kStep;
  }

 private:
  using Timers = std::map<std::pair<std::int64_t, std::uint64_t>, std::uint32_t>;
  Timers timers_;  // by step, then by the order of set()
  std::map<std::uint32_t, Timers::iterator> places_;
  std::uint64_t order_ = 0;
  std::int64_t now_ = 0;
};

TEST(TimerWheel, ATimerExpiresAtTheEndOfItsStep) {
  TimerWheel wheel(3, kBegin);
  wheel.set(0, kBegin + kStep);      // its end
  wheel.set(1, kBegin + kStep + 1);  // the next
  wheel.set(2, kBegin + 2 * kStep);  // its end
  EXPECT_EQ(wheel.next_ns(), kBegin + kStep);
  EXPECT_EQ(expire(wheel, kBegin + kStep - 1), Expired{});
  EXPECT_EQ(expire(wheel, kBegin + kStep), Expired{0});
  EXPECT_EQ(expire(wheel, kBegin + 2 * kStep - 1), Expired{});
  EXPECT_EQ(expire(wheel, kBegin + 2 * kStep), (Expired{1, 2}));
  EXPECT_EQ(wheel.size(), 0U);
  EXPECT_EQ(wheel.next_ns(), INT64_MAX);
}

TEST(TimerWheel, WhatIsDueAlreadyExpiresWithThePresentStep) {
  TimerWheel wheel(1, kBegin);
  EXPECT_EQ(expire(wheel, kBegin + 100 * kStep + 1), Expired{});
  for (const std::int64_t at : {std::int64_t{0}, kBegin + 5 * kStep, kBegin + 100 * kStep}) {
    wheel.set(0, at);
    const std::int64_t end = wheel.next_ns();
    EXPECT_EQ(expire(wheel, end - 1), Expired{});
    EXPECT_EQ(expire(wheel, end), Expired{0});
  }
  EXPECT_EQ(expire(wheel, kBegin), Expired{});  // a clock that goes back does no harm
}

TEST(TimerWheel, OfOneStepTheFirstSetIsTheFirstToExpire) {
  const std::int64_t at = kBegin + 5000 * kStep;
  TimerWheel wheel(4, kBegin);
  wheel.set(3, at);  // far away: in a later wheel
  wheel.set(1, at);
  expire(wheel, at - 100 * kStep);
  wheel.set(0, at);  // nearer
  expire(wheel, at - kStep);
  wheel.set(2, at);
  wheel.set(1, at);  // anew: last
  EXPECT_EQ(expire(wheel, at), (Expired{3, 0, 2, 1}));
}

TEST(TimerWheel, ACallMaySetAndCancelTimers) {
  TimerWheel wheel(3, kBegin);
  for (std::uint32_t i = 0; i < 3; ++i) wheel.set(i, kBegin + kStep);
  Expired expired;
  wheel.expire(kBegin + 5 * kStep, [&](std::uint32_t timer) {
    expired.push_back(timer);
    EXPECT_FALSE(wheel.is_set(timer));
    if (expired.size() == 1) wheel.cancel(1);
    wheel.set(timer, kBegin);  // in the past: it must not be called for ever
  });
  // 0 and 2 in each of the steps 1 to 5.
  EXPECT_EQ(expired, (Expired{0, 2, 0, 2, 0, 2, 0, 2, 0, 2}));
  EXPECT_EQ(wheel.size(), 2U);
}

TEST(TimerWheel, ASleeperWakesAtTheTimerAndSeldomBefore) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    TimerWheel wheel(1, kBegin);
    expire(wheel, kBegin + static_cast<std::int64_t>(random() >> (20 + random() % 40)));
    const std::int64_t at = kBegin + static_cast<std::int64_t>(random() >> (9 + random() % 47));
    wheel.set(0, at);
    int for_nothing = -1;
    std::int64_t woken = 0;
    do {
      ASSERT_GT(wheel.next_ns(), woken);
      woken = wheel.next_ns();
      ++for_nothing;
    } while (expire(wheel, woken).empty());
    EXPECT_LE(for_nothing, 6);
    EXPECT_GE(woken, at);
  }
}

TEST(TimerWheel, DoesWhatASortedListDoes) {
  constexpr std::uint32_t kTimers = 200;
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937_64 random(seed);
    TimerWheel wheel(kTimers, kBegin);
    Reference reference;
    std::int64_t now = kBegin;
    // From a nanosecond to a week, every magnitude as often as any other.
    const auto span = [&] { return static_cast<std::int64_t>(random() >> (15 + random() % 49)); };
    for (int i = 0; i < 5000; ++i) {
      const auto timer = static_cast<std::uint32_t>(random() % kTimers);
      switch (random() % 8) {
        case 0:
          wheel.cancel(timer);
          reference.cancel(timer);
          break;
        case 1:
        case 2: {
          now = random() % 2 == 0 ? now + span() / 4
                                  : std::max(now, std::min(reference.next_ns(), now + span()));
          ASSERT_EQ(expire(wheel, now), reference.expire(now)) << "seed " << seed << ", " << i;
          break;
        }
        default: {
          const std::int64_t at = now + span() - 20'000;
          wheel.set(timer, at);
          reference.set(timer, at);
        }
      }
      ASSERT_EQ(wheel.size(), reference.size());
      ASSERT_EQ(wheel.is_set(timer), reference.is_set(timer));
      ASSERT_LE(wheel.next_ns(), reference.next_ns());
    }
    ASSERT_EQ(expire(wheel, INT64_MAX), reference.expire(INT64_MAX));
  }
}

TEST(TimerWheel, AllocatesInTheConstructorOnly) {
  TimerWheel wheel(1000, kBegin);
  std::mt19937_64 random(1);
  std::int64_t expired = 0;
  const auto before = allocation_count();
  for (std::int64_t now = kBegin; now < kBegin + 2000 * kStep; now += kStep) {
    for (int i = 0; i < 10; ++i)
      wheel.set(static_cast<std::uint32_t>(random() % 1000),
                now + static_cast<std::int64_t>(random() % 50'000'000));
    wheel.expire(now, [&](std::uint32_t) { ++expired; });
  }
  EXPECT_EQ(allocation_count(), before);
  EXPECT_GT(expired, 100);
}

}  // namespace
}  // namespace turntable::net
