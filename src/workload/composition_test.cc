#include "workload/composition.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "workload/analysis.h"
#include "workload/hottest.h"
#include "workload/slot_load.h"

namespace turntable::workload {
namespace {

// Upper bound of a chi-square statistic: Laurent and Massart (Annals of Statistics 2000, lemma 1),
// P(chi2_k > k + 2 sqrt(k x) + 2 x) <= exp(-x). Here x = 16: a false alarm in 10^7 comparisons. The
// traces are seeded, so a comparison that passed once keeps passing.
double chi_square_bound(double degrees) {
  constexpr double kX = 16;
  return degrees + 2 * std::sqrt(degrees * kX) + 2 * kX;
}

double chi_square(const std::vector<double>& counts, const std::vector<double>& shares) {
  const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
  double sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = total * shares[i];
    sum += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  return sum;
}

constexpr unsigned kScale = 128;

std::vector<double> predicted(const Workload& workload) {
  const KeySet none(workload.records);
  return per_partition(expected_slot_loads(workload, none, 1 << 24).total, kScale);
}

std::vector<double> counted(const Workload& workload) {
  return per_partition(compose_traces(workload, {}).requests(), kScale);
}

TEST(Composition, TracesFollowThePrediction) {
  for (const char* name : {"workloada", "synthetic", "skewness-90", "uniform"}) {
    const Workload workload = workload_from_json({{"name", name}, {"records", 1'000'000}});
    EXPECT_LT(chi_square(counted(workload), predicted(workload)), chi_square_bound(kScale - 1))
        << name;
  }
}

TEST(Composition, LatestTracesFollowThePrediction) {
  // Inserts hardly vary, so the statistic is smaller than a chi-square; the bound holds.
  const Workload workload = workload_from_json({{"name", "workloadd"}, {"records", 1'000'000}});
  EXPECT_LT(chi_square(counted(workload), predicted(workload)), chi_square_bound(kScale - 1));
}

TEST(Composition, ASlightlyDifferentSkewIsNoticed) {
  const Workload workload = workload_from_json({{"name", "workloada"}, {"records", 1'000'000}});
  Workload other = workload;
  other.theta = 0.985;
  EXPECT_GT(chi_square(counted(workload), predicted(other)), chi_square_bound(kScale - 1));
}

TEST(Composition, CountsAgreeWithTheTraces) {
  const Workload workload = workload_from_json(
      {{"name", "workloadb"}, {"records", 100}, {"clients", 3}, {"operations", 1000}});
  const std::vector<KeyId> cached = hottest_keys(workload, 5);
  std::map<unsigned, int> visits;
  double reads = 0, writes = 0, hits = 0;
  std::set<KeyId> keys;
  const TraceComposition composition =
      compose_traces(workload, cached, [&](unsigned client, const std::vector<Operation>& trace) {
        ++visits[client];
        EXPECT_EQ(trace, generate_trace(workload, client));
        for (const Operation& operation : trace) {
          ++(operation.type == OperationType::kGet ? reads : writes);
          hits += static_cast<double>(std::count(cached.begin(), cached.end(), operation.key));
          keys.insert(operation.key);
        }
      });
  const auto sum = [](const std::vector<double>& counts) {
    return std::accumulate(counts.begin(), counts.end(), 0.0);
  };
  EXPECT_EQ(visits, (std::map<unsigned, int>{{0, 1}, {1, 1}, {2, 1}}));
  EXPECT_EQ(sum(composition.reads), reads);
  EXPECT_EQ(sum(composition.writes), writes);
  EXPECT_EQ(sum(composition.cached), hits);
  EXPECT_EQ(sum(composition.distinct_keys), static_cast<double>(keys.size()));
  EXPECT_EQ(reads + writes, 1000);
  EXPECT_GT(hits, 0);
}

}  // namespace
}  // namespace turntable::workload
