#include "load/arrivals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <stdexcept>

#include "common/clock.h"

namespace turntable::load {
namespace {

struct Moments {
  double mean_s;
  double variation;  // standard deviation over mean
};

// Of the gaps at the midpoints of equal shares of [0, 1): an integral, so nothing is random.
Moments moments(const Arrivals& arrivals) {
  constexpr int kShares = 4'000'000;
  double sum = 0, squares = 0;
  for (int i = 0; i < kShares; ++i) {
    const double gap = arrivals.gap_s(1, (i + 0.5) / kShares);
    sum += gap;
    squares += gap * gap;
  }
  const double mean = sum / kShares;
  return {mean, std::sqrt(std::max(0.0, squares / kShares - mean * mean)) / mean};
}

Arrivals of(Process process, double rate_per_s, double dilation = 1) {
  return Arrivals({.process = process, .rate_per_s = rate_per_s, .dilation = dilation});
}

TEST(Arrivals, ExponentialHasMeanAndVariationOfAPoissonProcess) {
  const Moments m = moments(of(Process::kExponential, 5000));
  EXPECT_NEAR(m.mean_s, 200e-6, 200e-6 * 1e-5);
  EXPECT_NEAR(m.variation, 1, 1e-4);
  // Quantiles of the exponential distribution: -ln(1 - p) times the mean.
  EXPECT_DOUBLE_EQ(of(Process::kExponential, 1000).gap_s(7, 0.5), std::log(2) * 1e-3);
  EXPECT_DOUBLE_EQ(of(Process::kExponential, 1000).gap_s(7, 0), 0);
}

TEST(Arrivals, UniformHasTheVariationOfAUniformDistribution) {
  const Moments m = moments(of(Process::kUniform, 250));
  EXPECT_NEAR(m.mean_s, 4e-3, 4e-9);
  EXPECT_NEAR(m.variation, 1 / std::sqrt(3), 1e-6);
}

TEST(Arrivals, PeriodicVariesItsFirstGapOnly) {
  const Arrivals periodic = of(Process::kPeriodic, 100);
  EXPECT_NEAR(moments(periodic).mean_s, 10e-3, 1e-9);
  EXPECT_NEAR(moments(periodic).variation, 0, 1e-3);
  EXPECT_DOUBLE_EQ(periodic.gap_s(0, 0.25), 2.5e-3);
  EXPECT_DOUBLE_EQ(periodic.gap_s(1, 0.25), 10e-3);
}

// Real rates of the published client, computed by hand from ((1-a) ln(1-a) + a) / a, a = 2000/rate:
// a = 0.4: 1 + 1.5 ln 0.6 = 0.233762 ms; a = 0.2: 1 + 4 ln 0.8 = 0.107426 ms; a = 0.1: 1 + 9 ln 0.9
// = 0.051755 ms; a = 1: 1 ms.
TEST(Arrivals, LegacySendsLessThanItIsTold) {
  for (const auto& [told, real] :
       {std::pair{5000.0, 4277.86}, {10000.0, 9308.74}, {20000.0, 19321.5}, {2000.0, 1000.0}}) {
    const Arrivals legacy = of(Process::kLegacy, told);
    EXPECT_NEAR(legacy.mean_rate_per_s(), real, real * 1e-4) << told;
    EXPECT_NEAR(1 / moments(legacy).mean_s, real, real * 1e-4) << told;
  }
}

TEST(Arrivals, LegacyIsNearlyUniformAtHighRatesAndExponentialAt2000) {
  EXPECT_NEAR(moments(of(Process::kLegacy, 1e6)).variation, 1 / std::sqrt(3), 1e-2);
  EXPECT_NEAR(moments(of(Process::kLegacy, 2000)).variation, 1, 1e-4);
}

TEST(Arrivals, LegacyUnderDilationIsThePublishedProcessSlowedDown) {
  const Arrivals published = of(Process::kLegacy, 20000), slow = of(Process::kLegacy, 200, 100);
  EXPECT_DOUBLE_EQ(slow.gap_s(3, 0.7), 100 * published.gap_s(3, 0.7));
  EXPECT_DOUBLE_EQ(slow.mean_rate_per_s(), published.mean_rate_per_s() / 100);
}

// 10,000/s of 5 clients, dilated by 120: 16.67 are 1999.9999999999998.
TEST(Arrivals, LegacyOf2000IsTakenHoweverItWasRounded) {
  const double rate_per_s = 10'000 / 120.0 / 5;
  ASSERT_LT(rate_per_s * 120, 2000);
  EXPECT_NEAR(of(Process::kLegacy, rate_per_s, 120).mean_rate_per_s(), 1000 / 120.0, 1e-3);
}

TEST(Arrivals, LegacyBelow2000IsRefusedWithTheReason) {
  try {
    of(Process::kLegacy, 1999);
    FAIL() << "was taken";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "process \"legacy\" at 1999/s per client: the published client sends nothing "
                 "below 2000/s (it takes the logarithm of a negative number); expected at least "
                 "2000/s per client, or process \"exponential\"");
  }
  // All others have any rate.
  EXPECT_NEAR(moments(of(Process::kExponential, 3)).mean_s, 1 / 3.0, 1e-4);
}

TEST(Arrivals, TraceIsStretchedToTheRateAndRepeated) {
  const std::vector<double> gaps = {1, 3, 8};  // mean 4
  const Arrivals trace(
      {.process = Process::kTrace, .rate_per_s = 1000, .trace = gaps, .trace_begin = 1});
  EXPECT_DOUBLE_EQ(trace.gap_s(0, 0.9), 0.75e-3);
  EXPECT_DOUBLE_EQ(trace.gap_s(1, 0.1), 2e-3);
  EXPECT_DOUBLE_EQ(trace.gap_s(2, 0.1), 0.25e-3);
  EXPECT_DOUBLE_EQ(trace.gap_s(3, 0.1), 0.75e-3);
  EXPECT_DOUBLE_EQ(trace.mean_rate_per_s(), 1000);
}

std::vector<std::int64_t> drawn(std::uint64_t seed, std::uint64_t client,
                                std::int64_t until_ns = kSecondNs) {
  return instants(drawn_gaps(of(Process::kExponential, 1000), seed, client), 0, until_ns,
                  1'000'000);
}

TEST(DrawnGaps, DependOnSeedAndClientAlone) {
  EXPECT_EQ(drawn(7, 1), drawn(7, 1));
  EXPECT_NE(drawn(7, 1), drawn(8, 1));
  EXPECT_NE(drawn(7, 1), drawn(7, 2));
}

TEST(DrawnGaps, HaveTheRateAndAnExponentialDistance) {
  const auto instants = drawn(1, 0, 100 * kSecondNs);
  // 100,000 are expected, with a standard deviation of their root.
  EXPECT_NEAR(static_cast<double>(instants.size()), 1e5, 5 * std::sqrt(1e5));
  std::size_t long_ones = 0;
  for (std::size_t i = 1; i < instants.size(); ++i) {
    ASSERT_GE(instants[i], instants[i - 1]);
    if (instants[i] - instants[i - 1] > 1'000'000) ++long_ones;
  }
  EXPECT_NEAR(static_cast<double>(long_ones) / 1e5, std::exp(-1), 0.01);
}

TEST(Instants, AreRefusedBeyondTheMost) {
  const Gap every_ms = [](std::uint64_t) { return 1e-3; };
  EXPECT_EQ(instants(every_ms, kSecondNs, kSecondNs + 3'500'000, 3),
            (std::vector<std::int64_t>{kSecondNs + 1'000'000, kSecondNs + 2'000'000,
                                       kSecondNs + 3'000'000}));
  EXPECT_THROW(instants(every_ms, 0, 3'500'000, 2), std::length_error);
}

TEST(Arrivals, BadSettingsAreRefused) {
  EXPECT_THROW(of(Process::kExponential, 0), std::invalid_argument);
  EXPECT_THROW(of(Process::kTrace, 10), std::invalid_argument);
  EXPECT_THROW(process_of("poison"), std::invalid_argument);
  EXPECT_EQ(process_of("legacy"), Process::kLegacy);
}

class TraceFile : public ::testing::Test {
 protected:
  ~TraceFile() override { std::remove(path_.c_str()); }
  std::string write(const std::string& text) {
    std::ofstream(path_) << text;
    return path_;
  }
  const std::string path_ = ::testing::TempDir() + "turntable-trace-" + std::to_string(::getpid());
};

TEST_F(TraceFile, IsReadLineByLine) {
  EXPECT_EQ(read_trace(write("12.5\n0\n3e2\n")), (std::vector{12.5, 0.0, 300.0}));
}

TEST_F(TraceFile, ABadLineIsNamed) {
  for (const std::string bad : {"x", "-1", "1 2", "", "nan", "inf"}) {
    try {
      read_trace(write("1\n" + bad + "\n2\n"));
      FAIL() << '"' << bad << "\" was taken";
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("line 2: \"" + bad + '"'), std::string::npos)
          << error.what();
    }
  }
  EXPECT_THROW(read_trace("/nowhere"), std::invalid_argument);
}

// The largest distance between the distribution of a million gaps, as they are between instants,
// and the exact one (Kolmogorov, Smirnov).
template <typename Cdf>
double ks_distance(const char* process, const Cdf& cdf) {
  constexpr std::size_t kCount = 1'000'000;
  constexpr double kRate = 20'000;
  const Gap gap = drawn_gaps(Arrivals(arrivals_of(process, kRate)), 7, 3);
  std::vector<double> gaps;
  double at_s = 0;
  std::int64_t before = 0;
  for (std::uint64_t number = 0; number < kCount; ++number) {
    at_s += gap(number);
    const std::int64_t at_ns = std::llround(at_s * 1e9);
    gaps.push_back(static_cast<double>(at_ns - before) / 1e9 * kRate);
    before = at_ns;
  }
  std::sort(gaps.begin(), gaps.end());
  double largest = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    const double exact = cdf(gaps[i]);
    largest = std::max({largest, std::abs(exact - static_cast<double>(i) / kCount),
                        std::abs(exact - static_cast<double>(i + 1) / kCount)});
  }
  return largest;
}

// Beyond 1.95 / sqrt(n) with a probability of 0.1 %; the draws are fixed.
constexpr double kMostKs = 1.95e-3;

TEST(Arrivals, AMillionGapsHaveTheExactDistribution) {
  EXPECT_LT(ks_distance("exponential", [](double x) { return 1 - std::exp(-x); }), kMostKs);
  EXPECT_LT(ks_distance("uniform", [](double x) { return std::min(1.0, x / 2); }), kMostKs);
  // A generalised Pareto with a mean of 1: scale 1 - shape.
  EXPECT_LT(ks_distance("fb_ia",
                        [](double x) {
                          constexpr double kShape = 0.154971;
                          return 1 - std::pow(1 + kShape * x / (1 - kShape), -1 / kShape);
                        }),
            kMostKs);
  EXPECT_LT(ks_distance("normal:10,1",
                        [](double x) { return std::erfc(-(x - 1) / 0.1 / std::sqrt(2)) / 2; }),
            kMostKs);
  EXPECT_GT(ks_distance("uniform", [](double x) { return 1 - std::exp(-x); }), 0.1);
}

TEST(Arrivals, EveryDistributionHasTheRate) {
  for (const char* process :
       {"exponential", "uniform", "periodic", "fixed", "fixed:7", "fb_ia", "normal", "normal:5,2",
        "uniform:1,3", "pareto:0,3,0.2", "gev:30,8,0.1", "exponential:4"}) {
    const Gap gap = drawn_gaps(Arrivals(arrivals_of(process, 1000)), 1, 0);
    double sum_s = 0;
    for (std::uint64_t number = 0; number < 200'000; ++number) sum_s += gap(number);
    EXPECT_NEAR(sum_s, 200, 2) << process;
  }
}

TEST(Arrivals, RefusesADistributionWithoutAMean) {
  EXPECT_THROW(Arrivals(arrivals_of("pareto:0,3,1.5", 10)), std::invalid_argument);
  EXPECT_THROW(Arrivals(arrivals_of("uniform:0,0", 10)), std::invalid_argument);
  EXPECT_THROW(arrivals_of("poisson", 10), std::invalid_argument);
  EXPECT_THROW(arrivals_of("legacy", 10), std::invalid_argument);
  EXPECT_THROW(arrivals_of("exponential:-1", 10), std::invalid_argument);
}

}  // namespace
}  // namespace turntable::load
