#include "load/saturated_loop.h"

#include <gtest/gtest.h>

#include "common/clock.h"

namespace turntable::load {
namespace {

constexpr Schedule kSaturated = {0, 10 * kMillisecondNs, 30 * kMillisecondNs, 40 * kMillisecondNs};

SaturatedLoop loop_of(std::size_t limit) {
  SaturatedLoop loop(OpenLoop::Settings{.outstanding_max = limit});
  loop.set_schedule(kSaturated, {});
  return loop;
}

TEST(SaturatedLoop, KeepsItsLimitFull) {
  SaturatedLoop loop = loop_of(2);
  EXPECT_EQ(loop.take_due(1), 0U);
  EXPECT_EQ(loop.take_due(2), 1U);
  EXPECT_FALSE(loop.take_due(3));
  EXPECT_EQ(loop.next_due_ns(), INT64_MAX);
  EXPECT_EQ(loop.answered(0, 4, 5).answer, OpenLoop::Answer::kFirst);
  EXPECT_EQ(loop.next_due_ns(), 0);
  EXPECT_EQ(loop.take_due(6), 2U);
  EXPECT_EQ(loop.open(), 2U);
}

TEST(SaturatedLoop, MeasuresTheWindowFromTheSend) {
  SaturatedLoop loop = loop_of(10);
  loop.take_due(5 * kMillisecondNs);   // of the warm-up, answered in the window
  loop.take_due(12 * kMillisecondNs);  // of the window
  loop.take_due(29 * kMillisecondNs);  // of the window, answered after it
  loop.answered(0, 13 * kMillisecondNs, 13 * kMillisecondNs);
  EXPECT_TRUE(loop.answered(1, 14 * kMillisecondNs, 15 * kMillisecondNs).in_window);
  loop.answered(2, 33 * kMillisecondNs, 33 * kMillisecondNs);
  EXPECT_FALSE(loop.take_due(30 * kMillisecondNs));  // nothing is sent in the drain
  EXPECT_EQ(loop.next_due_ns(), INT64_MAX);
  loop.end();
  const OpenLoopStatistics& s = loop.statistics();
  EXPECT_EQ(s.offered, 2);
  EXPECT_EQ(s.delivered, 2);
  EXPECT_EQ(s.latency_ns.count(), 2U);
  EXPECT_EQ(s.latency_ns.max(), 4 * kMillisecondNs);
  EXPECT_EQ(s.read_late_ns.max(), kMillisecondNs);
  EXPECT_EQ(s.lost, 0);
}

TEST(SaturatedLoop, AbandonedRequestsMakeRoomAndAreLost) {
  SaturatedLoop loop = loop_of(1);
  loop.take_due(11 * kMillisecondNs);
  loop.abandon(0);
  loop.abandon(0);
  EXPECT_EQ(loop.open(), 0U);
  EXPECT_EQ(loop.take_due(12 * kMillisecondNs), 1U);
  loop.set_limit(0);
  EXPECT_EQ(loop.next_due_ns(), INT64_MAX);
  loop.answered(1, 13 * kMillisecondNs, 13 * kMillisecondNs);
  EXPECT_FALSE(loop.take_due(14 * kMillisecondNs));
  EXPECT_EQ(loop.answered(7, 1, 1).answer, OpenLoop::Answer::kUnknown);
  EXPECT_EQ(loop.answered(1, 15 * kMillisecondNs, 15 * kMillisecondNs).answer,
            OpenLoop::Answer::kRedundant);
  loop.end();
  EXPECT_EQ(loop.statistics().lost, 1);
}

}  // namespace
}  // namespace turntable::load
