// The table and the shape that the NetClone reference §12 states: p99 in microseconds of 150,000 to
// 200,000 requests, and the clone rate.
#include <gtest/gtest.h>

#include <vector>

#include "netclone/simulation/testing.h"

namespace turntable::netclone::simulation {
namespace {

struct Row {
  Method method;
  std::uint32_t servers;
  std::uint32_t workers;
  std::vector<double> p99_us;  // at the loads 0.1, 0.2, ...
  const char* service = "exp25";
  double jitter = 0.01;
};

// The table's values are samples themselves: near saturation p99 of so few requests scatters much.
double tolerance(double load) {
  if (load < 0.55) return 0.05;
  return load < 0.75 ? 0.12 : 0.35;
}

void expect_row(const Row& row) {
  for (std::size_t i = 0; i < row.p99_us.size(); ++i) {
    const double load = 0.1 * static_cast<double>(i + 1);
    const Result result = result_of({.method = row.method,
                                     .servers = row.servers,
                                     .workers = row.workers,
                                     .load = load,
                                     .service = row.service,
                                     .jitter = row.jitter,
                                     .requests = 300'000});
    const double expected = row.p99_us[i];
    EXPECT_NEAR(percentile_us(result, 99), expected, tolerance(load) * expected)
        << method_name(row.method) << ", " << row.servers << " servers, load " << load;
  }
}

TEST(Reference, P99OfSixServers) {
  expect_row({Method::kNoClone, 6, 15, {150, 149, 149, 149, 146, 149, 148, 155, 293}});
  expect_row({Method::kCClone, 6, 15, {64, 64, 64, 73}});
  expect_row({Method::kNetClone, 6, 15, {64, 64, 69, 86, 106, 123, 136, 152, 227}});
  expect_row({Method::kNetCloneRackSched, 6, 15, {64, 64, 67, 83, 103, 119, 130, 142, 150}});
}

TEST(Reference, P99OfSixServersBimodal) {
  expect_row(
      {Method::kNetClone, 6, 15, {254, 254, 254, 254, 262, 280, 314, 379, 551}, "bimodal25"});
}

TEST(Reference, P99OfSixServersWithLittleVariability) {
  expect_row(
      {Method::kNoClone, 6, 15, {123, 122, 122, 122, 122, 122, 123, 124, 153}, "exp25", 0.001});
  expect_row({Method::kNetClone, 6, 15, {62, 61, 66, 82, 97, 109, 118, 131, 154}, "exp25", 0.001});
}

TEST(Reference, P99OfFourServers) {
  expect_row({Method::kNoClone, 4, 8, {149, 149, 150, 149, 151, 158, 161, 365, 591}});
  expect_row({Method::kCClone, 4, 8, {64, 64, 67, 93}});
  expect_row({Method::kNetClone, 4, 8, {63, 65, 77, 100, 120, 136, 172, 240, 533}});
  expect_row({Method::kNetCloneRackSched, 4, 8, {63, 65, 75, 93, 110, 127, 139, 147, 200}});
}

Result six_servers(double load) {
  return result_of({.method = Method::kNetClone,
                    .servers = 6,
                    .workers = 15,
                    .load = load,
                    .requests = 400'000});
}

TEST(Reference, CloneRate) {
  const auto expect = [](double load, double rate) {
    const Result result = six_servers(load);
    EXPECT_NEAR(share(result.cloned, result.offered), rate, 0.02) << load;
  };
  expect(0.1, 1.00);
  expect(0.3, 0.97);
  expect(0.5, 0.70);
  expect(0.6, 0.53);
  expect(0.7, 0.35);
  expect(0.8, 0.20);
  expect(0.9, 0.08);
}

TEST(Reference, DroppedClones) {
  const auto expect = [](double load, double dropped) {
    const Result result = six_servers(load);
    EXPECT_NEAR(share(result.clones_dropped, result.cloned), dropped, 0.06) << load;
  };
  expect(0.3, 0.01);
  expect(0.5, 0.10);
  expect(0.7, 0.19);
  expect(0.9, 0.24);
}

TEST(Reference, CCloneCollapsesJustPastHalfTheCapacity) {
  const auto of = [](double load) {
    return result_of({.method = Method::kCClone, .servers = 4, .workers = 8, .load = load});
  };
  EXPECT_GT(delivered_share(of(0.4)), 0.99);
  const Result result = of(0.6);
  EXPECT_LT(delivered_share(result), 0.9);
  EXPECT_GT(percentile_us(result, 99), 10'000);
}

}  // namespace
}  // namespace turntable::netclone::simulation
