// Queues, shaping and limits with a clock of the test's own. Expected times are worked out by hand.
#include "softswitch/traffic_manager.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "softswitch/testing.h"
#include "softswitch/traffic_control.h"

namespace turntable::softswitch {
namespace {

using Json = nlohmann::json;
using testing::FakePort;

constexpr std::uint64_t kStart = 1'000'000'000;

class TrafficManagerTest : public ::testing::Test {
 protected:
  TrafficManagerTest() : pool_(256), manager_(pool_, ports_) {
    for (const std::uint16_t number : std::initializer_list<std::uint16_t>{1, 2})
      ports_.add(std::make_unique<FakePort>(number));
  }

  // A frame of `bytes` bytes, of which the first is `mark`, for port 1.
  void enqueue(std::uint8_t qid, std::uint32_t bytes, char mark = '?', std::uint64_t at = kStart) {
    Frame* frame = pool_.acquire();
    frame->reset(bytes);
    frame->packet.data[0] = static_cast<std::uint8_t>(mark);
    manager_.enqueue(frame, {1, 0, qid, false}, *ports_.find(2), at);
  }
  // The marks of all that port 1 may send at a time.
  std::string send(std::uint64_t at) {
    std::string marks;
    manager_.serve_due(at, [&](Port& port) {
      while (Frame* frame = manager_.dequeue(port, at)) {
        marks += static_cast<char>(frame->packet.data[0]);
        last_ = frame->packet;
        left_at_ns_ = frame->left_at_ns;
        pool_.release(frame);
      }
    });
    return marks;
  }
  // The times after `from` at which single frames leave, until none is queued.
  std::vector<std::uint64_t> departures() {
    std::vector<std::uint64_t> times;
    for (std::uint64_t at = manager_.next_due_ns(); at != kNever; at = manager_.next_due_ns()) {
      const std::uint64_t when = std::max(at, kStart);
      if (!send(when).empty()) times.push_back(when - kStart);
    }
    return times;
  }
  void configure(const Json& update) {
    write_traffic_manager(manager_, ports_, {{"updates", {update}}}, kStart);
  }
  std::string error_of(const Json& update) {
    try {
      configure(update);
      return "none";
    } catch (const CommandError& error) {
      return error.what();
    }
  }

  PortTable ports_;
  FramePool pool_;
  TrafficManager manager_;
  dataplane::Packet last_;
  std::uint64_t left_at_ns_ = 0;
};

TEST_F(TrafficManagerTest, QueueSevenIsFirstAndEachIsInOrder) {
  for (const char mark : std::string("0361742"))
    enqueue(static_cast<std::uint8_t>(mark - '0'), 60, mark);
  enqueue(7, 60, '8');
  enqueue(15, 60, '9');  // the lower three bits count
  EXPECT_EQ(send(kStart), "789643210");
  EXPECT_EQ(manager_.next_due_ns(), kNever);
}

TEST_F(TrafficManagerTest, DepthsAreCellsOfTheQueueAndTimesAreNanoseconds) {
  enqueue(3, 81);   // two cells
  enqueue(3, 160);  // two
  enqueue(2, 60);   // another queue
  enqueue(3, 60, 'x', kStart + 5);
  manager_.serve_due(kStart + 100, [&](Port& port) {
    for (int i = 0; i < 3; ++i) {
      Frame* frame = manager_.dequeue(port, kStart + 100);
      last_ = frame->packet;
      pool_.release(frame);
    }
  });
  EXPECT_EQ(last_.data[0], 'x');
  EXPECT_EQ(last_.enq_qdepth, 4);
  EXPECT_EQ(last_.deq_qdepth, 0);
  EXPECT_EQ(last_.deq_timedelta_ns, 95);
  send(kStart + 100);
}

// 9 and 31 have queue 1 and 7 in their lower three bits; 8 has queue 0.
TEST_F(TrafficManagerTest, QidsBeyondTheEightQueuesWrapAround) {
  enqueue(8, 60, 'a');
  enqueue(9, 60, 'b');
  enqueue(31, 60, 'c');
  EXPECT_EQ(send(kStart), "cba");
  EXPECT_EQ(last_.qid, 0);
}

// 125 bytes at 1 Mbit/s are 1 ms. With a burst of 250 bytes two more may leave at once.
TEST_F(TrafficManagerTest, PortRateSpacesFrames) {
  configure({{"port", 1}, {"max_rate_bps", 1'000'000}, {"max_burst_bytes", 0}});
  for (int i = 0; i < 4; ++i) enqueue(0, 125);
  EXPECT_EQ(departures(), (std::vector<std::uint64_t>{0, 1'000'000, 2'000'000, 3'000'000}));
}

TEST_F(TrafficManagerTest, BurstLeavesAtOnce) {
  configure({{"port", 1}, {"max_rate_bps", 1'000'000}, {"max_burst_bytes", 250}});
  for (int i = 0; i < 5; ++i) enqueue(0, 125, static_cast<char>('a' + i));
  EXPECT_EQ(send(kStart), "abc");
  EXPECT_EQ(manager_.next_due_ns(), kStart + 1'000'000);
  EXPECT_EQ(send(kStart + 999'999), "");
  EXPECT_EQ(send(kStart + 1'000'000), "d");
  EXPECT_EQ(departures(), std::vector<std::uint64_t>{2'000'000});
}

// 480 bits at 7 bits/s are 68,571,428,571.4 ns: rounded up, and the rest is not lost.
TEST_F(TrafficManagerTest, RateIsExactOverLongTimes) {
  configure({{"port", 1}, {"max_rate_bps", 7}, {"max_burst_bytes", 0}});
  for (int i = 0; i < 3; ++i) enqueue(0, 60);
  EXPECT_EQ(departures(), (std::vector<std::uint64_t>{0, 68'571'428'572, 137'142'857'143}));
}

// A late wake-up costs nothing while the burst covers it: 1 Gbit/s has 125,000 bytes by default.
TEST_F(TrafficManagerTest, DefaultBurstIsOneMillisecond) {
  configure({{"port", 1}, {"max_rate_bps", 1'000'000'000}});
  EXPECT_EQ(manager_.port_rate(1).burst_bytes, 125'000);
}

TEST_F(TrafficManagerTest, ShapedQueueLetsLowerOnesPass) {
  configure({{"port", 1}, {"queue", 7}, {"max_rate_bps", 8'000'000}, {"max_burst_bytes", 0}});
  enqueue(7, 100, 'A');
  enqueue(7, 100, 'B');
  enqueue(0, 100, 'c');
  EXPECT_EQ(send(kStart), "Ac");
  EXPECT_EQ(manager_.next_due_ns(), kStart + 100'000);  // 800 bits at 8 Mbit/s
  enqueue(1, 100, 'd', kStart + 10);
  EXPECT_EQ(manager_.next_due_ns(), 0) << "another queue need not wait";
  EXPECT_EQ(send(kStart + 10), "d");
  EXPECT_EQ(send(kStart + 100'000), "B");
}

TEST_F(TrafficManagerTest, PortRateHoldsForAllQueuesTogether) {
  configure({{"port", 1}, {"max_rate_bps", 8'000'000}, {"max_burst_bytes", 0}});
  configure({{"port", 1}, {"queue", 0}, {"max_rate_bps", 4'000'000}, {"max_burst_bytes", 0}});
  enqueue(0, 100, 'a');
  enqueue(0, 100, 'b');
  enqueue(5, 100, 'X');
  // X: 0; a: 100 us (the port); b: 200 us after a (its queue).
  EXPECT_EQ(departures(), (std::vector<std::uint64_t>{0, 100'000, 300'000}));
}

TEST_F(TrafficManagerTest, RateThatIsTakenAwayFreesWhatWaits) {
  configure({{"port", 1}, {"max_rate_bps", 1}, {"max_burst_bytes", 0}});
  enqueue(0, 60, 'a');
  enqueue(0, 60, 'b');
  EXPECT_EQ(send(kStart), "a");
  EXPECT_EQ(manager_.next_due_ns(), kStart + 480'000'000'000);
  configure({{"port", 1}, {"max_rate_bps", nullptr}});
  EXPECT_EQ(send(kStart + 1), "b");
}

TEST_F(TrafficManagerTest, LimitOfAQueueDropsAndCounts) {
  configure({{"port", 1}, {"queue", 2}, {"buffer_bytes", 250}});
  for (const char mark : std::string("abc")) enqueue(2, 100, mark);
  enqueue(3, 100, 'd');
  EXPECT_EQ(ports_.find(1)->counters().dropped(DropReason::kQueueLimit), 1);
  const Json queue = read_traffic_manager(manager_, ports_, {{"port", 1}})["ports"][0]["queues"][2];
  EXPECT_EQ(queue["usage_frames"], 2);
  EXPECT_EQ(queue["usage_bytes"], 200);
  EXPECT_EQ(queue["usage_cells"], 4);
  EXPECT_EQ(queue["drop_count_packets"], 1);
  EXPECT_EQ(queue["drop_count_bytes"], 100);
  EXPECT_EQ(send(kStart), "dab");
  manager_.clear_counters();
  enqueue(2, 50);
  EXPECT_EQ(manager_.counters(1, 2).dropped_frames, 0);
  EXPECT_EQ(manager_.counters(1, 2).watermark_bytes, 50);
  send(kStart);
}

TEST_F(TrafficManagerTest, SharedLimitCountsAllQueues) {
  configure({{"shared_buffer_bytes", 150}});
  enqueue(0, 100, 'a');
  enqueue(1, 100, 'b');
  enqueue(2, 50, 'c');
  EXPECT_EQ(send(kStart), "ca");
  EXPECT_EQ(read_traffic_manager(manager_, ports_, Json::object())["shared"]["watermark_bytes"],
            150);
}

// What waits for a rate leaves some of the 256 frames to those that pass.
TEST_F(TrafficManagerTest, WaitingFramesLeaveSomeToOthers) {
  configure({{"port", 1}, {"max_rate_bps", 1}, {"max_burst_bytes", 0}});
  for (int i = 0; i < 256; ++i) enqueue(0, 60);
  const std::uint32_t queued = manager_.queued_frames(*ports_.find(1));
  EXPECT_GT(queued, 128);
  EXPECT_LT(queued, 256);
  EXPECT_EQ(pool_.available() + queued, 256);
  EXPECT_EQ(ports_.find(1)->counters().dropped(DropReason::kQueueLimit), 256 - queued);
}

TEST_F(TrafficManagerTest, WrongUpdatesAreRefusedWhole) {
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(error_of({{"port", 9}, {"delay_ns", 1}}), "no port 9"));
  EXPECT_TRUE(has(error_of({{"port", 1}, {"queue", 8}}), "0 to 7"));
  EXPECT_TRUE(has(error_of({{"port", 1}, {"rate", 8}}), "there are port, queue, max_rate_bps"));
  EXPECT_TRUE(has(error_of({{"port", 1}, {"queue", 1}, {"delay_ns", 8}}), "no \"delay_ns\""));
  EXPECT_TRUE(has(error_of({{"port", 1}, {"max_rate_bps", 0}}), "from 1 to"));
  EXPECT_TRUE(has(error_of({{"port", 1}, {"max_burst_bytes", 9}}), "needs a \"max_rate_bps\""));
  EXPECT_TRUE(has(error_of({{"delay_ns", 9}}), "no \"delay_ns\""));
  const Json updates = {{{"port", 1}, {"delay_ns", 5}}, {{"port", 9}, {"delay_ns", 5}}};
  EXPECT_THROW(write_traffic_manager(manager_, ports_, {{"updates", updates}}, kStart),
               CommandError);
  EXPECT_EQ(manager_.delay_ns(1), 0);
}

// --- Links. 8 Mb/s are a byte in a microsecond; 76 bytes and 24 of framing take 100 us.

TEST_F(TrafficManagerTest, AFrameLeavesALinkWithItsLastBit) {
  configure({{"port", 1}, {"link_bps", 8'000'000}});
  enqueue(0, 76, 'a');
  enqueue(0, 176, 'b');
  EXPECT_EQ(departures(), (std::vector<std::uint64_t>{100'000, 300'000}));
}

TEST_F(TrafficManagerTest, ALinkThatWasIdleHasEarnedNothing) {
  configure({{"port", 1}, {"link_bps", 8'000'000}});
  const std::uint64_t later = kStart + 1'000'000'000;
  enqueue(0, 76, 'a', later);
  enqueue(0, 76, 'b', later);
  EXPECT_EQ(departures(), (std::vector<std::uint64_t>{1'000'100'000, 1'000'200'000}));
}

// Nobody looks for 250 us: two frames have left by then, and the third leaves when it would have.
TEST_F(TrafficManagerTest, ALateLookCostsALinkNothing) {
  configure({{"port", 1}, {"link_bps", 8'000'000}});
  for (const char mark : {'a', 'b', 'c'}) enqueue(0, 76, mark);
  EXPECT_EQ(send(kStart + 250'000), "ab");
  EXPECT_EQ(left_at_ns_, kStart + 200'000);  // what a cable's delay is counted from
  EXPECT_EQ(send(kStart + 299'999), "");
  EXPECT_EQ(send(kStart + 300'000), "c");
  // Late by 150, 50 and 0 us: from 2^17 ns on, from 2^15 on, and not at all.
  LinkCounters expected{.frames = 3, .late_sum_ns = 200'000, .late_max_ns = 150'000};
  for (const std::size_t bucket : {18U, 16U, 0U}) expected.late_log2_ns[bucket] = 1;
  EXPECT_EQ(manager_.link_counters(1), expected);
}

// 'x' came 10 us after the link had chosen 'b', the only one at 100 us, so it is behind it, though
// all of that is looked at when both are there.
TEST_F(TrafficManagerTest, ALinkChoosesOfWhatHadComeByThen) {
  configure({{"port", 1}, {"link_bps", 8'000'000}});
  enqueue(0, 76, 'a');
  enqueue(0, 76, 'b');
  enqueue(0, 76, 'c');
  enqueue(7, 76, 'x', kStart + 110'000);
  EXPECT_EQ(send(kStart + 1'000'000), "abxc");
}

TEST_F(TrafficManagerTest, AFrameThatLeavesIsNotOvertaken) {
  configure({{"port", 1}, {"link_bps", 8'000'000}});
  enqueue(0, 76, 'a');
  EXPECT_EQ(send(kStart + 50'000), "");
  enqueue(7, 76, 'x', kStart + 50'000);
  EXPECT_EQ(send(kStart + 50'000), "");
  EXPECT_EQ(send(kStart + 100'000), "a");
  EXPECT_EQ(send(kStart + 199'999), "");
  EXPECT_EQ(send(kStart + 200'000), "x");
  EXPECT_EQ(manager_.next_due_ns(), kNever);
}

// 7,000 frames of 3 bytes and no overhead at 7 bits/s take 24/7 s each: nothing is rounded away.
TEST_F(TrafficManagerTest, ALinkKeepsWhatItRounds) {
  LinkClock clock;
  clock.configure({.bits_per_s = 7, .overhead_bytes = 0});
  std::uint64_t left = 0;
  for (int i = 0; i < 7'000; ++i) left = clock.send(0, 3);
  EXPECT_EQ(left, 24'000'000'000'000U);
}

TEST_F(TrafficManagerTest, WhatIsBeingSerializedIsNotInItsQueue) {
  configure({{"port", 1}, {"link_bps", 8'000'000}});
  configure({{"port", 1}, {"queue", 0}, {"buffer_bytes", 76}});
  enqueue(0, 76, 'a');
  EXPECT_EQ(send(kStart), "");  // begins
  enqueue(0, 76, 'b');
  enqueue(0, 76, 'c');  // refused
  EXPECT_EQ(manager_.queued_frames(*ports_.find(1)), 2U);
  EXPECT_EQ(send(kStart + 1'000'000), "ab");
  EXPECT_EQ(manager_.counters(1, 0).dropped_frames, 1U);
}

TEST_F(TrafficManagerTest, ALinkIsTakenAway) {
  configure({{"port", 1}, {"link_bps", 8'000'000}, {"link_overhead_bytes", 4}});
  enqueue(0, 96, 'a');
  enqueue(0, 96, 'b');
  EXPECT_EQ(send(kStart), "");
  configure({{"port", 1}, {"link_bps", nullptr}});
  EXPECT_EQ(send(kStart), "");  // the first one is under way
  EXPECT_EQ(send(kStart + 100'000), "ab");
}

TEST_F(TrafficManagerTest, LinksThatAreNone) {
  EXPECT_NE(error_of({{"port", 1}, {"link_bps", 0}}), "none");
  EXPECT_NE(error_of({{"port", 1}, {"link_overhead_bytes", 1001}}), "none");
  EXPECT_NE(error_of({{"port", 1}, {"queue", 0}, {"link_bps", 1000}}), "none");
}

}  // namespace
}  // namespace turntable::softswitch
