#include "load/variate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace turntable::load {
namespace {

double sampled_mean(const Variate& variate, int steps = 2'000'000) {
  double sum = 0;
  for (int i = 0; i < steps; ++i) sum += variate.value((i + 0.5) / steps);
  return sum / steps;
}

TEST(Variate, ReadsMutilatesNotation) {
  EXPECT_EQ(Variate::parse("30").value(0.7), 30);
  EXPECT_EQ(Variate::parse("fixed:200").value(0), 200);
  EXPECT_EQ(Variate::parse("uniform:10").value(0.25), 2.5);
  EXPECT_EQ(Variate::parse("uniform:10,20").value(0.25), 12.5);
  EXPECT_EQ(Variate::parse("uniform:10:20").value(0.25), 12.5);
  EXPECT_NEAR(Variate::parse("normal:100,10").value(0.8413447460685429), 110, 1e-9);
  EXPECT_EQ(Variate::parse("normal:1,10").value(0.001), 0);  // never negative
  EXPECT_NEAR(Variate::parse("exponential:4").value(0.5), std::log(2) / 4, 1e-12);
  EXPECT_NEAR(Variate::parse("bimodal:1,9,0.1").value(0.95), 9, 0);
  EXPECT_NEAR(Variate::parse("bimodal:1,9,0.1").value(0.5), 1, 0);
  EXPECT_NEAR(Variate::parse("lognormal:50,1").value(0.5), 50, 1e-9);
}

// By the definitions: Pareto F(x) = 1 - (1 + k (x - m) / s)^(-1/k), GEV F(x) = exp(-(1 + k (x - m)
// / s)^(-1/k)).
TEST(Variate, TailsFollowTheirFormulas) {
  const double x = Variate::parse("pareto:5,20,0.3").value(0.999);
  EXPECT_NEAR(std::pow(1 + 0.3 * (x - 5) / 20, -1 / 0.3), 0.001, 1e-12);
  const double y = Variate::parse("gev:30,8,0.1").value(0.99);
  EXPECT_NEAR(std::exp(-std::pow(1 + 0.1 * (y - 30) / 8, -1 / 0.1)), 0.99, 1e-12);
  EXPECT_NEAR(Variate::parse("gev:30,8,0").value(std::exp(-1)), 30, 1e-9);
  EXPECT_NEAR(Variate::parse("pareto:5,20,0").value(1 - std::exp(-2)), 45, 1e-9);
}

TEST(Variate, MeansAreThoseOfTheDraws) {
  for (const char* text :
       {"7", "uniform:3,9", "normal:5,2", "normal:1,3", "exponential:0.25", "pareto:2,8,0.2",
        "gev:3,8,0.1", "lognormal:20,0.7", "bimodal:10,90,0.25", "fb_key", "fb_value", "fb_ia"}) {
    const Variate variate = Variate::parse(text);
    EXPECT_NEAR(sampled_mean(variate), variate.mean(), 2e-3 * variate.mean()) << text;
  }
  EXPECT_TRUE(std::isinf(Variate::parse("pareto:0,1,1.5").mean()));
}

// Atikoglu et al., SIGMETRICS 2012, tables of pool ETC.
TEST(Variate, FacebookAsPublished) {
  const Variate value = Variate::parse("fb_value");
  EXPECT_EQ(value.value(0.00535), 0);
  EXPECT_EQ(value.value(0.00537), 1);
  EXPECT_EQ(value.value(0.1), 2);
  EXPECT_EQ(value.value(0.27), 3);
  EXPECT_EQ(value.value(0.44154), 14);
  EXPECT_GT(value.value(0.44156), 15);
  // The rest: 15 bytes and a generalised Pareto.
  const double rest = 1 - 0.44155;
  EXPECT_NEAR(value.value(0.44155 + rest / 2),
              15 + 214.476 * (std::pow(2, 0.348238) - 1) / 0.348238, 1e-6);
  EXPECT_NEAR(Variate::parse("fb_ia").mean(), 16.0292 / (1 - 0.154971), 1e-9);
  EXPECT_NEAR(Variate::parse("fb_key").value(std::exp(-1)), 30.7984, 1e-9);  // its location
}

TEST(Variate, RefusesWhatIsNone) {
  for (const char* text :
       {"",           "abc",           "fixed",      "fixed:",      "fixed:-1",
        "fixed:1,2",  "uniform:5,1",   "normal:5",   "normal:5,-1", "exponential:0",
        "pareto:1,2", "gev:1,2",       "gev:1,-2,3", "fixed:1x",    "fixed:inf",
        "fixed:nan",  "bimodal:1,2,3", "poisson:3",  "fb_keys",     "uniform:1,2,3",
        "30 "}) {
    EXPECT_THROW(Variate::parse(text), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace turntable::load
