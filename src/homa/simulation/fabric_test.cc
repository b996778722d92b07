// Ports against arithmetic and against the closed form of queues with priorities.
#include "homa/simulation/fabric.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "common/command_error.h"
#include "homa/simulation/packet_trace.h"

namespace turntable::homa::simulation {
namespace {

Frame frame(std::uint32_t from, std::uint32_t to, std::uint32_t wire_bytes, std::uint8_t priority) {
  Frame result{.from = from, .to = to, .wire_bytes = wire_bytes};
  result.packet.priority = priority;
  return result;
}

struct Delivery {
  std::int64_t at_ps;
  Frame frame;
};

// Until nothing is under way.
std::vector<Delivery> run(Events& events, Fabric& fabric) {
  std::vector<Delivery> deliveries;
  while (!events.empty()) {
    const Event event = events.take();
    if (event.kind == EventKind::kAtSwitch) fabric.at_switch(event.frame, event.index);
    if (event.kind == EventKind::kPortFree) fabric.port_free(event.index);
    if (event.kind == EventKind::kAtHost)
      deliveries.push_back({event.at_ps, fabric.take(event.frame)});
  }
  return deliveries;
}

// 1,250 bytes at 10 Gb/s take 1 us, and at 40 Gb/s a quarter of it.
constexpr std::uint32_t kMicrosecond = 1250;

TEST(Fabric, one_switch_by_arithmetic) {
  Events events;
  Fabric fabric({.hosts = 4, .link_delay_us = 0.5, .switch_delay_us = 0.25}, events);
  fabric.inject(frame(0, 1, kMicrosecond, 0), 1'000'000);
  const auto deliveries = run(events, fabric);
  ASSERT_EQ(deliveries.size(), 1U);
  // It left at 1 us; link, switch, port, link.
  EXPECT_EQ(deliveries[0].at_ps, 1'000'000 + 500'000 + 250'000 + 1'000'000 + 500'000);
}

// Two leaves of two hosts: leaf, spine and leaf again, each with its delay; 40 Gb/s between them.
TEST(Fabric, leaf_and_spine_by_arithmetic) {
  Events events;
  Fabric fabric(
      {.hosts = 4, .hosts_per_leaf = 2, .spines = 2, .link_delay_us = 0.5, .switch_delay_us = 0.25},
      events);
  fabric.inject(frame(0, 3, kMicrosecond, 0), 0);
  fabric.inject(frame(2, 3, kMicrosecond, 0), 0);  // of its own leaf
  const auto deliveries = run(events, fabric);
  ASSERT_EQ(deliveries.size(), 2U);
  EXPECT_EQ(deliveries[0].frame.from, 2U);
  EXPECT_EQ(deliveries[0].at_ps, 500'000 + 250'000 + 1'000'000 + 500'000);
  EXPECT_EQ(deliveries[1].at_ps, 3 * (500'000 + 250'000) + 2 * 250'000 + 1'000'000 + 500'000);
}

// Four frames at once: the first goes, then priority decides, and the order of arrival.
TEST(Fabric, strict_priorities_without_preemption) {
  Events events;
  Fabric fabric({.hosts = 2, .switch_delay_us = 0}, events);
  fabric.inject_at_last_port(frame(0, 1, kMicrosecond, 0));
  fabric.inject_at_last_port(frame(0, 1, 2 * kMicrosecond, 3));
  fabric.inject_at_last_port(frame(0, 1, kMicrosecond, 7));
  fabric.inject_at_last_port(frame(0, 1, 3 * kMicrosecond, 3));
  const auto deliveries = run(events, fabric);
  ASSERT_EQ(deliveries.size(), 4U);
  const std::array<std::pair<std::int64_t, std::uint32_t>, 4> expected{
      {{1, 1}, {2, 1}, {4, 2}, {7, 3}}};  // at, of so many microseconds
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(deliveries[i].at_ps, expected[i].first * 1'000'000);
    EXPECT_EQ(deliveries[i].frame.wire_bytes, expected[i].second * kMicrosecond);
  }
  EXPECT_EQ(fabric.last_port(1).max_queued_bytes, 6 * kMicrosecond);
}

TEST(Fabric, what_has_no_room_is_dropped_and_counted) {
  Events events;
  Fabric fabric({.hosts = 2, .switch_delay_us = 0, .buffer_bytes = 2 * kMicrosecond}, events);
  for (int i = 0; i < 5; ++i) fabric.inject_at_last_port(frame(0, 1, kMicrosecond, 0));
  // One is being sent and two wait.
  EXPECT_EQ(run(events, fabric).size(), 3U);
  EXPECT_EQ(fabric.last_port(1).dropped, 2U);
}

TEST(Fabric, refusals) {
  Events events;
  EXPECT_THROW(Fabric({.hosts = 1}, events), CommandError);
  EXPECT_THROW(Fabric({.hosts = 10, .hosts_per_leaf = 4, .spines = 1}, events), CommandError);
  EXPECT_THROW(Fabric({.hosts = 8, .hosts_per_leaf = 4}, events), CommandError);
}

// M/G/1 with priorities and without preemption (Cobham): class k, 1 the most urgent, waits
//
//   W_k = R / ((1 - s_(k-1)) (1 - s_k)),  R = sum of l_i E[S_i^2] / 2,  s_k = sum of rho_1 .. rho_k
//
// Three classes of 1, 2 and 4 us at loads .2, .3 and .3 have R = .2*1/2 + .3*2/2 + .3*4/2 = 1 us,
// and wait 1/(1*.8) = 1.25, 1/(.8*.5) = 2.5 and 1/(.5*.2) = 10 us.
TEST(Fabric, waits_are_those_of_the_closed_form) {
  struct Class {
    std::uint8_t priority;
    double service_us, load, expected_us;
  };
  const std::array<Class, 3> classes{{{7, 1, .2, 1.25}, {4, 2, .3, 2.5}, {0, 4, .3, 10}}};
  Events events;
  Fabric fabric({.hosts = 2, .switch_delay_us = 0}, events);
  std::mt19937_64 random(7);
  std::exponential_distribution<> gap(1);
  std::array<double, 3> next_us{};
  std::array<double, 3> waited_us{};
  std::array<std::uint64_t, 3> count{};
  for (std::size_t k = 0; k < 3; ++k)
    next_us[k] = gap(random) * classes[k].service_us / classes[k].load;
  for (std::uint32_t k = 0; k < 3; ++k)
    events.at(std::llround(next_us[k] * 1e6), EventKind::kArrival, k);
  while (count[0] + count[1] + count[2] < 3'000'000) {
    const Event event = events.take();
    if (event.kind == EventKind::kPortFree) fabric.port_free(event.index);
    if (event.kind == EventKind::kAtHost) {
      const Frame arrived = fabric.take(event.frame);
      const std::size_t k = arrived.from;
      // It carries when it came, in ps.
      const auto came_ps = static_cast<std::int64_t>(arrived.packet.id.sequence);
      waited_us[k] += static_cast<double>(event.at_ps - came_ps) / 1e6 - classes[k].service_us;
      ++count[k];
    }
    if (event.kind == EventKind::kArrival) {
      const std::uint32_t k = event.index;
      Frame sent = frame(k, 1, static_cast<std::uint32_t>(classes[k].service_us * kMicrosecond),
                         classes[k].priority);
      sent.packet.id.sequence = static_cast<std::uint64_t>(event.at_ps);
      fabric.inject_at_last_port(sent);
      next_us[k] += gap(random) * classes[k].service_us / classes[k].load;
      events.at(std::llround(next_us[k] * 1e6), EventKind::kArrival, k);
    }
  }
  // Seeds 1 to 20 stay within 0.4, 0.4 and 1.3 %.
  EXPECT_NEAR(waited_us[0] / static_cast<double>(count[0]), 1.25, .02 * 1.25);
  EXPECT_NEAR(waited_us[1] / static_cast<double>(count[1]), 2.5, .02 * 2.5);
  EXPECT_NEAR(waited_us[2] / static_cast<double>(count[2]), 10, .05 * 10);
}

// 400 packets of 32 hosts to four of them, and the mean delay of each priority, 0 first, that
// ns-3.37 has for them (ns3-replay, which shares no code with the fabric).
TEST(Fabric, delays_are_those_of_ns3) {
  const std::array<double, kQueues> ns3_mean_ns{54566.216, 35341.522, 39888.373, 58199.877,
                                                30670.809, 30014.402, 9421.564,  1268.740};
  const auto packets = read_packet_trace(TURNTABLE_RECORDED "/packets.txt", 32);
  Events events;
  Fabric fabric({.hosts = 32, .link_delay_us = 0.25, .switch_delay_us = 0}, events);
  for (std::size_t i = 0; i < packets.size(); ++i) {
    Frame sent = frame(packets[i].from, packets[i].to, packets[i].wire_bytes,
                       static_cast<std::uint8_t>(packets[i].priority));
    sent.packet.id.sequence = i;
    fabric.inject(sent, packets[i].left_at_ps);
  }
  std::array<std::int64_t, kQueues> sum_ps{};
  std::array<std::int64_t, kQueues> count{};
  for (const Delivery& delivery : run(events, fabric)) {
    const TracedPacket& packet = packets[delivery.frame.packet.id.sequence];
    sum_ps[packet.priority] += delivery.at_ps - packet.left_at_ps;
    ++count[packet.priority];
  }
  for (std::size_t priority = 0; priority < kQueues; ++priority) {
    ASSERT_GT(count[priority], 0) << priority;
    EXPECT_NEAR(static_cast<double>(sum_ps[priority]) / static_cast<double>(count[priority]) / 1000,
                ns3_mean_ns[priority], 0.001)
        << priority;
  }
}

TEST(PacketTrace, refusals_name_the_line) {
  const auto file = std::filesystem::temp_directory_path() /
                    ("packet_trace_test." + std::to_string(std::random_device{}()));
  const auto refusal = [&](const std::string& text) -> std::string {
    std::ofstream(file) << text;
    try {
      read_packet_trace(file, 4);
    } catch (const CommandError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("1000 0 1 7 84\n"), "");
  EXPECT_NE(refusal("1000 0 1 7 84\n1000 0 4 7 84\n").find(":2: \"1000 0 4 7 84\""),
            std::string::npos);
  for (const char* wrong : {"1000 0 1 8 84\n", "1000 0 1 7 0\n", "1000 0 1\n", "no\n"})
    EXPECT_NE(refusal(wrong).find(":1: "), std::string::npos) << wrong;
  EXPECT_NE(refusal("").find("no packets"), std::string::npos);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace turntable::homa::simulation
