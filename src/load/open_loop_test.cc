#include "load/open_loop.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <stdexcept>

#include "common/clock.h"

namespace turntable::load {
namespace {

constexpr std::int64_t kStart = 1000 * kMillisecondNs;
// Warm-up of 2 ms, window of 4 ms, drain of 10 ms.
constexpr Schedule kSchedule = {kStart, kStart + 2 * kMillisecondNs, kStart + 6 * kMillisecondNs,
                                kStart + 16 * kMillisecondNs};

// A request every millisecond, the first after one: at 1, 2, 3, 4, 5 ms; of the window: 2 to 5.
OpenLoop every_ms(OpenLoop::Settings settings = {}) {
  OpenLoop loop(std::move(settings));
  loop.set_schedule(kSchedule, [](std::uint64_t) { return 1e-3; });
  return loop;
}

constexpr std::int64_t at(double ms) {
  return kStart + static_cast<std::int64_t>(ms * 1e6);
}

std::vector<std::uint64_t> taken(OpenLoop& loop, double ms) {
  std::vector<std::uint64_t> numbers;
  while (const auto number = loop.take_due(at(ms))) numbers.push_back(*number);
  return numbers;
}

OpenLoop::Answer answer(OpenLoop& loop, std::uint64_t number, double arrived_ms, double read_ms) {
  return loop.answered(number, at(arrived_ms), at(read_ms)).answer;
}
// Read as it arrives.
OpenLoop::Answer answer(OpenLoop& loop, std::uint64_t number, double arrived_ms) {
  return answer(loop, number, arrived_ms, arrived_ms);
}

using Numbers = std::vector<std::uint64_t>;

TEST(OpenLoop, InstantsAreSumsOfTheGapsFromTheStart) {
  OpenLoop loop({});
  loop.set_schedule(kSchedule,
                    [](std::uint64_t number) { return 0.5e-3 * static_cast<double>(number + 1); });
  // 0.5, 1.5, 3, 5, (7.5)
  ASSERT_EQ(loop.requests(), 4U);
  EXPECT_EQ(loop.intended_ns(0), at(0.5));
  EXPECT_EQ(loop.intended_ns(3), at(5));
  EXPECT_EQ(loop.statistics().offered, 2);
  EXPECT_EQ(loop.open(), 4U);
}

TEST(OpenLoop, WhatIsDrawnMayStartLater) {
  OpenLoop drawn({}), later = every_ms();
  drawn.set_schedule(kSchedule.starting_at(0), [](std::uint64_t) { return 1e-3; });
  drawn.start_at(kStart);
  ASSERT_EQ(drawn.requests(), later.requests());
  for (std::uint64_t number = 0; number < later.requests(); ++number) {
    EXPECT_EQ(drawn.intended_ns(number), later.intended_ns(number));
    EXPECT_EQ(drawn.in_window(number), later.in_window(number));
  }
  EXPECT_EQ(drawn.statistics().offered, later.statistics().offered);
  EXPECT_EQ(taken(drawn, 2), taken(later, 2));
}

// The thread sleeps until 4.5 ms, and then the limit takes one request of those that are due: the
// thread made the others wait, too.
TEST(OpenLoop, WhatALateThreadFindsDueIsLateAlthoughTheLimitWithholdsIt) {
  OpenLoop loop = every_ms({.outstanding_max = 1});
  EXPECT_EQ(taken(loop, 1), Numbers{0});
  answer(loop, 0, 1.1);
  EXPECT_EQ(taken(loop, 4.5), Numbers{1});  // of 2 ms; 3 and 4 ms are withheld
  answer(loop, 1, 4.9);
  EXPECT_EQ(taken(loop, 5.5), Numbers{2});  // of 3 ms; 5 ms became due behind the limit
  EXPECT_EQ(loop.statistics().withheld, 3);
  // Each as much as the first of them.
  EXPECT_EQ(loop.statistics().send_late_ns.count(), 4U);
  EXPECT_EQ(loop.statistics().send_late_ns.sum(), 4 * 2'500'000U);
}

TEST(OpenLoop, LatenessDelaysNoOtherRequest) {
  OpenLoop loop = every_ms();
  EXPECT_EQ(taken(loop, 0.9), Numbers{});
  EXPECT_EQ(loop.next_due_ns(), at(1));
  EXPECT_EQ(taken(loop, 3.4), (Numbers{0, 1, 2}));  // the thread was busy elsewhere
  EXPECT_EQ(loop.next_due_ns(), at(4));             // not 1 ms after what came late
  EXPECT_EQ(taken(loop, 4), Numbers{3});
  // 1.4 and 0.4 ms late, then in time; the one of the warm-up does not count.
  EXPECT_EQ(loop.statistics().send_late_ns.count(), 3U);
  EXPECT_NEAR(static_cast<double>(loop.statistics().send_late_ns.sum()), 1.8e6, 1);
}

TEST(OpenLoop, LatencyIsFromTheIntendedInstantAndFromTheSending) {
  OpenLoop loop = every_ms();
  taken(loop, 2.5);  // number 1 was due at 2
  EXPECT_EQ(answer(loop, 1, 3.5), OpenLoop::Answer::kFirst);
  EXPECT_EQ(loop.statistics().latency_ns.sum(), 1'500'000U);
  EXPECT_EQ(loop.statistics().from_send_ns.sum(), 1'000'000U);
}

TEST(OpenLoop, TimeInTheSocketIsNotLatency) {
  OpenLoop loop = every_ms();
  taken(loop, 2);
  answer(loop, 1, 2.5, 2.75);
  EXPECT_EQ(loop.statistics().latency_ns.sum(), 500'000U);
  EXPECT_EQ(loop.statistics().read_late_ns.sum(), 250'000U);
  // A stamp from before the sending is none.
  taken(loop, 3);
  answer(loop, 2, 1, 3.5);
  EXPECT_EQ(loop.statistics().latency_ns.sum(), 500'000U);
}

TEST(OpenLoop, CountsAnswersBeyondTheFirstAndUnknownOnes) {
  OpenLoop loop = every_ms();
  taken(loop, 2);
  EXPECT_EQ(answer(loop, 0, 2.1), OpenLoop::Answer::kFirst);
  EXPECT_EQ(answer(loop, 1, 2.1), OpenLoop::Answer::kFirst);
  EXPECT_EQ(answer(loop, 0, 2.2), OpenLoop::Answer::kRedundant);
  EXPECT_EQ(answer(loop, 1, 2.2), OpenLoop::Answer::kRedundant);
  EXPECT_EQ(answer(loop, 1, 2.3), OpenLoop::Answer::kRedundant);
  EXPECT_EQ(answer(loop, 2, 2.3), OpenLoop::Answer::kUnknown);  // not sent yet
  EXPECT_EQ(answer(loop, 99, 2.3), OpenLoop::Answer::kUnknown);
  EXPECT_EQ(loop.statistics().redundant, 3);
  EXPECT_EQ(loop.statistics().redundant_window, 2);
  EXPECT_EQ(loop.statistics().answers_total, 5);
  EXPECT_EQ(loop.statistics().latency_ns.count(), 1U);
}

TEST(OpenLoop, CountsTheWindowAlone) {
  OpenLoop loop = every_ms({.over_ns = {kMillisecondNs, 2 * kMillisecondNs}});
  taken(loop, 5);
  answer(loop, 0, 2.5);  // of the warm-up, delivered in the window
  answer(loop, 1, 3.5);  // 1.5 ms
  answer(loop, 3, 7);    // 3 ms, in the drain
  loop.end();
  const OpenLoopStatistics& s = loop.statistics();
  EXPECT_EQ(s.offered, 4);
  EXPECT_EQ(s.delivered, 2);
  EXPECT_EQ(s.latency_ns.count(), 2U);
  EXPECT_EQ(s.halves[0].count(), 1U);  // instants from 2 to 4 ms
  EXPECT_EQ(s.halves[1].count(), 1U);
  EXPECT_EQ(s.over[0].requests, 2);
  EXPECT_EQ(s.over[1].requests, 1);
  EXPECT_EQ(s.lost, 2);
  EXPECT_EQ(s.unanswered, 2);
  EXPECT_EQ(s.unsent, 0);
  EXPECT_EQ(s.requests_total, 5);
  EXPECT_EQ(loop.open(), 2U);
}

TEST(OpenLoop, CountsBySecond) {
  OpenLoop loop({});
  loop.set_schedule(
      {kStart, kStart, kStart + 2500 * kMillisecondNs, kStart + 9000 * kMillisecondNs},
      [](std::uint64_t) { return 0.4; });  // at 0.4, 0.8, 1.2, 1.6, 2.0, 2.4
  taken(loop, 2500);
  answer(loop, 0, 1100);
  answer(loop, 1, 1200);
  answer(loop, 5, 2500);  // after the window
  const auto& seconds = loop.statistics().seconds;
  ASSERT_EQ(seconds.size(), 3U);
  EXPECT_EQ(seconds[0].offered, 2);
  EXPECT_EQ(seconds[1].offered, 2);
  EXPECT_EQ(seconds[2].offered, 2);
  EXPECT_EQ(seconds[0].delivered, 0);
  EXPECT_EQ(seconds[1].delivered, 2);
  EXPECT_EQ(seconds[1].latency_sum_ns, 1100 * kMillisecondNs);
  EXPECT_EQ(seconds[1].latency_max_ns, 700 * kMillisecondNs);
  EXPECT_EQ(seconds[2].delivered, 0);
}

TEST(OpenLoop, TheLimitWithholdsAndLatencyStillCountsFromTheInstant) {
  OpenLoop loop = every_ms({.outstanding_max = 1});
  EXPECT_EQ(taken(loop, 2.5), Numbers{0});
  answer(loop, 0, 3.25);
  EXPECT_EQ(taken(loop, 3.25), Numbers{1});  // due at 2; 2, due at 3, waits on
  answer(loop, 1, 3.5);
  EXPECT_EQ(taken(loop, 3.5), Numbers{2});
  answer(loop, 2, 3.75);
  EXPECT_EQ(taken(loop, 4.25), Numbers{3});  // late because of the thread
  loop.end();
  const OpenLoopStatistics& s = loop.statistics();
  EXPECT_EQ(s.withheld, 2);
  EXPECT_EQ(s.latency_ns.sum(), static_cast<std::uint64_t>(1.5e6 + 0.75e6));
  // The last one; the two before it by what their thread was late with the first one, 1.5 ms, and
  // not by how long they were withheld.
  EXPECT_EQ(s.send_late_ns.count(), 3U);
  EXPECT_EQ(s.send_late_ns.sum(), 250'000U + 2 * 1'500'000U);
  EXPECT_EQ(s.lost, 1);
  EXPECT_EQ(s.unsent, 1);  // number 4
  EXPECT_EQ(s.unanswered, 1);
}

// A request that was due while the limit was reached is the limit's, whether or not the thread
// looked in between.
TEST(OpenLoop, WhatBecameDueAtTheLimitIsWithheldThoughNobodyLooked) {
  OpenLoop loop = every_ms({.outstanding_max = 1});
  EXPECT_EQ(taken(loop, 1), Numbers{0});
  answer(loop, 0, 2.5);
  EXPECT_EQ(taken(loop, 2.5), Numbers{1});
  EXPECT_EQ(loop.statistics().withheld, 1);
  EXPECT_EQ(loop.statistics().send_late_ns.count(), 1U);
  EXPECT_EQ(loop.statistics().send_late_ns.sum(), 0U);  // its thread was in time
}

// The window is all of the time but for its end; a request every millisecond, the first after one.
OpenLoop limited(std::size_t outstanding_max, std::int64_t window_ms) {
  OpenLoop loop({.outstanding_max = outstanding_max});
  const std::int64_t until = kStart + window_ms * kMillisecondNs;
  loop.set_schedule({kStart, kStart, until, until + 10 * kMillisecondNs},
                    [](std::uint64_t) { return 1e-3; });
  return loop;
}

// Number 6 becomes due after the limit was reached, and waits for the thread's sleep as well.
TEST(OpenLoop, UntilItHasCaughtUpAThreadThatWasLateIsLate) {
  OpenLoop loop = limited(2, 9);
  EXPECT_EQ(taken(loop, 1), Numbers{0});
  answer(loop, 0, 1.2);
  EXPECT_EQ(taken(loop, 6.5), (Numbers{1, 2}));  // it slept; 3, 4 and 5 are due, too
  answer(loop, 1, 6.9);
  EXPECT_EQ(taken(loop, 6.9), Numbers{3});
  answer(loop, 2, 7.2);
  EXPECT_EQ(taken(loop, 7.2), Numbers{4});
  answer(loop, 3, 7.4);
  EXPECT_EQ(taken(loop, 7.4), Numbers{5});
  answer(loop, 4, 7.6);
  EXPECT_EQ(taken(loop, 7.6), Numbers{6});
  answer(loop, 5, 7.7);
  EXPECT_EQ(taken(loop, 7.7), Numbers{});  // it has caught up
  EXPECT_EQ(taken(loop, 8), Numbers{7});
  const OpenLoopStatistics& s = loop.statistics();
  EXPECT_EQ(s.withheld, 4);
  EXPECT_EQ(s.send_late_ns.count(), 8U);
  // Numbers 1 and 2 of 2 and 3 ms; 3 to 6 for as long as number 1 was late; 0 and 7 in time.
  EXPECT_EQ(s.send_late_ns.sum(), 4'500'000U + 3'500'000U + 4 * 4'500'000U);
}

// ... but a server that is slower than its load makes no thread late: one answer in 2 ms.
TEST(OpenLoop, AnOverloadedServerMakesNoThreadLate) {
  OpenLoop loop = limited(1, 100);
  EXPECT_EQ(taken(loop, 1), Numbers{0});
  for (std::uint64_t number = 0; number < 49; ++number) {
    const double now = 3 + 2 * static_cast<double>(number);
    answer(loop, number, now);
    EXPECT_EQ(taken(loop, now + 0.01), Numbers{number + 1});
  }
  const OpenLoopStatistics& s = loop.statistics();
  EXPECT_EQ(s.withheld, 98);  // of 2 to 99 ms: at 99.01 it looked last
  EXPECT_EQ(s.send_late_ns.count(), 99U);
  EXPECT_EQ(s.send_late_ns.sum(), 0U);
}

// The thread stands still from 1 to 4.5 ms, and there was room from 1.2 ms on: what became due
// since could have been sent.
// 120,000/s for a server that does 100,000/s, and 5 ms after the start the thread looks away for
// one. Soon requests wait for more than that, 0.2 ms more in each: five milliseconds of a second
// are the thread's, fewer than 1 %.
TEST(OpenLoop, OnePauseOfTheThreadExplainsNoOverload) {
  constexpr std::int64_t kServiceNs = 10'000;
  constexpr Schedule kSecond = {kStart, kStart, at(1000), at(2000)};
  OpenLoop loop({.outstanding_max = 16});
  loop.set_schedule(kSecond, [](std::uint64_t) { return 1.0 / 120'000; });
  std::deque<std::pair<std::uint64_t, std::int64_t>> under_way;
  std::int64_t free_ns = 0;
  for (std::int64_t now_ns = kStart; now_ns < at(1000); now_ns += 1000) {
    if (now_ns >= at(5) && now_ns < at(6)) continue;
    for (; !under_way.empty() && under_way.front().second <= now_ns; under_way.pop_front())
      loop.answered(under_way.front().first, under_way.front().second, now_ns);
    while (const auto number = loop.take_due(now_ns)) {
      free_ns = std::max(free_ns, now_ns) + kServiceNs;
      under_way.emplace_back(*number, free_ns);
    }
  }
  loop.end();
  EXPECT_GT(loop.statistics().send_late_ns.max(), 900'000);
  EXPECT_LT(loop.statistics().send_late_ns.value_at_percentile(99), 50'000);
}

TEST(OpenLoop, AThreadThatReadsAnAnswerLateMakesWhatBecameDueSinceLate) {
  OpenLoop loop = limited(1, 9);
  EXPECT_EQ(taken(loop, 1), Numbers{0});
  answer(loop, 0, 1.2, 4.5);
  // Of 2, 3 and 4 ms; and number 0, which was in time.
  EXPECT_EQ(loop.statistics().send_late_ns.count(), 4U);
  EXPECT_EQ(loop.statistics().send_late_ns.sum(), 2'500'000U + 1'500'000U + 500'000U);
  EXPECT_EQ(taken(loop, 4.5), Numbers{1});
  answer(loop, 1, 4.9);
  EXPECT_EQ(taken(loop, 4.9), Numbers{2});
  // Number 4 becomes due behind that queue, which is the thread's.
  answer(loop, 2, 5.1);
  EXPECT_EQ(loop.statistics().send_late_ns.count(), 5U);
  EXPECT_EQ(loop.statistics().send_late_ns.sum(), 4'500'000U + 2'500'000U);
  EXPECT_EQ(loop.statistics().withheld, 4);
}

// The server answers after 3.4 ms, and the thread looks after 4.5 ms: numbers 1 and 2, of 2 and 3
// ms, waited for the server first; number 3 became due when there was room.
TEST(OpenLoop, WhatWaitedForTheServerIsLateByWhatTheThreadAdded) {
  OpenLoop loop = limited(1, 9);
  EXPECT_EQ(taken(loop, 1), Numbers{0});
  answer(loop, 0, 3.4, 4.5);
  EXPECT_EQ(loop.statistics().send_late_ns.sum(), 2 * 1'100'000U + 500'000U);
  EXPECT_EQ(taken(loop, 4.5), Numbers{1});
  answer(loop, 1, 5.5);
  // The queue is the server's: number 4, of 5 ms, is late by nobody's fault.
  EXPECT_EQ(loop.statistics().send_late_ns.count(), 5U);
  EXPECT_EQ(loop.statistics().send_late_ns.sum(), 2 * 1'100'000U + 500'000U);
}

// The limit is reached again when the answer comes, but it made no room.
TEST(OpenLoop, AnAnswerToWhatWasGivenUpMakesNoRoom) {
  OpenLoop loop({.outstanding_max = 1, .give_up_ns = 2 * kMillisecondNs});
  loop.set_schedule({kStart, kStart, at(9), at(19)}, [](std::uint64_t) { return 1e-3; });
  EXPECT_EQ(taken(loop, 1), Numbers{0});
  EXPECT_EQ(taken(loop, 2.9), Numbers{});
  EXPECT_EQ(taken(loop, 3), Numbers{1});  // number 0 is given up; 1 and 2 are withheld
  answer(loop, 0, 3.1, 4.5);              // number 3, of 4 ms
  EXPECT_EQ(loop.statistics().withheld, 3);
  EXPECT_EQ(loop.statistics().send_late_ns.sum(), 0U);
}

TEST(OpenLoop, ALostRequestBlocksTheLimitNotForEver) {
  OpenLoop loop = every_ms({.outstanding_max = 1, .give_up_ns = 2 * kMillisecondNs});
  EXPECT_EQ(taken(loop, 1), Numbers{0});
  EXPECT_EQ(taken(loop, 2.9), Numbers{});
  EXPECT_EQ(loop.next_due_ns(), at(3));  // when number 0 is given up
  EXPECT_EQ(taken(loop, 3), Numbers{1});
  EXPECT_EQ(loop.statistics().given_up, 1);
  EXPECT_EQ(answer(loop, 0, 3.1), OpenLoop::Answer::kFirst);  // it came after all
  EXPECT_EQ(taken(loop, 3.1), Numbers{});                     // and freed nothing twice
  loop.end();
  EXPECT_EQ(loop.statistics().unanswered, 1);
}

TEST(OpenLoop, RecordsLatenciesInTheOrderOfAnswers) {
  OpenLoop loop = every_ms({.record_latencies = true});
  taken(loop, 3);
  answer(loop, 2, 3.25);
  answer(loop, 0, 3.5);  // warm-up
  answer(loop, 1, 3.5);
  answer(loop, 1, 4);  // redundant
  EXPECT_EQ(loop.latencies_ns(), (std::vector<std::int64_t>{250'000, 1'500'000}));
}

TEST(OpenLoop, StatisticsOfClientsAddUp) {
  OpenLoop one = every_ms({.over_ns = {kMillisecondNs}}),
           other = every_ms({.over_ns = {kMillisecondNs}});
  taken(one, 5);
  taken(other, 5);
  answer(one, 1, 3.5);
  answer(other, 3, 4.5);
  answer(other, 3, 4.6);
  one.end();
  other.end();
  OpenLoopStatistics sum = one.statistics();
  sum.merge(other.statistics());
  EXPECT_EQ(sum.offered, 8);
  EXPECT_EQ(sum.delivered, 2);
  EXPECT_EQ(sum.lost, 6);
  EXPECT_EQ(sum.redundant, 1);
  EXPECT_EQ(sum.latency_ns.count(), 2U);
  EXPECT_EQ(sum.halves[0].count(), 1U);
  EXPECT_EQ(sum.over[0].requests, 1);
  EXPECT_EQ(sum.seconds[0].delivered, 2);
  EXPECT_EQ(sum.requests_total, 10);
}

TEST(OpenLoop, AnAbandonedRequestMakesRoomAndIsLost) {
  OpenLoop loop = every_ms({.outstanding_max = 1});
  EXPECT_EQ(taken(loop, 2), Numbers{0});
  loop.abandon(0);
  loop.abandon(0);   // once is enough
  loop.abandon(17);  // was never sent
  EXPECT_EQ(loop.open(), 4U);
  EXPECT_EQ(taken(loop, 2), Numbers{1});  // of the window
  loop.abandon(1);
  EXPECT_EQ(taken(loop, 3), Numbers{2});
  EXPECT_EQ(answer(loop, 2, 3.5), OpenLoop::Answer::kFirst);
  EXPECT_EQ(taken(loop, 5), Numbers{3});
  EXPECT_EQ(answer(loop, 3, 5), OpenLoop::Answer::kFirst);
  EXPECT_EQ(taken(loop, 5), Numbers{4});
  EXPECT_EQ(answer(loop, 4, 5.5), OpenLoop::Answer::kFirst);
  EXPECT_EQ(loop.open(), 0U);  // nobody waits for those that were abandoned
  loop.end();
  EXPECT_EQ(loop.statistics().lost, 1);
  EXPECT_EQ(loop.statistics().unanswered, 2);
  EXPECT_EQ(loop.statistics().given_up, 0);
}

TEST(OpenLoop, ItsLimitMayBecomeNothing) {
  OpenLoop loop = every_ms({.outstanding_max = 4});
  EXPECT_EQ(taken(loop, 1), Numbers{0});
  loop.set_limit(0);
  EXPECT_EQ(answer(loop, 0, 1.5), OpenLoop::Answer::kFirst);
  EXPECT_EQ(taken(loop, 3), Numbers{});
  EXPECT_EQ(loop.next_due_ns(), INT64_MAX);
  loop.set_limit(4);
  EXPECT_EQ(taken(loop, 3.5), (Numbers{1, 2}));
  loop.end();
  EXPECT_EQ(loop.statistics().withheld, 2);
  EXPECT_EQ(loop.statistics().unsent, 2);
}

TEST(OpenLoop, TheCallerMayRecordLatencies) {
  OpenLoop loop = every_ms({.caller_records = true});
  taken(loop, 5);
  answer(loop, 3, 5.5);
  EXPECT_EQ(loop.statistics().latency_ns.count(), 0U);
  EXPECT_EQ(loop.statistics().from_send_ns.count(), 0U);
  EXPECT_EQ(loop.statistics().read_late_ns.count(), 1U);
  EXPECT_EQ(loop.statistics().delivered, 1);
}

}  // namespace
}  // namespace turntable::load
