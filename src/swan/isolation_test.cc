// Mechanisms: what they write. Version 1 of the control groups is this machine's where it has it;
// version 2 and resctrl are files, so their code ran here and no kernel has seen it.
#include "swan/isolation.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "node/testing.h"
#include "placement/testing.h"
#include "swan/cpu_times.h"
#include "swan/refusal.h"

namespace turntable::swan {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::write_file;

const Pinning kPinning{.hp = {0}, .be = {1, 2}, .be_anywhere = false};

std::string code_of(const std::function<void()>& attempt) {
  try {
    attempt();
  } catch (const CommandError& error) {
    return error.code();
  }
  return "no error";
}

TEST(CgroupTree, IsFoundInTheMounts) {
  const ScratchDirectory scratch;
  const auto directory = [&](const char* name) {
    fs::create_directories(scratch.path() / name);
    return (scratch.path() / name).native();
  };
  const auto found = [&](const std::string& mounts) {
    write_file(scratch.path() / "mounts", mounts);
    return find_cgroups(scratch.path() / "mounts");
  };
  const CgroupTree first =
      found("cgroup " + directory("a") + " cgroup rw,nosuid,cpu,cpuacct 0 0\ncgroup " +
            directory("b") + " cgroup rw,cpuset 0 0\nproc /proc proc rw 0 0\n");
  EXPECT_EQ(first.version, 1);
  EXPECT_FALSE(first.apart("cpu", "cpuacct"));
  EXPECT_TRUE(first.apart("cpu", "cpuset"));
  write_file(scratch.path() / "c/cgroup.controllers", "cpuset cpu io memory\n");
  const CgroupTree second = found("cgroup2 " + directory("c") + " cgroup2 rw 0 0\n");
  EXPECT_EQ(second.version, 2);
  EXPECT_EQ(second.controllers.at("cpu"), scratch.path() / "c");
  EXPECT_EQ(to_json(second)["tested"], false);
  // A container's topmost group, with processes: what is not given already is forbidden (EBUSY).
  write_file(scratch.path() / "c/cgroup.type", "domain\n");
  write_file(scratch.path() / "c/cgroup.procs", "1\n");
  write_file(scratch.path() / "c/cgroup.subtree_control", "cpu\n");
  const std::string mounts = "cgroup2 " + directory("c") + " cgroup2 rw 0 0\n";
  EXPECT_TRUE(found(mounts).has("cpu"));
  EXPECT_FALSE(found(mounts).has("cpuset"));
  write_file(scratch.path() / "c/cgroup.subtree_control", "\n");
  EXPECT_EQ(found(mounts).version, 0);
  write_file(scratch.path() / "c/cgroup.procs", "");
  EXPECT_EQ(found(mounts).version, 2);
  write_file(scratch.path() / "d/cgroup.controllers", "\n");
  const CgroupTree none = found("cgroup2 " + directory("d") + " cgroup2 rw 0 0\n");
  EXPECT_EQ(none.version, 0);
  EXPECT_EQ(to_json(none)["version"], nullptr);
}

TEST(IsolationRequest, ArgumentsAreChecked) {
  const auto request = isolation_request("test", {{"mechanism", "quota"}, {"quota_share", 0.5}});
  EXPECT_DOUBLE_EQ(request.quota_share, 0.5);
  EXPECT_THROW(isolation_request("test", {{"mechanism", "x"}}), CommandError);
  EXPECT_THROW(isolation_request("test", {{"mechanism", "nice"}, {"be_nice", 20}}), CommandError);
  EXPECT_THROW(isolation_request("test", {{"mechanism", "quota"}, {"quota_share", 0}}),
               CommandError);
}

// A hierarchy of version 2 made of files: the groups of this process are there before.
class SecondVersion : public ::testing::Test {
 protected:
  SecondVersion() {
    write_file(root() / "cgroup.controllers", "cpuset cpu\n");
    write_file(root() / "cgroup.subtree_control", "cpu\n");
    write_file(scratch_.path() / "mounts", "cgroup2 " + root().native() + " cgroup2 rw 0 0\n");
    for (const char* group : {"", "both"}) write_file(top() / group / "cgroup.subtree_control", "");
    for (const char* group : {"hp", "be", "both", "both/hp", "both/be"}) {
      for (const char* file : {"cgroup.procs", "cpu.weight", "cpu.idle", "cpu.max", "cpuset.cpus"})
        write_file(top() / group / file, "");
      write_file(top() / group / "cpu.stat", "usage_usec 5\nuser_usec 4\nsystem_usec 1\n");
    }
  }

  fs::path root() const { return scratch_.path() / "root"; }
  fs::path top() const { return root() / ("turntable.t.h." + std::to_string(::getpid())); }
  std::string value(const std::string& file) const { return read_control(top() / file); }

  Isolation isolated(const Json& request) {
    ControlGroups groups(find_cgroups(scratch_.path() / "mounts"), "t", "h");
    Resctrl resctrl(scratch_.path() / "resctrl", "x");
    return isolate(isolation_request("test", request), kPinning, groups, resctrl);
  }

  ScratchDirectory scratch_;
};

TEST_F(SecondVersion, SharesBecomeWeightsOfTheSameRatio) {
  const Isolation isolation = isolated({{"mechanism", "shares"}, {"be_shares", 2}});
  EXPECT_EQ(value("hp/cpu.weight"), "5120");
  EXPECT_EQ(value("be/cpu.weight"), "10");
  EXPECT_EQ(isolation.be.groups, std::vector<fs::path>{top() / "be"});
  EXPECT_EQ(isolation.be_account, top() / "be");
  // The root gave its groups cpu alone before; that is put back.
  EXPECT_EQ(read_control(root() / "cgroup.subtree_control"), "-cpuset");
}

TEST_F(SecondVersion, QuotaIdleAndCpusets) {
  isolated({{"mechanism", "quota"}, {"quota_share", 0.1}});
  EXPECT_EQ(value("be/cpu.max"), "20000 100000");  // of two processors
  isolated({{"mechanism", "idle"}});
  EXPECT_EQ(value("be/cpu.idle"), "1");
}

// They are scheduled as one group: only that one has the controller cpu.
TEST_F(SecondVersion, CpusetsAreBelowTheGroupThatIsScheduled) {
  const Isolation isolation = isolated({{"mechanism", "cpuset"}});
  EXPECT_EQ(value("both/be/cpuset.cpus"), "1-2");
  EXPECT_EQ(value("both/hp/cpuset.cpus"), "0");
  EXPECT_EQ(value("both/cgroup.subtree_control"), "+cpuset");
  EXPECT_EQ(isolation.hp.groups, std::vector<fs::path>{top() / "both/hp"});
  EXPECT_EQ(isolation.be_account, top() / "both/be");
}

TEST_F(SecondVersion, WithoutAMechanismThereIsOneGroupWithTwoThatAreCounted) {
  const Isolation isolation = isolated({{"mechanism", "sched_idle"}});
  EXPECT_EQ(isolation.hp.groups, std::vector<fs::path>{top() / "both/hp"});
  EXPECT_EQ(isolation.be.groups, std::vector<fs::path>{top() / "both/be"});
  EXPECT_EQ(value("both/cgroup.subtree_control"), "");
  EXPECT_EQ(isolation.be.policy, Policy::kIdle);
  ASSERT_EQ(isolation.be_account, top() / "both/be");
  EXPECT_EQ(group_times(*isolation.be_account)->total_ns, 5000);
}

TEST_F(SecondVersion, AGroupThatDoesNotCountIsNoAccount) {
  write_file(top() / "both/be/cpu.stat", "nr_periods 0\n");
  EXPECT_FALSE(isolated({{"mechanism", "none"}}).be_account);
}

// Debian's and Red Hat's usual mount: what is scheduled together is counted together.
TEST(FirstVersionOfFiles, OneHierarchyOfCpuAndCpuacctCountsGroupsBesideEachOtherOnly) {
  const ScratchDirectory scratch;
  const fs::path top = scratch.path() / ("turntable.t.h." + std::to_string(::getpid()));
  for (const char* group : {"hp", "be", "both"}) {
    for (const char* file : {"cgroup.procs", "cpu.shares"}) write_file(top / group / file, "");
    write_file(top / group / "cpuacct.usage", "7\n");
  }
  ControlGroups groups(
      {.version = 1, .controllers = {{"cpu", scratch.path()}, {"cpuacct", scratch.path()}}}, "t",
      "h");
  Resctrl resctrl(scratch.path() / "resctrl", "x");
  const auto account = [&](const char* mechanism) {
    return isolate(isolation_request("test", {{"mechanism", mechanism}}), kPinning, groups, resctrl)
        .be_account;
  };
  EXPECT_EQ(account("shares"), top / "be");
  EXPECT_FALSE(account("none"));
}

// The kernel's answer to a group that wants more than the one above has is EINVAL, each time.
TEST(FirstVersionOfFiles, WhatTheGroupAboveForbidsIsUnsupported) {
  const ScratchDirectory scratch;
  const fs::path& above = scratch.path();
  const fs::path top = above / ("turntable.t.h." + std::to_string(::getpid()));
  for (const char* group : {"", "hp", "be"}) {
    write_file(top / group / "cpu.rt_period_us", "1000000\n");
    for (const char* file : {"cpu.rt_runtime_us", "cpu.cfs_period_us", "cpu.cfs_quota_us"})
      write_file(top / group / file, "");
  }
  write_file(above / "cpu.cfs_period_us", "50000\n");
  ControlGroups groups({.version = 1, .controllers = {{"cpu", above}}}, "t", "h");
  Resctrl resctrl(above / "resctrl", "x");
  const auto answer = [&](const Json& request, const char* file, const char* has) {
    write_file(above / file, has);
    try {
      isolate(isolation_request("test", request), kPinning, groups, resctrl);
    } catch (const CommandError& error) {
      return error.code() + ": " + error.what();
    }
    return std::string("done");
  };
  const Json fifo = {{"mechanism", "fifo"}, {"rt_runtime_share", 0.9}};
  EXPECT_EQ(answer(fifo, "cpu.rt_runtime_us", "950000\n"), "done");
  EXPECT_EQ(answer(fifo, "cpu.rt_runtime_us", "-1\n"), "done");
  EXPECT_EQ(answer(fifo, "cpu.rt_runtime_us", "0\n"),
            "unsupported: " + (above / "cpu.rt_runtime_us").native() +
                " is 0, and groups below it may have no more; expected 900000 or more, or -1");
  const Json quota = {{"mechanism", "quota"}, {"quota_share", 0.25}};  // half of a processor
  EXPECT_EQ(answer(quota, "cpu.cfs_quota_us", "-1\n"), "done");
  EXPECT_EQ(answer(quota, "cpu.cfs_quota_us", "25000\n"), "done");
  EXPECT_TRUE(answer(quota, "cpu.cfs_quota_us", "20000\n").starts_with("unsupported: "));
}

TEST(Isolation, WithoutControlGroupsOnlySomeMechanismsWork) {
  const ScratchDirectory scratch;
  ControlGroups groups(CgroupTree{}, "t", "h");
  Resctrl resctrl(scratch.path() / "none", "x");
  const auto isolated = [&](const char* mechanism) {
    return isolate(isolation_request("test", {{"mechanism", mechanism}}), kPinning, groups,
                   resctrl);
  };
  for (const char* mechanism : {"none", "taskset", "nice", "sched_idle"}) {
    const Isolation isolation = isolated(mechanism);
    EXPECT_TRUE(isolation.hp.groups.empty());
    EXPECT_NE(to_json(isolation)["applied"].dump().find("no control group"), std::string::npos);
  }
  for (const char* mechanism : {"cpuset", "shares", "idle", "quota", "fifo", "cat", "mba"}) {
    try {
      isolated(mechanism);
      ADD_FAILURE() << mechanism;
    } catch (const CommandError& error) {
      EXPECT_EQ(error.code(), "unsupported") << mechanism;
    }
  }
}

TEST(Refusal, OnlyWhatIsForbiddenOrLackingIsForGood) {
  for (const int error : {EPERM, EACCES, EROFS, EOPNOTSUPP, ENOSYS})
    EXPECT_STREQ(code_of_refusal(error), "unsupported") << std::strerror(error);
  for (const int error : {EINVAL, EBUSY, ENOENT, ENODEV, ENOSPC, ESRCH, EAGAIN, EINTR, ENOMEM})
    EXPECT_STREQ(code_of_refusal(error), "unavailable") << std::strerror(error);
}

// Each is refused with an errno that may be another the next time.
TEST(Refusal, WhatMayPassIsUnavailable) {
  const ScratchDirectory scratch;
  const fs::path gone = scratch.path() / "gone";
  ControlGroups groups(CgroupTree{.version = 1, .controllers = {{"cpu", gone}}}, "t", "h");
  EXPECT_EQ(code_of([&] { groups.make("cpu", "be"); }), "unavailable");
  write_file(scratch.path() / "info/L3/cbm_mask", "7ff\n");
  Resctrl resctrl(scratch.path(), "gone/x");
  EXPECT_EQ(code_of([&] { resctrl.give_ways("be", 3); }), "unavailable");
  constexpr int kNoSuchProcessor = 4095;
  EXPECT_EQ(code_of([&] { pin(::getpid(), {kNoSuchProcessor}); }), "unavailable");  // EINVAL
}

TEST(Resctrl, WaysAndBandwidthAreWrittenForAllDomains) {
  const ScratchDirectory scratch;
  const fs::path& root = scratch.path();
  write_file(root / "info/L3/cbm_mask", "7ff\n");
  write_file(root / "info/L3/min_cbm_bits", "1\n");
  write_file(root / "info/MB/min_bandwidth", "10\n");
  write_file(root / "schemata", "    MB:0=100;1=100\n    L3:0=7ff;1=7ff\n");
  for (const char* job : {"hp", "be"})
    write_file(root / ("x." + std::string(job)) / "schemata", "");
  ControlGroups groups(CgroupTree{}, "t", "h");
  Resctrl resctrl(root, "x");
  const auto isolated = [&](const Json& request) {
    return isolate(isolation_request("test", request), kPinning, groups, resctrl);
  };
  const Isolation cat = isolated({{"mechanism", "cat"}, {"cat_ways", 2}});
  EXPECT_EQ(read_control(root / "x.be/schemata"), "L3:0=3;1=3");
  EXPECT_EQ(read_control(root / "x.hp/schemata"), "L3:0=7fc;1=7fc");
  EXPECT_EQ(cat.be.groups, std::vector<fs::path>{root / "x.be"});
  isolated({{"mechanism", "mba"}, {"mba_percent", 20}});
  EXPECT_EQ(read_control(root / "x.be/schemata"), "MB:0=20;1=20");
  // What this machine cannot do is refused, and other cells are measured.
  const auto code = [&](const Json& request) { return code_of([&] { isolated(request); }); };
  EXPECT_EQ(code({{"mechanism", "cat"}, {"cat_ways", 11}}), "unsupported");
  EXPECT_EQ(code({{"mechanism", "mba"}, {"mba_percent", 9}}), "unsupported");
  EXPECT_EQ(resctrl.description(), (Json{{"cat", true}, {"mba", true}, {"why", ""}}));
  // As AMD's processors have it: units of 1/8 GB/s, 2048 of them without a limit.
  write_file(root / "schemata", "    MB:0=2048;1=2048\n    L3:0=7ff;1=7ff\n");
  EXPECT_EQ(code({{"mechanism", "mba"}, {"mba_percent", 20}}), "unsupported");
}

TEST(ProcessSettings, AreAppliedToAProcessAndToWhatIsStarted) {
  ProcessSettings settings{.groups = {}, .cpus = {allowed_cpus().back()}, .nice = 5};
  settings.policy = Policy::kIdle;
  const auto words = started_with(settings, "/x/colocator", {"sleep", "1"});
  EXPECT_EQ(words.size(), 5U);
  EXPECT_EQ(words[1], "enter");
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  apply(settings, child);
  cpu_set_t set;
  ASSERT_EQ(::sched_getaffinity(child, sizeof(set), &set), 0);
  EXPECT_EQ(CPU_COUNT(&set), 1);
  EXPECT_EQ(::sched_getscheduler(child), SCHED_IDLE);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_NO_THROW(apply(settings, child));  // it has ended
  ProcessSettings impossible;
  impossible.cpus = {4000};
  EXPECT_THROW(apply(impossible, ::getpid()), CommandError);
}

}  // namespace
}  // namespace turntable::swan
