#include "netclone/server/statistics.h"

#include <gtest/gtest.h>

namespace turntable::netclone {
namespace {

constexpr ServerWindow kWindow = {1000, 2000};

Slots::Completion completion(std::int64_t start_ns, std::int64_t due_ns, std::uint32_t queue,
                             bool all_busy) {
  return {.job = {.packet = {},
                  .arrival_ns = start_ns - 5,
                  .service_ns = due_ns - start_ns,
                  .start_ns = start_ns},
          .due_ns = due_ns,
          .queue = queue,
          .all_busy = all_busy};
}

TEST(ServerStatistics, CountArrivalsByTheirInstant) {
  ServerStatistics statistics;
  const Packet clone{.clone = Clone::kClone};
  statistics.count_arrival(kWindow, clone, 999, 0, true);
  statistics.count_arrival(kWindow, clone, 1000, 3, true);
  statistics.count_arrival(kWindow, clone, 1999, 0, false);
  statistics.count_arrival(kWindow, Packet{}, 1999, 0, false);
  statistics.count_arrival(kWindow, Packet{}, 2000, 0, false);
  EXPECT_EQ(statistics.received_total, 5);
  EXPECT_EQ(statistics.clones_dropped_total, 2);
  EXPECT_EQ(statistics.received, 3);
  EXPECT_EQ(statistics.clones_received, 2);
  EXPECT_EQ(statistics.clones_dropped, 1);
  EXPECT_EQ(statistics.queue_length.count(), 3U);
  EXPECT_EQ(statistics.queue_length.max(), 3);
}

TEST(ServerStatistics, CountAnswersByTheEndOfTheirWork) {
  ServerStatistics statistics;
  statistics.count_answer(kWindow, completion(900, 1100, 2, true), 1107);
  statistics.count_answer(kWindow, completion(1500, 1700, 0, true), 1700);
  statistics.count_answer(kWindow, completion(1500, 1600, 0, false), 1601);
  statistics.count_answer(kWindow, completion(1900, 2300, 0, true), 2300);
  EXPECT_EQ(statistics.answered_total, 4);
  EXPECT_EQ(statistics.answered, 3);
  EXPECT_EQ(statistics.answers_empty, 2);
  EXPECT_EQ(statistics.answers_empty_all_busy, 1);
  EXPECT_EQ(statistics.planned_work_ns, 100 + 200 + 100 + 100);
  EXPECT_EQ(statistics.busy_slot_ns, 107 + 200 + 101 + 100);
  EXPECT_EQ(statistics.work_error_ns.sum(), 8U);
  EXPECT_EQ(statistics.work_error_ns.max(), 7);
  EXPECT_EQ(statistics.fifo_wait_ns.sum(), 15U);
}

// Spinning workers whose calibration is wrong are done too early.
TEST(ServerStatistics, KnowWorkThatWasTooShort) {
  ServerStatistics statistics;
  statistics.count_answer(kWindow, completion(1500, 1700, 0, true), 1640);
  EXPECT_EQ(statistics.planned_work_ns, 200);
  EXPECT_EQ(statistics.busy_slot_ns, 140);
  EXPECT_EQ(statistics.work_error_ns.sum(), 60U);
}

TEST(ServerStatistics, CountNothingOfAWindowThatIsNotSet) {
  ServerStatistics statistics;
  statistics.count_arrival({}, Packet{}, 0, 0, false);
  statistics.count_answer({}, completion(10, 20, 0, true), 20);
  EXPECT_EQ(statistics.received, 0);
  EXPECT_EQ(statistics.answered, 0);
  EXPECT_EQ(statistics.busy_slot_ns, 0);
  EXPECT_EQ(statistics.answered_total, 1);
}

}  // namespace
}  // namespace turntable::netclone
