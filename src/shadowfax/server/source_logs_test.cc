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
  SourceLogs logs;
  logs.begin({.connect = [&](ServerNumber) -> std::unique_ptr<Asking> {
                is_looked_for = true;
                while (!ends) std::this_thread::yield();
                throw NoAnswer("nobody is there");
              },
              .gone_time = 0ns,
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
}

}  // namespace
}  // namespace turntable::shadowfax
