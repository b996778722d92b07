// The model against what can be calculated by hand (docs/kvcache.md §6).
#include "workload/write_through.h"

#include <gtest/gtest.h>

#include <random>

namespace turntable::workload {
namespace {

constexpr KeyId kHot = 7;
constexpr KeyId kCold = 8;

Operation put(KeyId key, unsigned slot = 0) {
  return {key, static_cast<std::uint16_t>(slot), OperationType::kPut};
}

Operation get(KeyId key, unsigned slot = 0) {
  return {key, static_cast<std::uint16_t>(slot), OperationType::kGet};
}

std::vector<PlacementRates> rotate(const WriteThroughModel& model, unsigned scale,
                                   unsigned bottleneck, double update_round_trip,
                                   const WriteThroughModel::Window& window) {
  return model.rotate(scale, bottleneck, std::vector{update_round_trip}, window).at(0);
}

PlacementRates alone(const std::vector<std::vector<Operation>>& traces, double update_round_trip,
                     WriteThroughModel::Window window = {.warmup = 100, .length = 10'000}) {
  WriteThroughModel model({kHot});
  for (unsigned client = 0; client < traces.size(); ++client) model.add(client, traces[client]);
  return rotate(model, 1, 0, update_round_trip, window).at(0);
}

TEST(WriteThrough, WritesOfOneKeyTakeTheirTurnsAndTheUpdate) {
  EXPECT_NEAR(alone({{put(kHot)}, {put(kHot)}}, 0.25).bottleneck_server, 1 / 1.25, 1e-3);
}

TEST(WriteThrough, AnotherKeyHidesTheUpdateOfTheFirst) {
  const std::vector<std::vector<Operation>> traces = {{put(kHot)}, {put(kCold)}};
  EXPECT_NEAR(alone(traces, 1).bottleneck_server, 1, 1e-3);
  // Two operations per round: the cold one's unit is part of the three that the update takes.
  EXPECT_NEAR(alone(traces, 3).bottleneck_server, 2.0 / 4, 1e-3);
}

TEST(WriteThrough, UncachedWritesDoNotBlock) {
  EXPECT_NEAR(alone({{put(kCold)}, {put(kCold)}}, 5).bottleneck_server, 1, 1e-3);
}

TEST(WriteThrough, ReadsHitUntilAWritePasses) {
  const PlacementRates reads = alone({{get(kHot)}}, 1);
  EXPECT_GT(reads.bottleneck_switch, 1);
  EXPECT_EQ(reads.bottleneck_server, 0);
  // The only client reads when its write has been served but not acknowledged: never a hit.
  EXPECT_EQ(alone({{put(kHot), get(kHot)}}, 0.5).bottleneck_switch, 0);
  // Without the update's time the read hits, and lasts less than a service.
  const PlacementRates valid = alone({{put(kHot), get(kHot)}}, 0);
  EXPECT_NEAR(valid.bottleneck_switch, valid.bottleneck_server, 1e-3);
}

TEST(WriteThrough, AKeyDrawnWithProbabilityPBlocksWithItsSquare) {
  // With u c <= 1 only a write right behind one of its key waits: 1 + u c p^2 per operation.
  constexpr double kShare = 0.42, kRoundTrip = 1;
  std::mt19937 random(1);
  // Several clients, so that the server always has another request.
  std::vector<std::vector<Operation>> traces(4, std::vector<Operation>(20'000));
  for (std::vector<Operation>& trace : traces) {
    for (Operation& operation : trace) {
      operation = put(std::bernoulli_distribution(kShare)(random) ? kHot : kCold);
    }
  }
  const PlacementRates rates = alone(traces, kRoundTrip, {.warmup = 100, .length = 50'000});
  EXPECT_NEAR(rates.bottleneck_server, 1 / (1 + kRoundTrip * kShare * kShare), 0.01);
}

TEST(WriteThrough, ClientsThatShareATraceAskForAllOfItAlike) {
  const WriteThroughModel::Window window{.warmup = 100, .length = 5000};
  // Each for its own: whose requests all hit asks more often.
  const PlacementRates own = alone({{get(kHot)}, {put(kCold)}}, 1, window);
  EXPECT_NEAR(own.bottleneck_switch / own.bottleneck_server, 4, 0.01);
  WriteThroughModel model({kHot}, /*sharing=*/2);
  model.add(0, {get(kHot), put(kCold)});
  const PlacementRates shared = rotate(model, 1, 0, 1, window).at(0);
  EXPECT_NEAR(shared.bottleneck_server, 1, 1e-3);
  EXPECT_NEAR(shared.bottleneck_switch, 1, 1e-3);
}

TEST(WriteThrough, PlacementsFollowTheRotation) {
  WriteThroughModel model({kHot});
  // Slots of partitions 2, 2, 0 of 4; partition 2 is the bottleneck.
  model.add(0, {put(kCold, 20'000), put(kCold, 20'001), put(kCold, 1)});
  const auto placements = rotate(model, 4, 2, 1, {.warmup = 0, .length = 3000});
  ASSERT_EQ(placements.size(), 4U);
  EXPECT_NEAR(placements[0].bottleneck_server, 1, 1e-3);
  EXPECT_EQ(placements[0].rotated_server, 0);
  EXPECT_NEAR(placements[1].bottleneck_server, 2.0 / 3, 1e-3);  // with 0
  EXPECT_NEAR(placements[1].rotated_server, 1.0 / 3, 1e-3);
  EXPECT_EQ(placements[2].rotated_server, 0);  // with 1, which nobody asks for
}

TEST(WriteThrough, PiecesAreReplayedFromTheirOwnPlaces) {
  WriteThroughModel model({kHot});
  // Slots of partitions 0 and 1 of 2: the last quarter of the trace is of 1, more than a window.
  std::vector<Operation> trace(3000, put(kCold, 0));
  trace.insert(trace.end(), 1000, put(kCold, 20'000));
  model.add(0, trace);
  const auto one = rotate(model, 2, 0, 1, {.warmup = 0, .length = 500});
  EXPECT_NEAR(one.at(1).bottleneck_server, 1, 0.01);
  EXPECT_EQ(one.at(1).rotated_share_deviation, 0);
  const auto four = rotate(model, 2, 0, 1, {.warmup = 0, .length = 500, .pieces = 4});
  EXPECT_NEAR(four.at(0).bottleneck_server, 1, 0.01);
  // From its own place, the middle.
  EXPECT_NEAR(four.at(1).bottleneck_server, 1, 0.01);
  EXPECT_EQ(four.at(1).rotated_server, 0);
  // Of shares 0, 0, 0, 1 around 1/4: the squares sum to 3/4, of 3 degrees of freedom.
  EXPECT_DOUBLE_EQ(four.at(1).rotated_share_deviation, 0.5);
  EXPECT_EQ(four.at(1).hit_share_deviation, 0);
}

TEST(WriteThrough, ClientsBeginOneAfterTheOther) {
  WriteThroughModel model({kHot});
  for (unsigned client = 0; client < 4; ++client) model.add(client, {get(kHot)});
  // A hit takes a quarter of a unit: 4 per unit and client, of 1, 2, 3 and 4 clients.
  for (const int begun : {1, 2, 3, 4}) {
    const auto window =
        WriteThroughModel::Window{.warmup = 10.0 * (begun - 1) + 1, .length = 8, .ramp = 40};
    EXPECT_NEAR(rotate(model, 1, 0, 0, window).at(0).bottleneck_switch, 4 * begun, 0.5);
  }
}

TEST(WriteThrough, EveryRoundTripIsAskedOfTheSameTraces) {
  WriteThroughModel model({kHot});
  model.add(0, {put(kHot), put(kHot)});
  const auto rates = model.rotate(1, 0, std::vector{0.0, 1.0, 3.0}, {.warmup = 0, .length = 1200});
  ASSERT_EQ(rates.size(), 3U);
  EXPECT_NEAR(rates[0].at(0).bottleneck_server, 1, 2e-3);
  EXPECT_NEAR(rates[1].at(0).bottleneck_server, 1.0 / 2, 2e-3);
  EXPECT_NEAR(rates[2].at(0).bottleneck_server, 1.0 / 4, 2e-3);
}

}  // namespace
}  // namespace turntable::workload
