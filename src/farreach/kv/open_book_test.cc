#include "farreach/kv/open_book.h"

#include <gtest/gtest.h>

#include "common/clock.h"

namespace turntable::kv {
namespace {

using Answer = load::OpenLoop::Answer;

// A warm-up of 100 ms, a window of 1500 ms. Two probes.
class OpenBookTest : public ::testing::Test {
 protected:
  OpenBookTest() {
    book_.set_schedule({.start_ns = 0,
                        .window_from_ns = 100 * kMillisecondNs,
                        .window_until_ns = 1600 * kMillisecondNs,
                        .drain_until_ns = 3000 * kMillisecondNs});
  }

  void answered(std::uint64_t number, std::int64_t intended_ms, std::int64_t sent_ms,
                std::int64_t arrived_ms, bool by_switch, Answer answer = Answer::kFirst) {
    book_.answered(1, by_switch,
                   {.number = number,
                    .answer = answer,
                    .intended_ns = intended_ms * kMillisecondNs,
                    .sent_ns = sent_ms * kMillisecondNs,
                    .arrived_ns = arrived_ms * kMillisecondNs});
  }

  const PartitionStatistics& partition() const { return book_.statistics.partitions[1]; }

  OpenBook book_{/*partitions=*/2, /*copies_max=*/0, /*probes=*/2};
};

TEST_F(OpenBookTest, LatencyCountsFromTheIntendedInstantAndFromTheSendBeside) {
  answered(5, 200, 203, 210, /*by_switch=*/false);
  answered(6, 300, 300, 304, /*by_switch=*/true);
  EXPECT_EQ(partition().server_latency_ns.sum(), 10U * kMillisecondNs);
  EXPECT_EQ(partition().switch_latency_ns.sum(), 4U * kMillisecondNs);
  EXPECT_EQ(book_.open[1].from_send_ns.sum(), (7U + 4U) * kMillisecondNs);
  EXPECT_EQ(book_.statistics.partitions[0].server_latency_ns.count(), 0U);
}

TEST_F(OpenBookTest, RequestsOfTheWindowHaveALatencyWheneverTheyAreAnswered) {
  answered(5, 1599, 1599, 2500, /*by_switch=*/false);
  EXPECT_EQ(partition().server_latency_ns.count(), 1U);
  EXPECT_EQ(partition().server_ops, 0);
  EXPECT_EQ(book_.statistics.answered_in_drain, 1);
}

TEST_F(OpenBookTest, AnswersOfTheWindowAreOperationsWheneverTheyWereAskedFor) {
  answered(5, 99, 99, 101, /*by_switch=*/false);
  answered(6, 1000, 1000, 1150, /*by_switch=*/true);
  EXPECT_EQ(partition().server_latency_ns.count(), 0U);
  EXPECT_EQ(partition().server_ops, 1);
  EXPECT_EQ(partition().switch_ops, 1);
  ASSERT_EQ(book_.statistics.seconds.size(), 2U);
  EXPECT_EQ(book_.statistics.seconds[0].partitions[1].server_ops, 1);
  EXPECT_EQ(book_.statistics.seconds[1].partitions[1].switch_ops, 1);
  EXPECT_EQ(book_.statistics.seconds[1].partitions[1].latency_max_ns, 150 * kMillisecondNs);
}

TEST_F(OpenBookTest, ProbesMeasureTheIdlePathAndNothingElse) {
  answered(0, 10, 10, 12, /*by_switch=*/false);
  answered(1, 20, 20, 21, /*by_switch=*/true);
  answered(2, 30, 30, 39, /*by_switch=*/false);
  EXPECT_EQ(book_.open[1].server_path_ns.sum(), 2U * kMillisecondNs);
  EXPECT_EQ(book_.open[1].switch_path_ns.sum(), 1U * kMillisecondNs);
  EXPECT_EQ(partition().server_latency_ns.count(), 0U);
}

TEST_F(OpenBookTest, TwinsOfAnswersAreCountedAsStaleOnly) {
  answered(5, 200, 200, 210, /*by_switch=*/false);
  answered(5, 200, 200, 215, /*by_switch=*/false, Answer::kRedundant);
  EXPECT_EQ(partition().answers_total, 2);
  EXPECT_EQ(book_.statistics.stale_answers, 1);
  EXPECT_EQ(partition().server_ops, 1);
  EXPECT_EQ(partition().server_latency_ns.count(), 1U);
  EXPECT_EQ(book_.answers.get(), 1);
}

TEST_F(OpenBookTest, WhatIsUnderWayAtTheEndIsAnsweredInTheDrainOrNever) {
  answered(5, 1590, 1590, 1601, /*by_switch=*/false);
  load::OpenLoopStatistics loop;
  loop.unanswered = 3;
  book_.end(loop);
  EXPECT_EQ(book_.statistics.unanswered, 3);
  EXPECT_EQ(book_.statistics.in_flight_at_stop, 4);
}

}  // namespace
}  // namespace turntable::kv
