#include "farreach/kv/open_order.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "farreach/kv/testing.h"

namespace turntable::kv {
namespace {

class OpenOrderTest : public ::testing::Test {
 protected:
  Traces traces_{testing::small_workload(), 0, 4, testing::kNotCancelled};
  Replay replay_{traces_, 4, std::vector{1U, 2U}};
};

TEST_F(OpenOrderTest, ClientsTakeTurnsAndTracesLoop) {
  const OpenOrder order({.first_client = 1, .clients = 2, .first_global_client = 0}, replay_);
  const std::size_t sizes[] = {replay_.of(1).size(), replay_.of(2).size()};
  for (std::uint64_t number = 0; number < 4 * sizes[0]; ++number) {
    const auto trace = replay_.of(1 + number % 2);
    EXPECT_EQ(order.at(number).operation.key, trace[(number / 2) % trace.size()].key);
  }
}

TEST_F(OpenOrderTest, IterationsBeginAtTheirOwnPlaces) {
  const Replay replay(traces_, 4, std::vector{1U, 2U}, {}, 0.25);
  const OpenOrder order({.first_client = 3, .clients = 1, .first_global_client = 0}, replay);
  const auto trace = replay.of(3);
  EXPECT_EQ(order.at(0).operation.key, trace[trace.size() / 4].key);
  EXPECT_EQ(order.at(trace.size()).operation.key, trace[trace.size() / 4].key);
}

TEST_F(OpenOrderTest, EveryRequestWritesAValueOfItsOwn) {
  std::set<std::uint64_t> versions;
  for (const std::size_t first : {0U, 2U}) {
    const OpenOrder order({.first_client = first, .clients = 2, .first_global_client = 8}, replay_);
    for (std::uint64_t number = 0; number < 1000; ++number)
      EXPECT_TRUE(versions.insert(order.at(number).version).second) << number;
  }
  EXPECT_EQ(versions.count(0), 0U);  // that of what was loaded
}

TEST_F(OpenOrderTest, ClientsWithoutOperationsAreLeftOut) {
  // 64 partitions: some of four clients' few operations touch none of one of them.
  const Traces few(
      workload::workload_from_json(
          {{"name", "workloada"}, {"records", 10'000}, {"clients", 4}, {"operations", 40}}),
      0, 4, testing::kNotCancelled);
  std::size_t idle = 0, empty = 0;
  for (unsigned partition = 0; partition < 64; ++partition) {
    const Replay replay(few, 64, std::vector{partition});
    const OpenOrder order({.first_client = 0, .clients = 4, .first_global_client = 0}, replay);
    if (order.empty()) {
      ++empty;
      continue;
    }
    std::multiset<workload::KeyId> sent, all;
    for (std::size_t client = 0; client < 4; ++client) {
      if (replay.of(client).empty()) ++idle;
      for (const auto& operation : replay.of(client)) all.insert(operation.key);
    }
    for (std::uint64_t number = 0; number < 4; ++number)
      EXPECT_TRUE(all.contains(order.at(number).operation.key));
  }
  EXPECT_GT(idle, 0U);
  EXPECT_GT(empty, 0U);
}

TEST(OpenOrder, ThreadsTakeTurnsAtARecordedTrace) {
  const ScratchDirectory directory;
  std::string lines;
  for (int i = 0; i < 10; ++i) lines += "user" + std::to_string(i) + ",get,8\n";

  const Traces traces(testing::recorded_workload(directory.path() / "trace.csv", lines, 4), 0, 4,
                      testing::kNotCancelled);
  const Replay replay(traces, 1, std::vector<unsigned>{0}, {}, 0.5);
  // One thread of three clients, and one of the fourth, both from the middle of the trace on.
  const OpenOrder three({.first_client = 0, .clients = 3, .first_global_client = 0}, replay);
  const OpenOrder one({.first_client = 3, .clients = 1, .first_global_client = 0}, replay);
  std::vector<workload::KeyId> of_three, of_one;
  std::set<std::uint64_t> versions;
  for (std::uint64_t number = 0; number < 6; ++number) {
    of_three.push_back(three.at(number).operation.key);
    of_one.push_back(one.at(number).operation.key);
    versions.insert({three.at(number).version, one.at(number).version});
  }
  EXPECT_EQ(of_three, (std::vector<workload::KeyId>{5, 6, 7, 9, 0, 1}));
  EXPECT_EQ(of_one, (std::vector<workload::KeyId>{8, 2, 6, 0, 4, 8}));
  EXPECT_EQ(versions.size(), 12u);
}

}  // namespace
}  // namespace turntable::kv
