#include "load/capacity.h"

#include <gtest/gtest.h>

#include "common/clock.h"

namespace turntable::load {
namespace {

constexpr std::int64_t kUs = 1000;

// A server of 5,000 operations/s (200 us each) with a clock set by hand.
class Server {
 public:
  explicit Server(double capacity = 5000) : capacity_(capacity) {}

  // Takes up at `now` what arrived at `arrival`; answers its finish.
  std::int64_t serve(std::int64_t arrival, std::int64_t now, std::int64_t blocked = 0) {
    capacity_.begin(arrival, now);
    return capacity_.end(blocked).finish_ns;
  }
  std::int64_t lost() const { return capacity_.lost_ns(); }

 private:
  FifoCapacity capacity_;
};

TEST(FifoCapacityTest, QueuedOperationsFinishOneServiceTimeApart) {
  Server server;
  EXPECT_EQ(server.serve(1 * kSecondNs, 1 * kSecondNs), kSecondNs + 200 * kUs);
  // Arrived 10 us and 20 us later, taken up when the one before has finished.
  EXPECT_EQ(server.serve(kSecondNs + 10 * kUs, kSecondNs + 200 * kUs), kSecondNs + 400 * kUs);
  EXPECT_EQ(server.serve(kSecondNs + 20 * kUs, kSecondNs + 400 * kUs), kSecondNs + 600 * kUs);
  EXPECT_EQ(server.lost(), 0);
}

TEST(FifoCapacityTest, AnIdleServerAccruesNothing) {
  Server server;
  server.serve(1 * kSecondNs, 1 * kSecondNs);
  // Ten seconds idle, then two at once: each still takes its own 200 us.
  EXPECT_EQ(server.serve(11 * kSecondNs, 11 * kSecondNs), 11 * kSecondNs + 200 * kUs);
  EXPECT_EQ(server.serve(11 * kSecondNs, 11 * kSecondNs + 200 * kUs), 11 * kSecondNs + 400 * kUs);
  EXPECT_EQ(server.lost(), 0);
}

TEST(FifoCapacityTest, SchedulingDelayUpToFiveMillisecondsCostsNothing) {
  Server server;
  // Three operations wait in the socket; the worker wakes up 4 ms late.
  const std::int64_t now = kSecondNs + 4 * kMillisecondNs;
  EXPECT_EQ(server.serve(kSecondNs, now), kSecondNs + 200 * kUs);
  EXPECT_EQ(server.serve(kSecondNs, now), kSecondNs + 400 * kUs);
  EXPECT_EQ(server.serve(kSecondNs + 3 * kMillisecondNs, now),
            kSecondNs + 3 * kMillisecondNs + 200 * kUs);
  EXPECT_EQ(server.lost(), 0);
}

TEST(FifoCapacityTest, DelayBeyondFiveMillisecondsIsLostAndCounted) {
  Server server;
  // 12 ms late: the virtual clock moves to 5 ms before now, 7 ms are lost.
  const std::int64_t now = kSecondNs + 12 * kMillisecondNs;
  EXPECT_EQ(server.serve(kSecondNs, now), kSecondNs + 7 * kMillisecondNs + 200 * kUs);
  EXPECT_EQ(server.lost(), 7 * kMillisecondNs);
  EXPECT_EQ(server.serve(kSecondNs, now), kSecondNs + 7 * kMillisecondNs + 400 * kUs);
  EXPECT_EQ(server.lost(), 7 * kMillisecondNs);
}

TEST(FifoCapacityTest, BlockedTimeIsBusyTimeAndIsNotCaughtUp) {
  Server server;
  // The store stalls for 3 ms, then the queue goes on at one per 200 us.
  EXPECT_EQ(server.serve(kSecondNs, kSecondNs, 3 * kMillisecondNs), kSecondNs + 3 * kMillisecondNs);
  EXPECT_EQ(server.serve(kSecondNs, kSecondNs + 3 * kMillisecondNs),
            kSecondNs + 3 * kMillisecondNs + 200 * kUs);
  EXPECT_EQ(server.lost(), 0);
}

TEST(FifoCapacityTest, ShortBlockedTimeIsHiddenInTheServiceTime) {
  Server server;
  EXPECT_EQ(server.serve(kSecondNs, kSecondNs, 150 * kUs), kSecondNs + 200 * kUs);
}

TEST(FifoCapacityTest, AnArrivalInTheFutureCountsAsNow) {
  // Receive time stamps come from another clock than `now` and may be ahead by its error.
  Server server;
  EXPECT_EQ(server.serve(kSecondNs + 50 * kUs, kSecondNs), kSecondNs + 200 * kUs);
}

TEST(FifoCapacityTest, ASaturatedSecondHoldsExactlyCapacityOperations) {
  Server server;
  // Always late by 0 to 4.9 ms, always something queued: 5,000 operations take exactly 1 s.
  std::int64_t now = kSecondNs, finish = 0;
  for (int i = 0; i < 5000; ++i) {
    finish = server.serve(kSecondNs, now);
    if (finish > now) now = finish + (i * 7919 % 4900) * kUs;
  }
  EXPECT_EQ(finish, 2 * kSecondNs);
  EXPECT_EQ(server.lost(), 0);
}

TEST(FifoCapacityTest, ZeroMeansNoLimit) {
  Server server(0);
  EXPECT_EQ(server.serve(kSecondNs, kSecondNs + 9 * kMillisecondNs, 30 * kUs),
            kSecondNs + 9 * kMillisecondNs + 30 * kUs);
  EXPECT_EQ(server.lost(), 0);
}

}  // namespace
}  // namespace turntable::load
