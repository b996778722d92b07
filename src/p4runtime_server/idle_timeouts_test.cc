#include "p4runtime_server/idle_timeouts.h"

#include <gtest/gtest.h>

namespace turntable::p4runtime_server {
namespace {

// A time-out of 50 ns; looks at 200, 400, …: what is idle for so long was last hit so long before.
constexpr std::int64_t kTimeoutNs = 50;

bool look(RunOuts& run_outs, std::uint64_t now_ns, std::uint64_t last_hit_ns) {
  const auto idle_ns = static_cast<std::int64_t>(now_ns - last_hit_ns);
  const bool has_run_out = run_outs.add("entry", {idle_ns, last_hit_ns}, kTimeoutNs);
  run_outs.end_look();
  return has_run_out;
}

TEST(RunOuts, AnEntryIsToldOfEachTimeThatItsTimeoutRunsOut) {
  RunOuts run_outs;
  EXPECT_FALSE(look(run_outs, 200, 190));
  EXPECT_TRUE(look(run_outs, 245, 190));
  EXPECT_FALSE(look(run_outs, 250, 190)) << "as often as before";
  EXPECT_TRUE(look(run_outs, 290, 190)) << "twice";
}

TEST(RunOuts, AHitBetweenTwoLooksBeginsAnew) {
  RunOuts run_outs;
  EXPECT_TRUE(look(run_outs, 200, 100));
  EXPECT_TRUE(look(run_outs, 400, 340)) << "idle for a shorter time, and less often";
  EXPECT_TRUE(look(run_outs, 600, 540)) << "idle for as long, and as often";
  EXPECT_TRUE(look(run_outs, 800, 720)) << "idle for longer, and as often";
}

TEST(RunOuts, WhatWasNotIdleAtTheLastLookIsForgotten) {
  RunOuts run_outs;
  EXPECT_TRUE(look(run_outs, 200, 100));
  run_outs.end_look();
  EXPECT_TRUE(look(run_outs, 600, 100)) << "deleted and there again";
}

}  // namespace
}  // namespace turntable::p4runtime_server
