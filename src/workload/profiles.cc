// The profiles of the FarReach reference, section 10: one row each.
#include "workload/profile.h"

namespace turntable::workload {
namespace {

using enum Distribution;

constexpr double kDefaultTheta = 0.99;
constexpr std::uint32_t kDefaultValueBytes = 128;

Workload profile(const char* name, Proportions proportions, Distribution distribution,
                 double theta = kDefaultTheta, std::uint32_t value_bytes = kDefaultValueBytes) {
  Workload row;
  row.name = name;
  row.proportions = proportions;
  row.distribution = distribution;
  row.theta = theta;
  row.value_bytes = value_bytes;
  return row;
}

constexpr Proportions kReads{.read = 1};
constexpr Proportions kWrites{.update = 1};

}  // namespace

const std::vector<Workload>& profiles() {
  static const std::vector<Workload> rows = {
      profile("workloada", {.read = 0.5, .update = 0.5}, kZipfian),
      profile("workloadb", {.read = 0.95, .update = 0.05}, kZipfian),
      profile("workloadc", kReads, kZipfian),
      profile("workloadd", {.read = 0.95, .insert = 0.05}, kLatest),
      profile("workloade", {.insert = 0.05, .scan = 0.95}, kZipfian),
      profile("workloadf", {.read = 0.5, .read_modify_write = 0.5}, kZipfian),
      profile("workload-load", {.insert = 1}, kSequential),
      profile("synthetic", kWrites, kZipfian),
      profile("synthetic-0", kReads, kZipfian),
      profile("synthetic-25", {.read = 0.75, .update = 0.25}, kZipfian),
      profile("synthetic-50", {.read = 0.5, .update = 0.5}, kZipfian),
      profile("synthetic-75", {.read = 0.25, .update = 0.75}, kZipfian),
      profile("synthetic-100", kWrites, kZipfian),
      profile("skewness-90", kWrites, kZipfian, 0.90),
      profile("skewness-95", kWrites, kZipfian, 0.95),
      profile("skewness-99", kWrites, kZipfian, 0.99),
      profile("uniform", kWrites, kUniform),
      profile("valuesize-16", kWrites, kZipfian, kDefaultTheta, 16),
      profile("valuesize-32", kWrites, kZipfian, kDefaultTheta, 32),
      profile("valuesize-64", kWrites, kZipfian, kDefaultTheta, 64),
      profile("valuesize-128", kWrites, kZipfian, kDefaultTheta, 128),
      profile("valuesize-256", kWrites, kZipfian, kDefaultTheta, 256),
  };
  return rows;
}

}  // namespace turntable::workload
