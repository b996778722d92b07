// Aggressors whose processor time no group counts for them: their processes are looked at.
#include "swan/subreaper.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "common/clock.h"
#include "common/command_error.h"
#include "node/testing.h"
#include "placement/testing.h"
#include "swan/aggressor.h"
#include "swan/control_groups.h"

namespace turntable::swan {
namespace {

using Json = nlohmann::json;

class Uncounted : public ::testing::Test {
 protected:
  std::unique_ptr<Aggressor> aggressor(const Json& spec,
                                       const std::vector<std::filesystem::path>& groups = {}) {
    return std::make_unique<Aggressor>(children_, aggressor_spec("test", spec),
                                       ProcessSettings{.groups = groups, .cpus = {}},
                                       Aggressor::Context{.program = TURNTABLE_COLOCATOR,
                                                          .directory = scratch_.path(),
                                                          .values = {},
                                                          .account = std::nullopt});
  }

  void settle(Aggressor& aggressor) { aggressor.settle(Deadline::after_seconds(60), cancelled_); }

  ScratchDirectory scratch_;
  node::Children children_;
  std::atomic<bool> cancelled_{false};
};

Json shell(const std::string& script, const Json& probe = {{"kind", "alive"}}) {
  return {{"name", "test"}, {"command", {"sh", "-c", script}}, {"probe", probe}};
}

// Each program of its loop runs for a few milliseconds, and every second one is an orphan. What the
// kernel counts in a group, which the aggressor is not told of, says how much it really was.
TEST_F(Uncounted, ShortLivedProcessesAndOrphansAreInItsTime) {
  const CgroupTree tree = find_cgroups();
  if (::geteuid() != 0 || !tree.apart("cpu", "cpuacct"))
    GTEST_SKIP() << "needs root and cpuacct of version 1";
  ControlGroups groups(tree, "test-" + std::to_string(::getpid()), "h");
  const auto group = groups.make("cpuacct", "be");
  const std::string work = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done";
  const std::string loop = "while :; do (sh -c '" + work + "' &) | cat; sh -c '" + work + "'; done";
  const auto job = aggressor(shell(loop, {{"kind", "cpu"}, {"seconds", 1}}), {group});
  settle(*job);
  const double before = static_cast<double>(group_times(group)->total_ns);
  const double seen = static_cast<double>(job->times().total_ns);
  const double after = static_cast<double>(group_times(group)->total_ns);
  // Ticks of 10 ms, of the user and system time of half a dozen processes.
  EXPECT_GE(seen, 0.9 * before - 1e8);
  EXPECT_LE(seen, 1.1 * after + 1e8);
  job->stop(Deadline::after_seconds(20));
  EXPECT_TRUE(members_of(group).empty());
}

TEST_F(Uncounted, TheSubreaperIsNoneOfItsProcesses) {
  const auto job = aggressor({{"name", "test"}, {"command", {"sleep", "1000"}}, {"count", 2}});
  settle(*job);
  EXPECT_EQ(job->processes(), 2U);
  EXPECT_EQ(job->ended_early(), "");
  job->stop(Deadline::after_seconds(20));
  EXPECT_EQ(job->processes(), 0U);
}

TEST_F(Uncounted, ItEndsAsItsCommandEnds) {
  const auto end_of = [&](const char* script) {
    const auto job = aggressor(shell(script, {{"kind", "line"}, {"pattern", "never"}}));
    try {
      settle(*job);
    } catch (const CommandError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_NE(end_of("exit 3").find("exited with status 3"), std::string::npos);
  EXPECT_NE(end_of("kill -9 $$").find("ended by signal 9 (Killed)"), std::string::npos);
}

TEST_F(Uncounted, StressNgIsInterruptedAndWritesItsMetrics) {
  if (node::find_program("stress-ng").empty()) GTEST_SKIP() << "needs stress-ng";
  const auto job = aggressor({{"name", "test"},
                              {"command", {"stress-ng", "--cpu", "1"}},
                              {"probe", {{"kind", "cpu"}, {"seconds", 0.2}}},
                              {"progress", {{"kind", "stress-ng"}}}});
  settle(*job);
  const CpuTimes used = job->times();
  job->stop(Deadline::after_seconds(20));
  const Json progress = job->progress(0, 1, used);
  ASSERT_TRUE(progress.is_object());
  EXPECT_GT(progress["amount"].get<double>(), 0);
}

TEST_F(Uncounted, ItsCommandEndsWithTheSubreaper) {
  const auto job = aggressor({{"name", "test"}, {"command", {"sleep", "1000"}}});
  settle(*job);
  const auto file = scratch_.path() / "pid";
  const auto other = aggressor(shell("echo $$ > " + file.native() + "; exec sleep 1000",
                                     {{"kind", "file"}, {"path", file.native()}}));
  settle(*other);
  pid_t command = 0;
  ASSERT_TRUE(node::testing::eventually([&] {
    command = std::atoi(node::testing::read_text(file).c_str());
    return command > 0;
  }));
  const std::string stat = read_control("/proc/" + std::to_string(command) + "/stat");
  pid_t subreaper = 0;
  std::istringstream(stat.substr(stat.rfind(')') + 4)) >> subreaper;
  ::kill(subreaper, SIGKILL);
  EXPECT_TRUE(node::testing::eventually([&] { return !node::testing::is_running(command); }));
  EXPECT_NE(other->ended_early(), "");
  EXPECT_EQ(job->ended_early(), "");
}

}  // namespace
}  // namespace turntable::swan
