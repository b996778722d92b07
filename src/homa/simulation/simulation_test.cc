#include "homa/simulation/simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "common/command_error.h"
#include "homa/priority_allocation.h"

namespace turntable::homa::simulation {
namespace {

MessageSizes w3() {
  return MessageSizes::read(TURNTABLE_SIZES "/W3.txt");
}

// W3 at the paper's 80 %, 8 + 8 hosts, 20 ms: 43,000 calls.
Settings paper(std::uint32_t levels) {
  Settings settings;
  const PaperSettings w3_settings = paper_settings("W3", levels);
  settings.transport.levels = levels;
  settings.transport.unscheduled_levels = w3_settings.priorities.unscheduled_levels;
  settings.transport.cutoffs = w3_settings.priorities.cutoffs;
  settings.transport.degree = w3_settings.degree;
  settings.host_delay_us = 1.9;
  settings.frame_overhead_bytes = 42;
  settings.payload_bits_per_s = 7.6e9;
  settings.warmup_s = 0.01;
  settings.measure_s = 0.02;
  return settings;
}

double p99_of_smaller_half(const Result& result) {
  Percentile half;
  for (std::size_t i = 0; i < 50; ++i)
    half.slowdown_1000.merge(result.percentiles[i].slowdown_1000);
  return static_cast<double>(half.slowdown_1000.value_at_percentile(99)) / 1000;
}

// 100 bytes in ALL_DATA are 20 + 100 + 42 on the wire: 129.6 ns at 10 Gb/s, twice each way, beside
// 250 ns of the switch and 1.9 us of the host.
TEST(HomaSimulation, idle_round_trip_by_arithmetic) {
  EXPECT_NEAR(idle_rtt_ns(paper(8), 100, false), 2 * (2 * 129.6 + 250 + 1900), .1);
  // Frames have 84 bytes at least: 67.2 ns.
  EXPECT_NEAR(idle_rtt_ns(paper(8), 3, false), 2 * (2 * 67.2 + 250 + 1900), .1);
  // Seven packets of 1,542 bytes, 1,233.6 ns each, one behind the other: the last one's store and
  // forward is added once.
  EXPECT_NEAR(idle_rtt_ns(paper(8), 10290, false), 2 * (8 * 1233.6 + 250 + 1900), .1);
}

// Minima of the measured system on an idle network, which the host's delay was fitted to.
TEST(HomaSimulation, idle_round_trips_are_near_the_published) {
  const std::pair<std::uint32_t, double> published_us[] = {
      {3, 4.3},       {1150, 9.1},          {26'000, 52},
      {149'000, 261}, {10'000'000, 17'100}, {29'400'000, 50'300}};
  for (const auto& [bytes, us] : published_us)
    EXPECT_NEAR(idle_rtt_ns(paper(8), bytes, false) / 1000, us, .105 * us) << bytes;
}

// 100 bytes there, 20 + 100 + 66 on the wire; 1,470 back: the link is full of what comes back.
TEST(HomaSimulation, load_is_that_of_the_busier_direction) {
  Settings settings;
  settings.response_bytes = 1470;
  EXPECT_NEAR(payload_at_load(settings, MessageSizes::fixed(100), .8), .8 * 10e9 * 100 / 1566, 1);
  settings.response_bytes = 10;
  EXPECT_NEAR(payload_at_load(settings, MessageSizes::fixed(100), .8), .8 * 10e9 * 100 / 186, 1);
}

// Four calls at the same instant, for the four servers; 400 of them at 4,000 calls/s take 0.1 s.
TEST(HomaTraffic, calls_of_a_fan_arrive_together) {
  const MessageSizes sizes = MessageSizes::fixed(100);
  Traffic traffic(sizes, Process::kExponential, 4000, 4, 7, 0, 4);
  Arrival last{};
  for (int fan = 0; fan < 100; ++fan) {
    std::array<bool, 4> asked{};
    const Arrival first = traffic.next();
    EXPECT_GT(first.at_ps, last.at_ps);
    asked.at(first.server) = true;
    for (int call = 1; call < 4; ++call) {
      last = traffic.next();
      EXPECT_EQ(last.at_ps, first.at_ps);
      asked.at(last.server) = true;
    }
    EXPECT_EQ(asked, (std::array{true, true, true, true}));
  }
  EXPECT_NEAR(static_cast<double>(last.at_ps), 0.1e12, 0.03e12);
}

// 1,470 bytes are 30 + 1,470 + 66 on the wire. 14 packets have seven grants of 23 + 66 bytes.
TEST(HomaSimulation, load_counts_headers_and_grants) {
  Settings settings;
  EXPECT_NEAR(payload_at_load(settings, MessageSizes::fixed(1470), .8), .8 * 10e9 * 1470 / 1566, 1);
  EXPECT_NEAR(payload_at_load(settings, MessageSizes::fixed(14 * 1470), .8),
              .8 * 10e9 * 14 * 1470 / (14 * 1566 + 7 * 89), 1);
  // A byte is a frame of 84.
  settings.frame_overhead_bytes = 42;
  EXPECT_NEAR(payload_at_load(settings, MessageSizes::fixed(1), .5), .5 * 10e9 / 84, 1);
}

TEST(HomaSimulation, transports_are_offered_the_same) {
  Settings basic = paper(1);
  basic.transport.independent_grants = true;
  const Result a = simulate(paper(8), w3());
  const Result b = simulate(basic, w3());
  const Result again = simulate(paper(8), w3());
  EXPECT_EQ(a.offered, b.offered);
  EXPECT_EQ(a.offered_bits_per_s, b.offered_bits_per_s);
  EXPECT_EQ(a.answered, a.offered);
  EXPECT_EQ(b.answered, b.offered);
  EXPECT_EQ(a.aborted + b.aborted, 0U);
  EXPECT_EQ(a.frames, again.frames);
  EXPECT_EQ(p99_of_smaller_half(a), p99_of_smaller_half(again));
  // A client's 7.6 Gb/s of messages of 2,927 bytes, 8 clients, 20 ms: 51,900 calls, give or take
  // four times the root.
  EXPECT_NEAR(static_cast<double>(a.offered), 7.6e9 / 8 / 2927.35 * 8 * .02, 4 * 228);
}

// The paper's figure for the smaller half of W3: 52 / 16 / 4.7 / 3.6 / 3.4 at most.
TEST(HomaSimulation, what_priorities_are_for) {
  const double p8 = p99_of_smaller_half(simulate(paper(8), w3()));
  const double p2 = p99_of_smaller_half(simulate(paper(2), w3()));
  const double p1 = p99_of_smaller_half(simulate(paper(1), w3()));
  Settings basic = paper(1);
  basic.transport.independent_grants = true;
  EXPECT_LT(p8, 4);
  EXPECT_LT(p2, 2.5 * p8);
  EXPECT_GT(p1, 2 * p2);
  EXPECT_GT(p99_of_smaller_half(simulate(basic, w3())), 8 * p8);
}

TEST(HomaSimulation, every_packet_that_hosts_send_is_written) {
  Settings settings = paper(8);
  std::ostringstream packets;
  settings.packets = &packets;
  settings.warmup_s = 0;
  settings.measure_s = 0.001;
  const Result result = simulate(settings, MessageSizes::fixed(20'000));
  const std::string text = packets.str();
  EXPECT_GT(result.frames, 1000U);
  EXPECT_EQ(std::ranges::count(text, '\n'), result.frames);
}

TEST(HomaSimulation, more_than_the_links_carry) {
  Settings settings = paper(8);
  settings.payload_bits_per_s = 12e9;
  settings.drain_s = 0;
  const Result result = simulate(settings, w3());
  EXPECT_LT(result.delivered_bits_per_s, 10e9);
  EXPECT_GT(result.unanswered_share, .1);
}

TEST(HomaSimulation, refusals) {
  Settings settings = paper(8);
  settings.payload_bits_per_s = 0;
  EXPECT_THROW(simulate(settings, w3()), CommandError);
  settings = paper(8);
  settings.fabric.hosts = 5;
  EXPECT_THROW(simulate(settings, w3()), CommandError);
}

}  // namespace
}  // namespace turntable::homa::simulation
