#include "farreach/kv/replay.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <nlohmann/json.hpp>

#include "farreach/kv/testing.h"

namespace turntable::kv {
namespace {

constexpr std::atomic<bool> kNotCancelled{false};

// As the reference §5.2 has it, from the wire bytes and zlib.
unsigned partition_by_hand(workload::KeyId key, unsigned scale) {
  const auto wire = workload::wire_key(key);
  return static_cast<unsigned>(crc32(0, wire.data(), wire.size()) % 32768 / (32768 / scale));
}

TEST(ReplayTest, KeepsTheOperationsOfTheRunningPartitionsInOrder) {
  const auto workload = testing::small_workload();
  const Traces traces(workload, 1, 2, kNotCancelled);
  const std::vector<unsigned> partitions = {3, 1};
  const Replay replay(traces, 4, partitions);
  ASSERT_EQ(replay.clients(), 2u);
  std::size_t total = 0;
  for (unsigned client = 0; client < 2; ++client) {
    std::vector<ReplayOperation> expected;
    for (const auto& operation : workload::generate_trace(workload, 1 + client)) {
      const unsigned partition = partition_by_hand(operation.key, 4);
      if (partition == 3) expected.push_back({operation.key, 0, operation.type});
      if (partition == 1) expected.push_back({operation.key, 1, operation.type});
    }
    const auto kept = replay.of(client);
    ASSERT_EQ(kept.size(), expected.size());
    for (std::size_t i = 0; i < kept.size(); ++i) {
      EXPECT_EQ(kept[i].key, expected[i].key);
      EXPECT_EQ(kept[i].running, expected[i].running);
      EXPECT_EQ(kept[i].type, expected[i].type);
    }
    total += kept.size();
  }
  EXPECT_EQ(replay.operations(), total);
}

TEST(ReplayTest, AClientWithoutOperationsIsEmpty) {
  // One operation per client: at scale 32,768 hardly any touches a given partition.
  const auto workload = workload::workload_from_json(
      {{"name", "uniform"}, {"records", 1000}, {"clients", 8}, {"operations", 8}});
  const Traces traces(workload, 0, 8, kNotCancelled);
  const auto first = workload::generate_trace(workload, 0).front();
  const Replay replay(traces, 32768, std::vector<unsigned>{first.slot});
  EXPECT_EQ(replay.of(0).size(), 1u);
  EXPECT_TRUE(replay.of(1).empty());
  EXPECT_EQ(replay.running_index(first.key), 0);
}

TEST(TracesTest, KnowWhatTheyWereMadeFor) {
  auto workload = testing::small_workload();
  const Traces traces(workload, 1, 2, kNotCancelled);
  EXPECT_TRUE(traces.are(workload, 1, 2));
  EXPECT_FALSE(traces.are(workload, 0, 2));
  EXPECT_FALSE(traces.are(workload, 1, 3));
  ++workload.round;
  EXPECT_FALSE(traces.are(workload, 1, 2));
}

}  // namespace
}  // namespace turntable::kv
