#include "workload/trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "common/command_error.h"
#include "workload/random.h"

namespace turntable::workload {
namespace {

Workload small(const char* name) {
  return workload_from_json(
      {{"name", name}, {"records", 1000}, {"clients", 8}, {"operations", 80'005}});
}

double share(const std::vector<Operation>& trace, OperationType type) {
  const auto count = std::count_if(trace.begin(), trace.end(), [&](const Operation& operation) {
    return operation.type == type;
  });
  return static_cast<double>(count) / static_cast<double>(trace.size());
}

// splitmix64 from 1234567: the test vector of Rosetta Code.
TEST(Random, SplitMixAgreesWithThePublishedVector) {
  SplitMix64 generator(1234567);
  EXPECT_EQ(generator.next(), 6457827717110365317U);
  EXPECT_EQ(generator.next(), 3203168211198807973U);
  EXPECT_EQ(generator.next(), 9817491932198370423U);
}

TEST(Trace, LengthsAddUpToTheOperations) {
  const Workload workload = small("workloada");
  EXPECT_EQ(trace_length(workload, 0), 10'001U);
  EXPECT_EQ(trace_length(workload, 4), 10'001U);
  EXPECT_EQ(trace_length(workload, 5), 10'000U);
  EXPECT_EQ(generate_trace(workload, 4).size(), 10'001U);
  EXPECT_EQ(generate_trace(workload, 7).size(), 10'000U);
}

TEST(Trace, IsReproducibleAndDependsOnSeedRoundAndClient) {
  Workload workload = small("workloada");
  const auto trace = generate_trace(workload, 1);
  EXPECT_EQ(generate_trace(workload, 1), trace);
  EXPECT_NE(generate_trace(workload, 0), trace);
  ++workload.round;
  EXPECT_NE(generate_trace(workload, 1), trace);
  --workload.round;
  ++workload.seed;
  EXPECT_NE(generate_trace(workload, 1), trace);
}

TEST(Trace, MixesFollowTheProfiles) {
  // 10,001 operations: three standard deviations of a share of one half are 0.015.
  EXPECT_NEAR(share(generate_trace(small("workloada"), 0), OperationType::kGet), 0.5, 0.02);
  EXPECT_NEAR(share(generate_trace(small("workloadb"), 0), OperationType::kGet), 0.95, 0.01);
  EXPECT_EQ(share(generate_trace(small("workloadc"), 0), OperationType::kGet), 1);
  EXPECT_NEAR(share(generate_trace(small("workloadd"), 0), OperationType::kPut), 0.05, 0.01);
  // A read-modify-write is two records: of three records two are GETs.
  EXPECT_NEAR(share(generate_trace(small("workloadf"), 0), OperationType::kGet), 2.0 / 3, 0.02);
  EXPECT_EQ(share(generate_trace(small("synthetic"), 0), OperationType::kPut), 1);
}

TEST(Trace, ReadModifyWritePutsTheKeyItRead) {
  const auto trace = generate_trace(small("workloadf"), 0);
  ASSERT_EQ(trace.front().type, OperationType::kGet);
  for (std::size_t i = 1; i < trace.size(); ++i) {
    if (trace[i].type != OperationType::kPut) continue;
    EXPECT_EQ(trace[i - 1].type, OperationType::kGet);
    EXPECT_EQ(trace[i - 1].key, trace[i].key);
  }
}

TEST(Trace, LoadInsertsEveryRecordOnce) {
  Workload workload = small("workload-load");
  workload.operations = workload.records;
  std::set<KeyId> keys;
  for (unsigned client = 0; client < workload.clients; ++client) {
    for (const Operation& operation : generate_trace(workload, client)) {
      EXPECT_EQ(operation.type, OperationType::kPut);
      EXPECT_TRUE(keys.insert(operation.key).second);
    }
  }
  std::set<KeyId> expected;
  for (std::uint64_t number = 0; number < workload.records; ++number)
    expected.insert(key_id(number));
  EXPECT_EQ(keys, expected);
}

TEST(Trace, ClientsInsertDisjointNewKeys) {
  const Workload workload = small("workloadd");
  std::set<KeyId> existing;
  for (std::uint64_t number = 0; number < workload.records; ++number)
    existing.insert(key_id(number));
  std::set<KeyId> inserted;
  for (unsigned client = 0; client < workload.clients; ++client) {
    for (const Operation& operation : generate_trace(workload, client)) {
      if (operation.type != OperationType::kPut) continue;
      EXPECT_EQ(existing.count(operation.key), 0U);
      EXPECT_TRUE(inserted.insert(operation.key).second);
    }
  }
}

TEST(Trace, SlotsBelongToTheKeys) {
  for (const Operation& operation : generate_trace(small("uniform"), 3)) {
    ASSERT_EQ(operation.slot, slot_of(operation.key));
  }
}

TEST(Trace, OneRecordIsEnough) {
  for (const Workload& profile : profiles()) {
    if (profile.name == "workloade") continue;
    Workload workload = profile;
    workload.records = 1;
    workload.clients = 2;
    workload.operations = 1000;
    EXPECT_EQ(generate_trace(workload, 1).size(), 500U) << profile.name;
  }
}

TEST(Trace, WhatCannotRunIsRefused) {
  EXPECT_THROW(generate_trace(small("workloade"), 0), CommandError);
  EXPECT_THROW(generate_trace(small("workloada"), 8), CommandError);
}

}  // namespace
}  // namespace turntable::workload
