#include "load/rate_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "workload/random.h"

namespace turntable::load {
namespace {

// A server with one queue: the percentile grows as 1 / (1 - load), and every measurement is off by
// a factor; some are spoilt by something else on the machine.
class NoisyServer {
 public:
  NoisyServer(double capacity, double noise, double spoilt, std::uint64_t seed)
      : capacity_(capacity), noise_(noise), spoilt_(spoilt), random_(seed) {}

  double exact_us(double rate) const {
    return rate >= capacity_ ? 1e6 : 200 / (1 - rate / capacity_);
  }
  RateSearch::Outcome operator()(double rate) {
    double value = exact_us(rate) * (1 + noise_ * (2 * uniform() - 1));
    if (uniform() < spoilt_) value *= 20;
    return {
        .value = value, .achieved_per_s = std::min(rate, capacity_), .reached = rate < capacity_};
  }
  // Where the limit is reached.
  double rate_at(double limit_us) const { return capacity_ * (1 - 200 / limit_us); }

 private:
  double uniform() { return workload::unit_interval(random_.next()); }
  double capacity_, noise_, spoilt_;
  workload::Random random_;
};

constexpr RateSearch::Settings kSettings = {.first_per_s = 100'000, .limit = 2000};

TEST(RateSearch, FindsTheRateOfAServerWithoutNoise) {
  NoisyServer server(100'000, 0, 0, 1);
  const auto found = RateSearch::run(kSettings, std::ref(server));
  EXPECT_LE(found.low_per_s, server.rate_at(2000));
  EXPECT_GE(found.high_per_s, server.rate_at(2000));
  EXPECT_LE(found.high_per_s / found.low_per_s, 1.0201);
  EXPECT_TRUE(found.is_confirmed);
  EXPECT_EQ(found.achieved_per_s, found.low_per_s);
}

TEST(RateSearch, GoesAboveItsFirstGuess) {
  NoisyServer server(400'000, 0, 0, 1);
  const auto found = RateSearch::run(kSettings, std::ref(server));
  EXPECT_NEAR(found.low_per_s, server.rate_at(2000), 0.02 * server.rate_at(2000));
}

// One measurement in ten is spoilt, and all are off by up to 10 %.
TEST(RateSearch, NoiseDoesNotMoveIt) {
  std::size_t probes = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    NoisyServer server(100'000, 0.1, 0.1, seed);
    const auto found = RateSearch::run(kSettings, std::ref(server));
    EXPECT_TRUE(found.is_confirmed) << seed;
    EXPECT_NEAR(found.low_per_s, server.rate_at(2000), 0.05 * server.rate_at(2000)) << seed;
    probes += found.probes.size();
  }
  EXPECT_LT(probes, 50U * 50);
}

// Off by up to 30 %, and one in seven is spoilt.
TEST(RateSearch, MuchNoiseStillEnds) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    NoisyServer server(100'000, 0.3, 0.15, seed);
    const auto found = RateSearch::run(kSettings, std::ref(server));
    EXPECT_LE(found.probes.size(), 120U) << seed;
    EXPECT_NEAR(found.low_per_s, server.rate_at(2000), 0.25 * server.rate_at(2000)) << seed;
  }
}

TEST(RateSearch, LooksAgainWhereItIsClose) {
  int calls = 0;
  const auto measure = [&](double) {
    // 1.9, 2.1, 2.1 ms, then all hold: at the limit itself three do not decide.
    static constexpr double kValues[] = {1900, 2100, 2100};
    const double value = calls < 3 ? kValues[calls] : 1900;
    ++calls;
    return RateSearch::Outcome{.value = value, .achieved_per_s = 1};
  };
  auto settings = kSettings;
  settings.max_probes = 1;  // no further rate
  const auto found = RateSearch::run(settings, measure);
  EXPECT_GT(calls, 3);
  EXPECT_TRUE(found.probes.at(0).met);
  EXPECT_FALSE(found.probes.at(1).met);
}

TEST(RateSearch, NothingHolds) {
  const auto found = RateSearch::run(
      kSettings, [](double) { return RateSearch::Outcome{.value = -1, .achieved_per_s = 0}; });
  EXPECT_EQ(found.low_per_s, 0);
  EXPECT_FALSE(found.is_confirmed);
  EXPECT_LE(found.high_per_s, 20);
  EXPECT_LT(found.probes.size(), 60U);
}

// The low end holds once, and not when it is confirmed, with the last probe.
TEST(RateSearch, WithoutProbesForAnotherItIsTheHighestThatHeldBelow) {
  auto settings = kSettings;
  settings.repeats = 1;
  settings.resolution = 0.1;
  double low = 0;
  int seen = 0;
  const auto measure = [&](double rate) {
    const bool holds = rate <= 50'000 && !(rate == low && ++seen == 2);
    return RateSearch::Outcome{.value = holds ? 1.0 : -1.0, .achieved_per_s = rate};
  };
  low = RateSearch::run(settings, measure).low_per_s;
  seen = 0;
  settings.max_probes = 0;
  RateSearch::Result found;
  do {
    seen = 0;
    ++settings.max_probes;
    found = RateSearch::run(settings, measure);
  } while (seen < 2);
  EXPECT_FALSE(found.is_confirmed);
  EXPECT_GT(found.low_per_s, 0);
  EXPECT_LT(found.low_per_s, low);
}

// A machine that became slower while it was searched: whatever held at first does not any more, and
// that is found out with the last probes. Rates from 20,000/s on are too much then.
TEST(RateSearch, WithoutProbesItStillGoesDownToARateThatHolds) {
  for (int max_probes = 1; max_probes < 60; ++max_probes) {
    auto settings = kSettings;
    settings.max_probes = max_probes;
    int probes = 0;
    const auto found = RateSearch::run(settings, [&](double rate) {
      const double capacity = probes++ < max_probes - 10 ? 80'000 : 20'000;
      return RateSearch::Outcome{.value = rate < capacity ? 1.0 : -1.0, .achieved_per_s = rate};
    });
    EXPECT_GT(found.low_per_s, 0) << max_probes;
    EXPECT_LE(found.probes.size(), static_cast<std::size_t>(max_probes) + 30) << max_probes;
  }
}

// The time is over at any of its probes: what held is kept, and is never more than what holds.
TEST(RateSearch, WithoutTimeForAnotherProbeItIsTheHighestThatHeld) {
  NoisyServer server(100'000, 0, 0, 1);
  const std::size_t all = RateSearch::run(kSettings, std::ref(server)).probes.size();
  for (std::size_t most = 0; most < all; ++most) {
    std::size_t count = 0;
    const auto found =
        RateSearch::run(kSettings, [&](double rate) -> std::optional<RateSearch::Outcome> {
          if (count++ == most) return std::nullopt;
          return server(rate);
        });
    EXPECT_TRUE(found.is_cut_short) << most;
    EXPECT_FALSE(found.is_confirmed) << most;
    EXPECT_EQ(found.probes.size(), most);
    EXPECT_LE(found.low_per_s, server.rate_at(2000)) << most;
    const auto held = [](const auto& probe) { return probe.met && probe.repeat == 1; };
    const bool one_held = std::any_of(found.probes.begin(), found.probes.end(), held);
    EXPECT_EQ(found.low_per_s > 0, one_held) << most;
  }
}

TEST(RateSearch, ARateThatIsNotReachedDoesNotHold) {
  const auto found = RateSearch::run(kSettings, [](double rate) {
    return RateSearch::Outcome{.value = 1, .achieved_per_s = 40'000, .reached = rate < 40'000};
  });
  EXPECT_NEAR(found.low_per_s, 40'000, 0.03 * 40'000);
}

}  // namespace
}  // namespace turntable::load
