// Groups of this machine's version 1, and what is left of them when their owner is killed; version
// 2 and resctrl as files.
#include "swan/control_groups.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "common/command_error.h"
#include "node/testing.h"
#include "placement/testing.h"
#include "swan/guardian.h"
#include "swan/isolation.h"

namespace turntable::swan {
namespace {

namespace fs = std::filesystem;
using node::testing::eventually;
using node::testing::is_running;
using testing::write_file;

class FirstVersion : public ::testing::Test {
 protected:
  void SetUp() override {
    tree_ = find_cgroups();
    if (::geteuid() != 0 || tree_.version != 1)
      GTEST_SKIP() << "needs root and control groups of version 1 that may be written";
    testbed_ = "test-" + std::to_string(::getpid());
  }

  // A child that waits.
  static pid_t waiting_child() {
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    ::pause();
    ::_exit(0);
  }

  static void end(pid_t pid) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }

  static bool in(const fs::path& group, pid_t pid) {
    const auto members = members_of(group);
    return std::find(members.begin(), members.end(), pid) != members.end();
  }

  CgroupTree tree_;
  std::string testbed_;
};

TEST_F(FirstVersion, GroupsAreMadeAndClearedWithTheirMembersMovedOut) {
  ControlGroups groups(tree_, testbed_, "a.b");
  const fs::path group = groups.make("cpu", "be");
  EXPECT_EQ(group.parent_path().filename(),
            "turntable." + testbed_ + ".a_b." + std::to_string(::getpid()));
  const pid_t child = waiting_child();
  write_control(group / "cgroup.procs", std::to_string(child));
  EXPECT_TRUE(in(group, child));
  groups.clear();
  EXPECT_FALSE(fs::exists(group.parent_path()));
  EXPECT_TRUE(is_running(child));
  end(child);
}

// A process that has ended, a value that is refused, and a group that is gone are no fault of the
// machine's; a file that is not there is.
TEST_F(FirstVersion, OnlyWhatTheMachineCannotDoIsUnsupported) {
  ControlGroups groups(tree_, testbed_, "h");
  const fs::path group = groups.make("cpu", "be");
  const pid_t ended = waiting_child();
  end(ended);
  const auto code_of = [](const fs::path& file, const std::string& text) {
    try {
      write_control(file, text);
    } catch (const CommandError& error) {
      return error.code();
    }
    return std::string("no error");
  };
  EXPECT_EQ(code_of(group / "cgroup.procs", std::to_string(ended)), "unavailable");
  EXPECT_EQ(code_of(group / "cpu.shares", "no number"), "unavailable");  // EINVAL
  EXPECT_EQ(code_of(group.parent_path() / "gone/cpu.shares", "2"), "unavailable");
  EXPECT_EQ(code_of(group / "cpu.no_such_thing", "1"), "unsupported");
}

TEST_F(FirstVersion, OnlyGroupsOfTheDeadAreStale) {
  ControlGroups alive(tree_, testbed_, "h");
  const fs::path kept = alive.make("cpu", "hp");
  const fs::path root = tree_.controllers.at("cpu");
  const fs::path dead = root / ("turntable." + testbed_ + ".h.1");
  const fs::path another = root / ("turntable." + testbed_ + ".other.1");
  fs::create_directories(dead / "be");
  fs::create_directories(another);
  const pid_t child = waiting_child();
  write_control(dead / "be/cgroup.procs", std::to_string(child));
  ControlGroups next(tree_, testbed_, "h");
  EXPECT_EQ(next.remove_stale(), std::vector<std::string>{dead});
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(kept) && fs::exists(another));
  EXPECT_EQ(destroy_group(another, Deadline::after_seconds(5)), "");
  ::waitpid(child, nullptr, 0);
}

TEST_F(FirstVersion, TheGuardianOutlivesItsKilledOwner) {
  const fs::path group = [&] {
    const pid_t owner = ::fork();
    if (owner == 0) {
      const pid_t worker = waiting_child();  // before: it must not hold the guardian's pipe
      ControlGroups groups(tree_, testbed_, "killed");
      const Guardian guardian(TURNTABLE_COLOCATOR, groups.directories(), {});
      const fs::path made = groups.make("cpu", "be");
      write_control(made / "cgroup.procs", std::to_string(worker));
      ::pause();
      ::_exit(0);
    }
    fs::path made = tree_.controllers.at("cpu") /
                    ("turntable." + testbed_ + ".killed." + std::to_string(owner)) / "be";
    EXPECT_TRUE(eventually([&] { return !members_of(made).empty(); }));
    end(owner);
    return made;
  }();
  EXPECT_TRUE(eventually([&] { return !fs::exists(group.parent_path()); }));
}

// Version 2 and resctrl made of files, in whose groups no kernel puts any. So what an owner has
// made can be removed, but for the file that says what the root's groups have.
class OfFiles : public ::testing::Test {
 protected:
  // Makes groups of both and waits to be killed.
  pid_t start_owner(const std::string& enabled) {
    write_file(control(), enabled + "\n");
    fs::create_directories(resctrl());
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    ControlGroups groups({.version = 2, .controllers = {{"cpu", root()}}}, "t", "h");
    Resctrl resctrl(this->resctrl(), groups.directories().front().filename());
    Guardian guardian(TURNTABLE_COLOCATOR, groups.directories(), resctrl.directories());
    groups.on_change(
        [&](const auto& control, const auto& undo) { guardian.undo_with(control, undo); });
    write_file(this->resctrl() / "info/MB/min_bandwidth", "10\n");
    // Neither finds the kernel's files in the directory that it has just made.
    EXPECT_THROW(groups.make("cpu", "be"), CommandError);
    EXPECT_THROW(resctrl.give_bandwidth("be", 10), CommandError);
    ::pause();
    ::_exit(0);
  }

  fs::path group(pid_t owner) const { return root() / ("turntable.t.h." + std::to_string(owner)); }
  fs::path bandwidth(pid_t owner) const {
    return resctrl() / (group(owner).filename().native() + ".be");
  }
  void kill_when_it_has_made_both(pid_t owner) const {
    EXPECT_TRUE(
        eventually([&] { return fs::exists(group(owner)) && fs::exists(bandwidth(owner)); }));
    ::kill(owner, SIGKILL);
    ::waitpid(owner, nullptr, 0);
    EXPECT_TRUE(
        eventually([&] { return !fs::exists(group(owner)) && !fs::exists(bandwidth(owner)); }));
  }

  fs::path root() const { return scratch_.path() / "root"; }
  fs::path control() const { return root() / "cgroup.subtree_control"; }
  fs::path resctrl() const { return scratch_.path() / "resctrl"; }

  ScratchDirectory scratch_;
};

TEST_F(OfFiles, TheGuardianTakesBackWhatItsKilledOwnerHasGivenToTheRootsGroups) {
  kill_when_it_has_made_both(start_owner("memory"));
  EXPECT_TRUE(eventually([&] { return read_control(control()) == "-cpu"; }));
}

TEST_F(OfFiles, WhatTheRootHadGivenBeforeStays) {
  kill_when_it_has_made_both(start_owner("cpu memory"));
  EXPECT_EQ(read_control(control()), "cpu memory");
}

TEST_F(OfFiles, DirectoriesOfResctrlThatNoGuardianHasRemovedGoWithTheNextOwner) {
  write_file(resctrl() / "info/MB/min_bandwidth", "10\n");
  Resctrl alive(resctrl(), "turntable.t.h.11");
  EXPECT_THROW(alive.give_bandwidth("hp", 10), CommandError);  // schemata is no file
  for (const char* name : {"turntable.t.h.9.hp", "turntable.t.h.9.be", "turntable.t.other.9.be",
                           "turntable.t.h.9.mine", "mon_groups"})
    fs::create_directories(resctrl() / name);
  auto removed = Resctrl(resctrl(), "turntable.t.h.12").remove_stale();
  std::sort(removed.begin(), removed.end());
  EXPECT_EQ(removed, (std::vector<fs::path>{resctrl() / "turntable.t.h.9.be",
                                            resctrl() / "turntable.t.h.9.hp"}));
  EXPECT_TRUE(fs::exists(resctrl() / "turntable.t.h.11.hp"));
  EXPECT_TRUE(fs::exists(resctrl() / "turntable.t.other.9.be"));
}

TEST_F(FirstVersion, RealtimeTimeIsThereForTheNextGroupAtOnce) {
  ControlGroups groups(tree_, testbed_, "again");
  Resctrl resctrl("/nowhere", "x");
  const IsolationRequest request{.mechanism = "fifo", .rt_runtime_share = 0.6};
  if (!fs::exists(tree_.controllers.at("cpu") / "cpu.rt_runtime_us"))
    GTEST_SKIP() << "needs RT_GROUP_SCHED";
  const pid_t child = waiting_child();
  for (int turn = 0; turn < 5; ++turn) {
    const Isolation isolation =
        isolate(request, {.hp = {0}, .be = {0}, .be_anywhere = false}, groups, resctrl);
    apply(isolation.hp, child);
    groups.clear();
  }
  apply({}, child);
  end(child);
}

TEST_F(FirstVersion, RealtimeTimeIsGivenAndTakenBack) {
  ControlGroups groups(tree_, testbed_, "fifo");
  Resctrl resctrl("/nowhere", "x");
  const IsolationRequest request{.mechanism = "fifo", .rt_runtime_share = 0.4};
  if (!fs::exists(tree_.controllers.at("cpu") / "cpu.rt_runtime_us"))
    GTEST_SKIP() << "needs RT_GROUP_SCHED";
  const Isolation isolation =
      isolate(request, {.hp = {0}, .be = {0}, .be_anywhere = false}, groups, resctrl);
  EXPECT_EQ(read_control(isolation.hp.groups.front() / "cpu.rt_runtime_us"), "400000");
  const pid_t child = waiting_child();
  apply(isolation.hp, child);
  EXPECT_EQ(::sched_getscheduler(child), SCHED_FIFO);
  apply({}, child);
  EXPECT_EQ(::sched_getscheduler(child), SCHED_OTHER);
  groups.clear();
  end(child);
}

}  // namespace
}  // namespace turntable::swan
