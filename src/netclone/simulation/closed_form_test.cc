// noclone without jitter is M/M/c queues beside one another: their distribution is known.
#include <gtest/gtest.h>

#include <cmath>

#include "netclone/simulation/testing.h"

namespace turntable::netclone::simulation {
namespace {

constexpr double kMeanUs = 25;
constexpr double kPathUs = 4;

// Time in a queue M/M/c: a is the offered load in Erlang. P(T > t) as in Kleinrock, Queueing
// Systems, volume 1.
class MMc {
 public:
  MMc(unsigned workers, double load) : slack_(workers * (1 - load)) {
    const double a = workers * load;
    double term = 1;
    double sum = 0;
    for (unsigned k = 0; k < workers; ++k) {
      sum += term;
      term *= a / (k + 1);
    }
    const double all_busy = term / (1 - load);
    waits_ = all_busy / (sum + all_busy);
  }

  // In units of the mean service time.
  double longer_than(double t) const {
    if (std::abs(slack_ - 1) < 1e-9) return std::exp(-t) * (1 + waits_ * t);
    return std::exp(-t) * (1 + waits_ * (1 - std::exp(-t * (slack_ - 1))) / (slack_ - 1));
  }

  double percentile_us(double percent) const {
    double low = 0;
    double high = 1000;
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (longer_than(middle) > 1 - percent / 100 ? low : high) = middle;
    }
    return low * kMeanUs;
  }

 private:
  double slack_;  // c - a
  double waits_;  // Erlang's C
};

TEST(ClosedForm, OfOneWorkerIsExponential) {
  // M/M/1 at 0.5: exponential with twice the mean service time.
  EXPECT_NEAR(MMc(1, 0.5).percentile_us(99), 50 * std::log(100), 1e-6);
}

void expect_closed_form(unsigned workers, double load, double tolerance) {
  const Result result = result_of({.method = Method::kNoClone,
                                   .servers = 4,
                                   .workers = workers,
                                   .load = load,
                                   .jitter = 0,
                                   .requests = 2e6});
  const MMc queue(workers, load);
  for (const double percent : {50.0, 90.0, 99.0, 99.9}) {
    const double expected = queue.percentile_us(percent) + kPathUs;
    EXPECT_NEAR(percentile_us(result, percent), expected, tolerance * expected)
        << "p" << percent << " at load " << load;
  }
}

TEST(NoClone, WithOneWorkerIsMM1) {
  expect_closed_form(1, 0.3, 0.01);
  expect_closed_form(1, 0.5, 0.02);
  expect_closed_form(1, 0.8, 0.03);
}

TEST(NoClone, WithEightWorkersIsMM8) {
  for (const double load : {0.3, 0.5, 0.7}) expect_closed_form(8, load, 0.01);
  expect_closed_form(8, 0.9, 0.03);
}

// Pollaczek and Khinchine: mean wait = rate * mean square / (2 (1 - load)).
TEST(NoClone, WithOneWorkerAndJitterHasTheMeanOfMG1) {
  const double square = 2 * 25 * 25 * (1 + 0.01 * (15 * 15 - 1));
  const double mean = 28.5 + 0.5 / 28.5 * square / (2 * (1 - 0.5)) + kPathUs;
  const Result result = result_of(
      {.method = Method::kNoClone, .servers = 4, .workers = 1, .load = 0.5, .requests = 4e6});
  EXPECT_NEAR(share(result.latency_ns.sum(), result.latency_ns.count()) / 1000, mean, 0.02 * mean);
}

// Both copies are served to the end, so each server sees twice the load; the faster of two
// independent M/M/8 answers counts.
TEST(CClone, IsTheFasterOfTwoQueues) {
  const Result result = result_of({.method = Method::kCClone,
                                   .servers = 16,
                                   .workers = 8,
                                   .load = 0.2,
                                   .jitter = 0,
                                   .requests = 2e6});
  const MMc queue(8, 0.4);
  for (const double percent : {50.0, 90.0, 99.0}) {
    double low = 0;
    double high = 100;
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      const double slower = queue.longer_than(middle);
      (slower * slower > 1 - percent / 100 ? low : high) = middle;
    }
    const double expected = low * kMeanUs + kPathUs;
    EXPECT_NEAR(percentile_us(result, percent), expected, 0.01 * expected) << "p" << percent;
  }
}

}  // namespace
}  // namespace turntable::netclone::simulation
