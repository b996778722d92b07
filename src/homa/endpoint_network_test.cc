// Whole nodes on networks of every kind: what is promised holds, and the rules are kept after every
// packet.
#include <gtest/gtest.h>

#include <cstdlib>

#include "homa/testing_network.h"

namespace turntable::homa {
namespace {

// Small packets, so that there are many of them. Messages of 1 to 150 packets.
NetworkSettings network() {
  NetworkSettings settings;
  settings.transport.payload_bytes = 100;
  settings.transport.rtt_bytes = 700;
  settings.transport.unscheduled_levels = 3;
  settings.transport.cutoffs = {60, 400};
  settings.transport.degree = 2;
  settings.transport.direct_below_bytes = 30;
  settings.sizes = {4, 20, 50, 99, 100, 101, 350, 700, 701, 1500, 3333, 15000};
  settings.max_delay = 20;
  settings.min_delay = 20;
  settings.outstanding = 6;
  settings.nodes = 5;
  settings.calls = 3000;
  return settings;
}

void expect_kept(const NetworkSettings& settings, const NetworkResult& result) {
  EXPECT_EQ(result.broken_rules, 0U) << result.first_broken_rule;
  EXPECT_EQ(result.unanswered, 0U);
  EXPECT_EQ(result.wrong_bytes, 0U);
  EXPECT_EQ(result.answered_twice, 0U);
  EXPECT_EQ(result.responses + result.aborted, settings.calls);
  EXPECT_EQ(result.transport.malformed, 0U);
  EXPECT_EQ(result.transport.strangers, 0U);
  if (settings.transport.at_most_once) {
    EXPECT_EQ(result.executed_again, 0U);
  }
}

TEST(EndpointNetwork, without_faults_nothing_is_asked_for_or_sent_twice) {
  for (const bool at_once : {false, true}) {
    NetworkSettings settings = network();
    settings.at_once = at_once;
    settings.tick_every = 100000;
    const NetworkResult result = run_network(settings);
    expect_kept(settings, result);
    EXPECT_EQ(result.executed, settings.calls);
    EXPECT_EQ(result.transport.resends_asked, 0U);
    EXPECT_EQ(result.transport.packets_sent_again, 0U);
  }
}

// Every kind of transport, on every kind of network.
NetworkSettings unreliable_network(std::uint64_t seed) {
  NetworkSettings settings = network();
  settings.seed = seed;
  settings.loss = 0.01;
  settings.doubled = 0.01;
  settings.min_delay = 1;
  settings.max_delay = 40;
  settings.at_once = seed % 2 == 0;
  settings.transport.at_most_once = seed % 4 >= 2;
  settings.transport.independent_grants = seed % 3 == 0;
  return settings;
}

TEST(EndpointNetwork, loss_doubles_and_reordering) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const NetworkSettings settings = unreliable_network(seed);
    const NetworkResult result = run_network(settings);
    expect_kept(settings, result);
    EXPECT_GT(result.lost, 0U);
    EXPECT_EQ(result.aborted, 0U);
  }
}

// Much is lost, and the timer ticks as fast as a round trip: packets are asked for that are only
// late, requests are executed again, calls are aborted. Each still ends once.
TEST(EndpointNetwork, heavy_loss_and_a_hasty_timer) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    NetworkSettings settings = unreliable_network(seed);
    settings.calls = 1000;
    settings.loss = 0.2;
    settings.doubled = 0.2;
    settings.tick_every = 60;
    expect_kept(settings, run_network(settings));
  }
}

// For long campaigns: CALLS=1000000 SEED=7 homa_network_test --gtest_also_run_disabled_tests ...
TEST(EndpointNetwork, DISABLED_campaign) {
  const auto number = [](const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
  };
  NetworkSettings settings = unreliable_network(number("SEED", 1));
  settings.calls = number("CALLS", 1000000);
  const NetworkResult result = run_network(settings);
  expect_kept(settings, result);
  EXPECT_EQ(result.aborted, 0U);
}

}  // namespace
}  // namespace turntable::homa
