#include "farreach/kv/replay.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <nlohmann/json.hpp>

#include "farreach/kv/testing.h"

namespace turntable::kv {
namespace {

// As the reference §5.2 has it, from the wire bytes and zlib.
unsigned partition_by_hand(workload::KeyId key, unsigned scale) {
  const auto wire = workload::wire_key(key);
  return static_cast<unsigned>(crc32(0, wire.data(), wire.size()) % 32768 / (32768 / scale));
}

TEST(ReplayTest, KeepsTheOperationsOfTheRunningPartitionsInOrder) {
  const auto workload = testing::small_workload();
  const Traces traces(workload, 1, 2, testing::kNotCancelled);
  const std::vector<unsigned> partitions = {3, 1};
  const Replay replay(traces, 4, partitions);
  ASSERT_EQ(replay.clients(), 2u);
  std::size_t total = 0;
  for (unsigned client = 0; client < 2; ++client) {
    struct Kept {
      workload::KeyId key;
      unsigned running;
      workload::OperationType type;
    };
    std::vector<Kept> expected;
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

TEST(ReplayTest, PiecesOfTheTracesTogetherAreTheWhole) {
  const Traces traces(testing::small_workload(), 0, 2, testing::kNotCancelled);
  std::vector<std::size_t> firsts;
  for (const double begin : {0.0, 0.25, 0.5, 0.75}) {
    const Replay replay(traces, 1, std::vector<unsigned>{0}, {}, begin);
    firsts.push_back(replay.first(1));
  }
  const std::size_t size = traces.all()[1].size();
  EXPECT_EQ(firsts, (std::vector<std::size_t>{0, size / 4, size / 2, size * 3 / 4}));
}

TEST(ReplayTest, AClientWithoutOperationsIsEmpty) {
  // One operation per client: at scale 32,768 hardly any touches a given partition.
  const auto workload = workload::workload_from_json(
      {{"name", "uniform"}, {"records", 1000}, {"clients", 8}, {"operations", 8}});
  const Traces traces(workload, 0, 8, testing::kNotCancelled);
  const auto first = workload::generate_trace(workload, 0).front();
  const Replay replay(traces, 32768, std::vector<unsigned>{first.slot});
  EXPECT_EQ(replay.of(0).size(), 1u);
  EXPECT_TRUE(replay.of(1).empty());
  EXPECT_EQ(replay.running_index(first.key), 0);
}

TEST(ReplayTest, RecordedOperationsSayHowLongValuesAre) {
  const ScratchDirectory directory;
  const Traces traces(
      testing::recorded_workload(directory.path() / "trace.csv",
                                 "a,put,300\nb,get,12\na,get,\nc,put,1412\nc,get,\nc,put,1\n", 1),
      0, 1, testing::kNotCancelled);
  const Replay replay(traces, 1, std::vector<unsigned>{0});
  const auto operations = replay.of(0);
  ASSERT_EQ(operations.size(), 6u);
  EXPECT_EQ(replay.bytes_of(operations[0], 128), 300u);
  EXPECT_EQ(replay.bytes_of(operations[3], 128), 1412u);
  EXPECT_TRUE(replay.is_size_of(operations[1], 12, 128));
  EXPECT_FALSE(replay.is_size_of(operations[1], 128, 128));
  EXPECT_FALSE(replay.is_size_of(operations[2], 299, 128));
  EXPECT_TRUE(replay.is_size_of(operations[4], 1, 128));  // values of two sizes are written
  EXPECT_TRUE(replay.is_size_of(operations[4], 1412, 128));
}

TEST(ReplayTest, ClientsShareARecordedTraceInItsOrder) {
  const ScratchDirectory directory;
  std::string lines;
  for (int i = 0; i < 10; ++i) lines += "user" + std::to_string(i) + ",get,8\n";
  const auto workload = testing::recorded_workload(directory.path() / "trace.csv", lines, 4);
  // The second half of four clients: every third and fourth line.
  const Traces traces(workload, 2, 2, testing::kNotCancelled);
  const Replay replay(traces, 1, std::vector<unsigned>{0});
  std::vector<workload::KeyId> taken;
  taken.reserve(6);
  for (int i = 0; i < 6; ++i) taken.push_back(replay.take().key);
  EXPECT_EQ(taken, (std::vector<workload::KeyId>{2, 3, 6, 7, 2, 3}));
  EXPECT_EQ(replay.of(0).size(), 4u);
  EXPECT_EQ(replay.of(1).size(), 4u);
  EXPECT_EQ(replay.clients(), 2u);
}

TEST(ReplayTest, WhereHotKeysChangeAnySizeIsRight) {
  const ScratchDirectory directory;
  const auto workload = testing::recorded_workload(directory.path() / "trace.csv",
                                                   "user1,put,10\nuser1,get,10\nuser2,get,20\n", 1);
  const Traces traces(workload, 0, 1, testing::kNotCancelled);
  // From the next period on requests for 1 are for 2, with the sizes of 1.
  Replay replay(traces, 1, std::vector<unsigned>{0}, {{1}, {2}});
  replay.popularity()->begin_period(1);
  const ReplayOperation put = replay.now(replay.of(0)[0]);
  EXPECT_EQ(put.key, 2u);
  EXPECT_EQ(replay.bytes_of(put, 128), 10u);
  for (const std::size_t bytes : {10U, 20U}) {
    EXPECT_TRUE(replay.is_size_of(replay.now(replay.of(0)[1]), bytes, 128));
    EXPECT_TRUE(replay.is_size_of(replay.now(replay.of(0)[2]), bytes, 128));
  }
}

TEST(ReplayTest, MadeUpOperationsHaveTheSizeOfTheWorkload) {
  const Traces traces(testing::small_workload(), 0, 1, testing::kNotCancelled);
  const Replay replay(traces, 1, std::vector<unsigned>{0});
  EXPECT_EQ(replay.bytes_of(replay.of(0)[0], 128), 128u);
  EXPECT_TRUE(replay.is_size_of(replay.of(0)[0], 128, 128));
  EXPECT_FALSE(replay.is_size_of(replay.of(0)[0], 127, 128));
}

TEST(TracesTest, KnowWhatTheyWereMadeFor) {
  auto workload = testing::small_workload();
  const Traces traces(workload, 1, 2, testing::kNotCancelled);
  EXPECT_TRUE(traces.are(workload, 1, 2));
  EXPECT_FALSE(traces.are(workload, 0, 2));
  EXPECT_FALSE(traces.are(workload, 1, 3));
  ++workload.round;
  EXPECT_FALSE(traces.are(workload, 1, 2));
}

}  // namespace
}  // namespace turntable::kv
