#include "workload/slot_load.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "workload/analysis.h"
#include "workload/hottest.h"
#include "workload/key_chooser.h"
#include "workload/modulo.h"
#include "workload/rank_blocks.h"

namespace turntable::workload {
namespace {

constexpr unsigned kServers = 16;

KeySet hottest_set(const Workload& workload, std::uint64_t k) {
  KeySet set(workload.records);
  for (const auto number : hottest_key_numbers(workload, k)) set.insert(number);
  return set;
}

Workload small(const char* name) {
  return workload_from_json(
      {{"name", name}, {"records", 1000}, {"operations", 4000}, {"clients", 1}});
}

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// The expected loads by brute force: stratified u for every state of the insert counter.
class BruteForce {
 public:
  explicit BruteForce(const Workload& workload) : workload_(workload) {}

  std::vector<double> shares() {
    const auto inserts = static_cast<std::uint64_t>(static_cast<double>(workload_.operations) *
                                                    workload_.proportions.insert);
    const std::uint64_t states = std::max<std::uint64_t>(inserts, 1);
    std::vector<double> chosen(kServers);
    std::vector<double> inserted(kServers);
    for (std::uint64_t i = 0; i < states; ++i) {
      // Every state has other points of u, so that together they are as fine as for one state.
      const double offset = (static_cast<double>(i) + 0.5) / static_cast<double>(states);
      add_draws(workload_.records - 1 + i, 2'000'000 / states, offset, chosen);
      ++inserted[partition(workload_.records + i)];
    }
    const double chosen_sum = sum_of(chosen);
    for (unsigned p = 0; p < kServers; ++p) {
      chosen[p] *= (1 - workload_.proportions.insert) / chosen_sum;
      chosen[p] += workload_.proportions.insert * inserted[p] / static_cast<double>(states);
    }
    return chosen;
  }

 private:
  static unsigned partition(std::uint64_t number) {
    return partition_of(slot_of(key_id(number)), kServers);
  }

  // All draws of one state count as one, however many were rejected.
  void add_draws(std::uint64_t last, std::uint64_t draws, double offset,
                 std::vector<double>& shares) {
    const bool latest = workload_.distribution == Distribution::kLatest;
    Zipfian zipfian = latest ? Zipfian(workload_.records - 1, workload_.theta)
                             : Zipfian::scrambled(workload_.theta);
    if (latest) zipfian.grow(last);
    std::vector<double> accepted(kServers);
    for (std::uint64_t i = 0; i < draws; ++i) {
      const double u = (static_cast<double>(i) + offset) / static_cast<double>(draws);
      const std::uint64_t rank = zipfian.rank(u);
      const std::uint64_t number =
          latest ? last - rank : fnv_hash(rank) % scrambled_key_numbers(workload_);
      if (number <= last) ++accepted[partition(number)];
    }
    const double sum = sum_of(accepted);
    for (unsigned p = 0; p < kServers; ++p) shares[p] += accepted[p] / sum;
  }

  const Workload& workload_;
};

void expect_brute_force(const Workload& workload) {
  const SlotLoads loads = expected_slot_loads(workload, KeySet(workload.records), 1 << 22);
  const std::vector<double> shares = per_partition(loads.total, kServers);
  const std::vector<double> expected = BruteForce(workload).shares();
  for (unsigned p = 0; p < kServers; ++p) {
    // The brute force leaves sqrt(2e6 / 16) / 2e6 = 2e-4 of sampling noise in the tail.
    EXPECT_NEAR(shares[p], expected[p], 8e-4) << workload.name << " partition " << p;
  }
  EXPECT_NEAR(sum_of(loads.total), 1, 1e-12);
}

TEST(SlotLoad, ZipfianAgreesWithBruteForce) {
  expect_brute_force(small("workloada"));
}
TEST(SlotLoad, LatestAgreesWithBruteForce) {
  expect_brute_force(small("workloadd"));
}
TEST(SlotLoad, ZipfianWithInsertsAgreesWithBruteForce) {
  expect_brute_force(small("workloade"));
}

TEST(SlotLoad, LatestAgreesWithBruteForceWhenRecordsMultiply) {
  Workload workload = small("workloadd");
  workload.records = 50;
  expect_brute_force(workload);
}

TEST(SlotLoad, UniformCountsEveryRecordOnce) {
  const Workload workload = small("uniform");
  std::vector<double> expected(kServers);
  for (std::uint64_t number = 0; number < workload.records; ++number) {
    expected[partition_of(slot_of(key_id(number)), kServers)] += 0.001;
  }
  const SlotLoads loads = expected_slot_loads(workload, KeySet(workload.records));
  const std::vector<double> shares = per_partition(loads.total, kServers);
  for (unsigned p = 0; p < kServers; ++p) EXPECT_NEAR(shares[p], expected[p], 1e-12);
}

TEST(SlotLoad, CachedPartGrowsFromNothingToEverything) {
  for (const char* name : {"workloada", "uniform", "workload-load"}) {
    const Workload workload = small(name);
    double previous = -1;
    for (const std::uint64_t k : {0U, 1U, 10U, 999U, 1000U}) {
      const SlotLoads loads = expected_slot_loads(workload, hottest_set(workload, k), 1 << 16);
      const double hits = sum_of(loads.cached);
      EXPECT_GT(hits, previous) << name << " " << k;
      previous = hits;
      EXPECT_EQ(hits == 0, k == 0) << name;
    }
    EXPECT_NEAR(previous, 1, 1e-12) << name;
  }
}

TEST(SlotLoad, OneRecordTakesAll) {
  for (const Workload& profile : profiles()) {
    Workload workload = profile;
    workload.records = 1;
    const SlotLoads loads = expected_slot_loads(workload, KeySet(1), 1024);
    EXPECT_NEAR(sum_of(loads.total), 1, 1e-12) << profile.name;
    if (workload.proportions.insert == 0) {
      EXPECT_NEAR(loads.total[slot_of(key_id(0))], 1, 1e-12) << profile.name;
    }
  }
}

TEST(RankBlocks, ProbabilitiesAgreeWithTheClosedForm) {
  for (const double theta : {0.1, 0.9, 0.99}) {
    const Zipfian zipfian = Zipfian::scrambled(theta);
    double sum = 0;
    for_each_rank(zipfian, 0, 1'000'000, [&](std::uint64_t rank, double probability) {
      sum += probability;
      if (rank % 997 != 0) return;
      const double exact = zipfian.cumulative(rank + 1) - zipfian.cumulative(rank);
      // The difference of two numbers below 1 has an absolute error of some 1e-16.
      ASSERT_NEAR(probability, exact, 1e-6 * exact + 1e-15) << theta << " " << rank;
    });
    EXPECT_NEAR(sum, zipfian.cumulative(1'000'000), 1e-12);
  }
}

TEST(Modulo, AgreesWithTheOperator) {
  constexpr std::uint64_t kLargest = ~std::uint64_t{0};
  for (const std::uint64_t modulus :
       {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{1} << 31,
        std::uint64_t{100'000'001}, std::uint64_t{1} << 63, kLargest}) {
    const Modulo modulo(modulus);
    for (const std::uint64_t x : {std::uint64_t{0}, modulus - 1, modulus, kLargest, kLargest - 1,
                                  kLargest / modulus * modulus, kLargest / modulus * modulus - 1,
                                  fnv_hash(1), fnv_hash(2)}) {
      EXPECT_EQ(modulo(x), x % modulus) << x << " % " << modulus;
    }
  }
}

TEST(Hottest, StartsWithThePublishedKey) {
  const Workload workload = workload_from_json({{"name", "workloada"}});
  EXPECT_EQ(hottest_keys(workload, 1).front(), 2571001333982442796U);
}

TEST(Hottest, KeysAreDistinctRecords) {
  for (const char* name : {"workloada", "workloadd", "uniform"}) {
    const Workload workload = small(name);
    for (const std::uint64_t k : {1U, 999U, 1000U}) {
      KeySet seen(workload.records);
      for (const auto number : hottest_key_numbers(workload, k)) {
        ASSERT_LT(number, workload.records);
        ASSERT_TRUE(seen.insert(number)) << name;
      }
      EXPECT_EQ(seen.size(), k);
    }
  }
}

TEST(Hottest, LatestStartsWithTheNewest) {
  EXPECT_EQ(hottest_key_numbers(small("workloadd"), 3),
            (std::vector<std::uint64_t>{999, 998, 997}));
}

}  // namespace
}  // namespace turntable::workload
