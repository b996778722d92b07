// Questions to servers that may be gone.

#include "shadowfax/server/source_logs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

namespace turntable::shadowfax {
namespace {

using namespace std::chrono_literals;
using Found = hybridlog::OtherLogs::Found;

// It is looked for, and others that ask it do not wait for that.
TEST(SourceLogs, NobodyWaitsForLongForAServerThatIsGone) {
  const hybridlog::Indirection at{};
  std::atomic<bool> is_looked_for{false}, ends{false};
  std::atomic<int> looks{0};
  SourceLogs logs;
  logs.begin({.connect = [&](ServerNumber) -> std::unique_ptr<Asking> {
                is_looked_for = true;
                ++looks;
                while (!ends) std::this_thread::yield();
                throw NoAnswer("nobody is there");
              },
              .gone_time = 0ns,
              .between_looks = 1h,
              .at_step = [](const char*) {}});
  const auto first = logs.read(at, 1);
  while (!is_looked_for) std::this_thread::yield();
  const auto second = logs.read(at, 2);
  EXPECT_TRUE(second->is_done());
  EXPECT_EQ(second->found, Found::kError);
  EXPECT_FALSE(logs.are_silent(0ns));
  ends = true;
  while (!first->is_done()) std::this_thread::yield();
  EXPECT_EQ(first->found, Found::kError);
  // Nor for the next look, which each would begin.
  const int before = looks;
  for (std::uint64_t key = 3; key < 1'000; ++key) {
    const auto next = logs.read(at, key);
    EXPECT_TRUE(next->is_done());
    EXPECT_EQ(next->found, Found::kError);
  }
  EXPECT_EQ(looks, before);
}

}  // namespace
}  // namespace turntable::shadowfax
