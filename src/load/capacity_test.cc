#include "load/capacity.h"

#include <gtest/gtest.h>

#include "common/clock.h"

namespace turntable::load {
namespace {

constexpr std::int64_t kUs = 1000;
constexpr std::int64_t kSecond = 1'000'000'000;

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
  EXPECT_EQ(server.serve(1 * kSecond, 1 * kSecond), kSecond + 200 * kUs);
  // Arrived 10 us and 20 us later, taken up when the one before has finished.
  EXPECT_EQ(server.serve(kSecond + 10 * kUs, kSecond + 200 * kUs), kSecond + 400 * kUs);
  EXPECT_EQ(server.serve(kSecond + 20 * kUs, kSecond + 400 * kUs), kSecond + 600 * kUs);
  EXPECT_EQ(server.lost(), 0);
}

TEST(FifoCapacityTest, AnIdleServerAccruesNothing) {
  Server server;
  server.serve(1 * kSecond, 1 * kSecond);
  // Ten seconds idle, then two at once: each still takes its own 200 us.
  EXPECT_EQ(server.serve(11 * kSecond, 11 * kSecond), 11 * kSecond + 200 * kUs);
  EXPECT_EQ(server.serve(11 * kSecond, 11 * kSecond + 200 * kUs), 11 * kSecond + 400 * kUs);
  EXPECT_EQ(server.lost(), 0);
}

TEST(FifoCapacityTest, SchedulingDelayUpToFiveMillisecondsCostsNothing) {
  Server server;
  // Three operations wait in the socket; the worker wakes up 4 ms late.
  const std::int64_t now = kSecond + 4 * kMillisecondNs;
  EXPECT_EQ(server.serve(kSecond, now), kSecond + 200 * kUs);
  EXPECT_EQ(server.serve(kSecond, now), kSecond + 400 * kUs);
  EXPECT_EQ(server.serve(kSecond + 3 * kMillisecondNs, now),
            kSecond + 3 * kMillisecondNs + 200 * kUs);
  EXPECT_EQ(server.lost(), 0);
}

TEST(FifoCapacityTest, DelayBeyondFiveMillisecondsIsLostAndCounted) {
  Server server;
  // 12 ms late: the virtual clock moves to 5 ms before now, 7 ms are lost.
  const std::int64_t now = kSecond + 12 * kMillisecondNs;
  EXPECT_EQ(server.serve(kSecond, now), kSecond + 7 * kMillisecondNs + 200 * kUs);
  EXPECT_EQ(server.lost(), 7 * kMillisecondNs);
  EXPECT_EQ(server.serve(kSecond, now), kSecond + 7 * kMillisecondNs + 400 * kUs);
  EXPECT_EQ(server.lost(), 7 * kMillisecondNs);
}

TEST(FifoCapacityTest, BlockedTimeIsBusyTimeAndIsNotCaughtUp) {
  Server server;
  // The store stalls for 3 ms, then the queue goes on at one per 200 us.
  EXPECT_EQ(server.serve(kSecond, kSecond, 3 * kMillisecondNs), kSecond + 3 * kMillisecondNs);
  EXPECT_EQ(server.serve(kSecond, kSecond + 3 * kMillisecondNs),
            kSecond + 3 * kMillisecondNs + 200 * kUs);
  EXPECT_EQ(server.lost(), 0);
}

TEST(FifoCapacityTest, ShortBlockedTimeIsHiddenInTheServiceTime) {
  Server server;
  EXPECT_EQ(server.serve(kSecond, kSecond, 150 * kUs), kSecond + 200 * kUs);
}

TEST(FifoCapacityTest, AnArrivalInTheFutureCountsAsNow) {
  // Receive time stamps come from another clock than `now` and may be ahead by its error.
  Server server;
  EXPECT_EQ(server.serve(kSecond + 50 * kUs, kSecond), kSecond + 200 * kUs);
}

TEST(FifoCapacityTest, ASaturatedSecondHoldsExactlyCapacityOperations) {
  Server server;
  // Always late by 0 to 4.9 ms, always something queued: 5,000 operations take exactly 1 s.
  std::int64_t now = kSecond, finish = 0;
  for (int i = 0; i < 5000; ++i) {
    finish = server.serve(kSecond, now);
    if (finish > now) now = finish + (i * 7919 % 4900) * kUs;
  }
  EXPECT_EQ(finish, 2 * kSecond);
  EXPECT_EQ(server.lost(), 0);
}

TEST(FifoCapacityTest, ZeroMeansNoLimit) {
  Server server(0);
  EXPECT_EQ(server.serve(kSecond, kSecond + 9 * kMillisecondNs, 30 * kUs),
            kSecond + 9 * kMillisecondNs + 30 * kUs);
  EXPECT_EQ(server.lost(), 0);
}

}  // namespace
}  // namespace turntable::load
