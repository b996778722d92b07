#include "netclone/distribution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "stats/normal_quantile.h"

namespace turntable::netclone {
namespace {

using Json = nlohmann::json;

Distribution read(const char* json) {
  return Distribution::from_json("test", Json::parse(json));
}

ServiceTimes times(const char* service, double probability = 0.01, double factor = 15) {
  return ServiceTimes::from_json("test", Json::parse(service),
                                 {{"probability", probability}, {"factor", factor}});
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const CommandError& error) {
    EXPECT_EQ(error.code(), "bad_argument");
    return error.what();
  }
  return "no error";
}

std::string error_of(const char* json) {
  return error_of([&] { read(json); });
}

// Mean over all u of a function of the quantile, on a grid that is finer where u is close to 1.
double integrate(const Distribution& distribution, const std::function<double(double)>& f) {
  constexpr int kSteps = 1'000'000;
  double sum = 0;
  for (int i = 0; i < kSteps; ++i) {
    const double t = (i + 0.5) / kSteps;  // u = 1 - t^2, du = 2 t dt
    sum += f(distribution.quantile(1 - t * t)) * 2 * t / kSteps;
  }
  return sum;
}

double integrated_mean(const Distribution& distribution) {
  return integrate(distribution, [](double us) { return us; });
}

// The reference §6: 28.5, 54.15, 57 and 108.3 us.
TEST(PublishedDistributions, HaveThePublishedMeansWithJitter) {
  EXPECT_NEAR(times(R"({"distribution": "exp25"})").mean_us(), 28.5, 1e-9);
  EXPECT_NEAR(times(R"({"distribution": "bimodal25"})").mean_us(), 54.15, 1e-9);
  EXPECT_NEAR(times(R"({"distribution": "exp50"})").mean_us(), 57, 1e-9);
  EXPECT_NEAR(times(R"({"distribution": "bimodal50"})").mean_us(), 108.3, 1e-9);
}

TEST(PublishedDistributions, WithLittleVariability) {
  EXPECT_NEAR(times(R"({"distribution": "exp25"})", 0.001).mean_us(), 25 * 1.014, 1e-9);
}

// Over a million requests: within five standard errors of arithmetic.
void expect_drawn_mean(const ServiceTimes& service, double mean, double mean_square) {
  constexpr int kRequests = 1'000'000;
  double sum = 0;
  for (int i = 0; i < kRequests; ++i) sum += service.service_us(3, i, 0);
  const double error = std::sqrt((mean_square - mean * mean) / kRequests);
  EXPECT_NEAR(sum / kRequests, mean, 5 * error);
}

TEST(ServiceTimes, AreDrawnWithTheMeanOfTheDistribution) {
  const double jitter_square = 1 + 0.01 * (15 * 15 - 1);
  expect_drawn_mean(times(R"({"distribution": "exp25"})"), 28.5, 2 * 25 * 25 * jitter_square);
  expect_drawn_mean(times(R"({"distribution": "bimodal25"})"), 54.15,
                    (0.9 * 25 * 25 + 0.1 * 250 * 250) * jitter_square);
  expect_drawn_mean(times(R"({"distribution": "exp50"})"), 57, 2 * 50 * 50 * jitter_square);
  expect_drawn_mean(times(R"({"distribution": "bimodal50"})"), 108.3,
                    (0.9 * 50 * 50 + 0.1 * 500 * 500) * jitter_square);
}

TEST(ServiceTimes, AreOneOfTheFourOfABimodalDistributionWithJitter) {
  const ServiceTimes service = times(R"({"distribution": "bimodal25"})");
  std::map<double, int> counts;
  for (int i = 0; i < 1'000'000; ++i) ++counts[service.service_us(3, i, 1)];
  ASSERT_EQ(counts.size(), 4U);
  EXPECT_NEAR(counts[25], 891'000, 5 * std::sqrt(891'000 * 0.109));
  EXPECT_NEAR(counts[250], 99'000, 5 * std::sqrt(99'000 * 0.901));
  EXPECT_NEAR(counts[375], 9'000, 5 * std::sqrt(9'000));
  EXPECT_NEAR(counts[3750], 1'000, 5 * std::sqrt(1'000));
}

TEST(ServiceTimes, DependOnTheOperationWhereItHasOneOfItsOwn) {
  const ServiceTimes service = times(
      R"({"GET": {"distribution": "fixed", "us": 10}, "SCAN": {"distribution": "fixed", "us": 90}})",
      0);
  EXPECT_TRUE(service.by_operation());
  EXPECT_EQ(service.service_us(1, 2, 0, Operation::kGet), 10);
  EXPECT_EQ(service.service_us(1, 2, 0, Operation::kScan), 90);
  EXPECT_NEAR(service.mean_us(0.01), 10.8, 1e-12);
}

TEST(ServiceTimes, AreDilatedForServers) {
  const ServiceTimes fixed = times(R"({"distribution": "fixed", "us": 2.5})", 1, 3);
  EXPECT_EQ(fixed.service_ns(1, 2, 0, Operation::kWork, 100), 750'000);
}

TEST(Distribution, ExponentialHasItsQuantilesAndMoments) {
  const Distribution exponential = read(R"({"distribution": "exponential", "mean_us": 40})");
  EXPECT_EQ(exponential.quantile(0), 0);
  EXPECT_NEAR(exponential.quantile(0.5), 40 * std::log(2), 1e-12);
  EXPECT_NEAR(exponential.quantile(0.99), 40 * std::log(100), 1e-9);
  EXPECT_NEAR(integrated_mean(exponential), 40, 1e-3);
  EXPECT_EQ(exponential.mean_us(), 40);
}

TEST(Distribution, LogNormalHasItsMeanAndVariance) {
  const Distribution normal = read(R"({"distribution": "lognormal", "mean_us": 40, "sigma": 0.8})");
  EXPECT_NEAR(normal.mean_us(), 40, 1e-9);
  EXPECT_NEAR(integrated_mean(normal), 40, 1e-3);
  const double square = integrate(normal, [](double us) { return us * us; });
  EXPECT_NEAR(square / 1600, std::exp(0.64), 1e-3);
  EXPECT_NEAR(normal.quantile(0.5), 40 * std::exp(-0.32), 1e-9);
  EXPECT_GE(normal.quantile(0), 0);
}

TEST(Distribution, TrimodalHasItsThreeValues) {
  const Distribution trimodal = read(
      R"({"distribution": "trimodal", "short_us": 5, "middle_us": 50, "long_us": 500,
          "middle_share": 0.3, "long_share": 0.1})");
  EXPECT_EQ(trimodal.quantile(0), 5);
  EXPECT_EQ(trimodal.quantile(0.59), 5);
  EXPECT_EQ(trimodal.quantile(0.61), 50);
  EXPECT_EQ(trimodal.quantile(0.89), 50);
  EXPECT_EQ(trimodal.quantile(0.91), 500);
  EXPECT_NEAR(trimodal.mean_us(), 0.6 * 5 + 0.3 * 50 + 0.1 * 500, 1e-9);
}

TEST(Distribution, HistogramHasWhatWasSeenAsOftenAsItWas) {
  const Distribution histogram =
      read(R"({"distribution": "histogram", "bins": [[20, 6], [10, 2], [40, 2], [80, 0]]})");
  EXPECT_EQ(histogram.quantile(0.19), 10);
  EXPECT_EQ(histogram.quantile(0.21), 20);
  EXPECT_EQ(histogram.quantile(0.79), 20);
  EXPECT_EQ(histogram.quantile(0.81), 40);
  EXPECT_EQ(histogram.quantile(1 - 0x1.0p-53), 40);
  EXPECT_NEAR(histogram.mean_us(), 22, 1e-9);
}

TEST(Distribution, FixedIsFixed) {
  const Distribution fixed = read(R"({"distribution": "fixed", "us": 7.5})");
  EXPECT_EQ(fixed.quantile(0), 7.5);
  EXPECT_EQ(fixed.quantile(0.999), 7.5);
  EXPECT_EQ(fixed.mean_us(), 7.5);
}

TEST(Distribution, ErrorsNameWhatIsWrongAndWhatWasExpected) {
  EXPECT_EQ(error_of(R"("exp25")"), R"(test is "exp25"; expected {"distribution": NAME, ...})");
  EXPECT_EQ(error_of(R"({"distribution": "exp26"})"),
            "test: \"distribution\" is \"exp26\"; expected fixed, exponential, bimodal, trimodal, "
            "lognormal, histogram, exp25, bimodal25, exp50 or bimodal50");
  EXPECT_EQ(error_of(R"({"distribution": "exp25", "mean_us": 1})"),
            "test: argument \"mean_us\" is unknown; expected distribution");
  EXPECT_EQ(error_of(R"({"distribution": "exponential"})"), "test: \"mean_us\" is missing");
  EXPECT_EQ(error_of(R"({"distribution": "fixed", "us": -1})"),
            "test: \"us\" is -1; expected a number from 0.0 to 10000000.0");
  EXPECT_EQ(error_of(R"({"distribution": "bimodal", "short_us": 1, "long_us": 2,
                         "long_share": 1.5})"),
            "test: \"long_share\" is 1.5; expected a number from 0.0 to 1.0");
  EXPECT_EQ(error_of(R"({"distribution": "histogram", "bins": [[1, -2]]})"),
            "test: \"bins\" is [1,-2]; expected [us, count] in each element, neither negative");
  EXPECT_EQ(error_of(R"({"distribution": "histogram", "bins": [[1, 0]]})"),
            "test: \"bins\" is [[1,0]]; expected at least one count above 0");
}

TEST(ServiceTimes, ErrorsNameThePartThatIsWrong) {
  EXPECT_EQ(error_of([] { times(R"({"distribution": "exp25"})", 1.5); }),
            "test, jitter: \"probability\" is 1.5; expected a number from 0.0 to 1.0");
  EXPECT_EQ(error_of([] { times(R"({"GET": {"distribution": "exp25"}})"); }),
            "test, service: \"SCAN\" is missing");
  EXPECT_EQ(error_of([] { times(R"({"GET": {"distribution": "exp25"}, "SCAN": 1})"); }),
            R"(test, service: "SCAN" is 1; expected an object)");
}

// Python's statistics.NormalDist().inv_cdf(u).
TEST(NormalQuantile, IsThatOfPython) {
  const auto expect = [](double u, double quantile) {
    EXPECT_NEAR(stats::normal_quantile(u), quantile, 1e-14 * std::max(1.0, std::abs(quantile)))
        << u;
  };
  expect(0x1.0p-54, -8.292361075813595);
  expect(1e-10, -6.361340902404056);
  expect(0.02, -2.0537489106318225);
  expect(0.07500001, -1.4395314002947508);
  expect(0.3, -0.5244005127080407);
  expect(0.5, 0);
  expect(0.91, 1.3407550336902165);
  expect(0.975, 1.9599639845400536);
  expect(1 - 0x1.0p-53, 8.209536151601386);
}

}  // namespace
}  // namespace turntable::netclone
