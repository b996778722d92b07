// The supervisor and nodectl as programs, with nodes that behave and nodes that do not.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "node/testing.h"

namespace turntable::node {
namespace {

using Json = nlohmann::json;
using testing::eventually;
using testing::is_running;
using testing::run_program;

constexpr int kInUse = 3;      // exit status of a supervisor that finds another one
constexpr int kDismissed = 4;  // and of one whose owner was sent away

class SupervisorTest : public ::testing::Test {
 protected:
  SupervisorTest() {
    ::prctl(PR_SET_CHILD_SUBREAPER,
            1);  // what the supervisor leaves behind comes here and is reaped
  }
  void TearDown() override {
    if (supervisor_ > 0 && is_running(supervisor_)) {
      EXPECT_EQ(ask("supervisor", "shutdown")["ok"], true);
      EXPECT_FALSE(is_running(supervisor_));
    }
    while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
  }

  static Json request(const std::string& node, const std::string& command,
                      Json args = Json::object()) {
    return {{"node", node}, {"command", command}, {"args", std::move(args)}};
  }

  testing::Finished start_supervisor(const std::string& lease = "60", const Json& owner = {}) {
    std::vector<std::string> argv = {TURNTABLE_SUPERVISOR,
                                     "--directory",
                                     directory_.path(),
                                     "--testbed",
                                     "nd-test",
                                     "--host",
                                     "h1",
                                     "--lease",
                                     lease,
                                     "--daemonize"};
    if (owner.is_object()) argv.insert(argv.end(), {"--owner", owner.dump()});
    auto finished = run_program(argv);
    if (finished.status == 0) supervisor_ = ask("supervisor", "ping")["result"]["pid"];
    return finished;
  }

  testing::Finished nodectl(const Json& requests, const std::vector<std::string>& extra = {}) {
    std::vector<std::string> argv = {TURNTABLE_NODECTL, "--directory", directory_.path()};
    argv.insert(argv.end(), extra.begin(), extra.end());
    return run_program(argv, requests.dump());
  }

  Json ask(const std::string& node, const std::string& command, Json args = Json::object()) {
    const auto finished = nodectl(Json::array({request(node, command, std::move(args))}));
    return Json::parse(finished.output).at(0);
  }

  Json spawn(const std::string& name, const std::vector<std::string>& extra = {}) {
    Json argv = {TURNTABLE_TEST_NODE, "--directory", directory_.path().native(), "--name", name};
    for (const std::string& word : extra) argv.push_back(word);
    return ask("supervisor", "spawn", {{"name", name}, {"argv", argv}});
  }

  ScratchDirectory directory_;
  pid_t supervisor_ = -1;
};

TEST_F(SupervisorTest, SpawnedNodeAnswersAndCarriesTheHostsIdentity) {
  ASSERT_EQ(start_supervisor().status, 0);
  const Json spawned = spawn("a");
  ASSERT_EQ(spawned["ok"], true) << spawned;
  EXPECT_EQ(spawned["result"]["pid"], spawned["result"]["ping"]["pid"]);
  EXPECT_EQ(ask("a", "variable", {{"name", "TURNTABLE_TESTBED"}})["result"], "nd-test");
  EXPECT_EQ(ask("a", "variable", {{"name", "TURNTABLE_NODE"}})["result"], "a");
  const Json list = ask("supervisor", "list")["result"];
  EXPECT_EQ(list["testbed"], "nd-test");
  EXPECT_EQ(list["host"], "h1");
  ASSERT_EQ(list["nodes"].size(), 1);
  EXPECT_EQ(list["nodes"][0]["state"], "running");
}

TEST_F(SupervisorTest, EnvironmentOfTheRequestReachesTheNode) {
  ASSERT_EQ(start_supervisor().status, 0);
  const Json argv = {TURNTABLE_TEST_NODE, "--directory", directory_.path().native(), "--name", "e"};
  ask("supervisor", "spawn", {{"name", "e"}, {"argv", argv}, {"env", {{"COLOUR", "green"}}}});
  EXPECT_EQ(ask("e", "variable", {{"name", "COLOUR"}})["result"], "green");
}

TEST_F(SupervisorTest, InputReachesTheNodeAndIsShownNowhere) {
  ASSERT_EQ(start_supervisor().status, 0);
  const std::string secret = "not for other eyes";
  Json argv = {TURNTABLE_TEST_NODE, "--directory", directory_.path().native(), "--name", "a"};
  const Json spawned =
      ask("supervisor", "spawn", {{"name", "a"}, {"argv", argv}, {"input", secret}});
  ASSERT_EQ(spawned["ok"], true) << spawned;
  EXPECT_EQ(ask("a", "input")["result"], secret);
  EXPECT_EQ(ask("a", "input")["result"], secret) << "each opening reads from the beginning";
  const std::string process = "/proc/" + spawned["result"]["pid"].dump();
  for (const char* file : {"/cmdline", "/environ"}) {
    EXPECT_EQ(testing::read_text(process + file).find(secret), std::string::npos) << file;
  }
  EXPECT_EQ(ask("supervisor", "list").dump().find(secret), std::string::npos);
  EXPECT_EQ(testing::read_text(directory_.path() / "a.log").find(secret), std::string::npos);
}

TEST_F(SupervisorTest, RunDirectoryIsItsOwnersAlone) {
  std::filesystem::permissions(directory_.path(), std::filesystem::perms::all);
  const mode_t umask_before = ::umask(0);
  ASSERT_EQ(start_supervisor().status, 0);
  ::umask(umask_before);
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(directory_.path()).permissions(), perms::owner_all);
  EXPECT_EQ(std::filesystem::status(directory_.path() / "supervisor.sock").permissions(),
            perms::owner_read | perms::owner_write);
}

TEST_F(SupervisorTest, StopEndsTheNodeAndRecordsItsStatus) {
  ASSERT_EQ(start_supervisor().status, 0);
  const pid_t pid = spawn("a")["result"]["pid"];
  const Json stopped = ask("supervisor", "stop", {{"name", "a"}});
  EXPECT_EQ(stopped["result"]["state"], "exited") << stopped;
  EXPECT_EQ(stopped["result"]["exit_status"], 0) << "SIGTERM lets a node end in order";
  EXPECT_FALSE(is_running(pid));
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "a.sock"));
  EXPECT_EQ(ask("supervisor", "stop", {{"name", "a"}})["ok"], true) << "stopping is repeatable";
  EXPECT_EQ(ask("supervisor", "stop", {{"name", "b"}})["error"]["code"], "not_found");
  EXPECT_EQ(spawn("a")["ok"], true) << "the name is free again";
}

TEST_F(SupervisorTest, NodeThatIgnoresSigtermIsKilled) {
  ASSERT_EQ(start_supervisor().status, 0);
  const pid_t pid = spawn("deaf", {"--ignore-sigterm"})["result"]["pid"];
  ASSERT_EQ(ask("deaf", "deafen")["ok"], true);
  const Json stopped = ask("supervisor", "stop", {{"name", "deaf"}, {"deadline_s", 0.1}});
  EXPECT_EQ(stopped["result"]["exit_signal"], SIGKILL) << stopped;
  EXPECT_FALSE(is_running(pid));
}

TEST_F(SupervisorTest, NodeIsKilledWhereACrashIsWanted) {
  ASSERT_EQ(start_supervisor().status, 0);
  const pid_t pid = spawn("a")["result"]["pid"];
  EXPECT_EQ(ask("supervisor", "stop", {{"name", "a"}, {"kill", 9}})["error"]["code"],
            "bad_argument");
  EXPECT_TRUE(is_running(pid));
  const Json killed = ask("supervisor", "stop", {{"name", "a"}, {"kill", true}});
  EXPECT_EQ(killed["result"]["exit_signal"], SIGKILL) << killed;
  EXPECT_FALSE(is_running(pid));
  EXPECT_EQ(spawn("a")["ok"], true) << "the name is free again";
}

TEST_F(SupervisorTest, ProgramThatDiesAtOnceIsReportedWithItsLog) {
  ASSERT_EQ(start_supervisor().status, 0);
  const Json argv = {"/bin/sh", "-c", "echo cannot find the store >&2; exit 3"};
  const Json spawned = ask("supervisor", "spawn", {{"name", "dies"}, {"argv", argv}});
  EXPECT_EQ(spawned["error"]["code"], "unavailable");
  const std::string message = spawned["error"]["message"];
  EXPECT_NE(message.find("exited with status 3"), std::string::npos) << message;
  EXPECT_NE(message.find("cannot find the store"), std::string::npos) << message;
  EXPECT_EQ(ask("supervisor", "list")["result"]["nodes"][0]["exit_status"], 3);
}

TEST_F(SupervisorTest, LogOfAnEarlierStartIsNotQuoted) {
  ASSERT_EQ(start_supervisor().status, 0);
  const auto die_saying = [&](const std::string& word) -> std::string {
    const Json argv = {"/bin/sh", "-c", "echo $0; exit 1", word};
    const Json args = {{"name", "n"}, {"argv", argv}};
    return ask("supervisor", "spawn", args)["error"]["message"];
  };
  EXPECT_NE(die_saying("first").find("\n  first"), std::string::npos);
  const std::string second = die_saying("second");
  EXPECT_NE(second.find("\n  second"), std::string::npos) << second;
  EXPECT_EQ(second.find("\n  first"), std::string::npos) << second;
}

TEST_F(SupervisorTest, ProgramThatDoesNotExistIsAClearError) {
  ASSERT_EQ(start_supervisor().status, 0);
  const Json spawned = ask("supervisor", "spawn", {{"name", "x"}, {"argv", {"/no/such/program"}}});
  EXPECT_EQ(spawned["error"]["code"], "unavailable");
  EXPECT_NE(spawned["error"]["message"].get<std::string>().find("/no/such/program"),
            std::string::npos);
}

TEST_F(SupervisorTest, NodeThatNeverAnswersIsEndedAtTheDeadline) {
  ASSERT_EQ(start_supervisor().status, 0);
  const Json argv = {
      TURNTABLE_TEST_NODE, "--directory", directory_.path().native(), "--name", "mute", "--mute"};
  std::string message;
  // On a busy machine it may not have said anything by the first deadline.
  for (const double deadline_s : {0.2, 2.0, 20.0}) {
    const Json spawned =
        ask("supervisor", "spawn", {{"name", "mute"}, {"argv", argv}, {"deadline_s", deadline_s}});
    EXPECT_EQ(spawned["error"]["code"], "timeout");
    message = spawned["error"]["message"];
    if (message.find("mute node is up") != std::string::npos) break;
  }
  EXPECT_NE(message.find("mute node is up"), std::string::npos) << message;
  const Json node = ask("supervisor", "list")["result"]["nodes"][0];
  EXPECT_EQ(node["state"], "exited");
  EXPECT_FALSE(is_running(node["pid"]));
}

TEST_F(SupervisorTest, SpawnRefusesWhatItCannotRun) {
  ASSERT_EQ(start_supervisor().status, 0);
  const Json bad[] = {{{"argv", {"/bin/true"}}},
                      {{"name", "a"}},
                      {{"name", "a"}, {"argv", Json::array()}},
                      {{"name", "a"}, {"argv", {"relative/path"}}},
                      {{"name", "../a"}, {"argv", {"/bin/true"}}},
                      {{"name", "supervisor"}, {"argv", {"/bin/true"}}},
                      {{"name", "a"}, {"argv", {"/bin/true"}}, {"env", {{"A", 1}}}},
                      {{"name", "a"}, {"argv", {"/bin/true"}}, {"deadline_s", -1}}};
  for (const Json& args : bad)
    EXPECT_EQ(ask("supervisor", "spawn", args)["error"]["code"], "bad_argument") << args;
}

TEST_F(SupervisorTest, RunningNameIsRefused) {
  ASSERT_EQ(start_supervisor().status, 0);
  const pid_t first = spawn("a")["result"]["pid"];
  EXPECT_EQ(spawn("a")["error"]["code"], "wrong_state");
  EXPECT_TRUE(is_running(first));
}

TEST_F(SupervisorTest, ProcessesLeftByANodeAreEndedWithIt) {
  ASSERT_EQ(start_supervisor().status, 0);
  const auto pid_file = directory_.path() / "orphan.pid";
  ASSERT_EQ(spawn("parent", {"--orphan", pid_file})["ok"], true);
  ASSERT_EQ(spawn("other")["ok"], true);
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(pid_file); }));
  const pid_t orphan = std::stoi(testing::read_text(pid_file));
  ASSERT_TRUE(is_running(orphan));
  ask("supervisor", "stop", {{"name", "other"}});
  EXPECT_TRUE(is_running(orphan)) << "its node still runs";
  ask("supervisor", "stop", {{"name", "parent"}});
  EXPECT_TRUE(eventually([&] { return !is_running(orphan); }));
}

TEST_F(SupervisorTest, ShutdownEndsEverything) {
  ASSERT_EQ(start_supervisor().status, 0);
  const auto pid_file = directory_.path() / "orphan.pid";
  const pid_t a = spawn("a", {"--orphan", pid_file})["result"]["pid"];
  const pid_t b = spawn("b")["result"]["pid"];
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(pid_file); }));
  const pid_t orphan = std::stoi(testing::read_text(pid_file));
  const Json answer = ask("supervisor", "shutdown");
  EXPECT_EQ(answer["result"]["nodes"].size(), 2) << answer;
  for (const pid_t pid : {a, b, orphan, supervisor_}) EXPECT_FALSE(is_running(pid)) << pid;
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "supervisor.sock"));
}

TEST_F(SupervisorTest, ShutdownKillsWhatIgnoresSigterm) {
  ASSERT_EQ(start_supervisor().status, 0);
  const pid_t pid = spawn("deaf", {"--ignore-sigterm"})["result"]["pid"];
  ASSERT_EQ(ask("deaf", "deafen")["ok"], true);
  const Json answer = ask("supervisor", "shutdown", {{"deadline_s", 0.1}});
  EXPECT_EQ(answer["result"]["nodes"][0]["exit_signal"], SIGKILL) << answer;
  EXPECT_FALSE(is_running(pid));
  EXPECT_FALSE(is_running(supervisor_));
}

TEST_F(SupervisorTest, SigtermEndsEverything) {
  ASSERT_EQ(start_supervisor().status, 0);
  const pid_t node = spawn("a")["result"]["pid"];
  ::kill(supervisor_, SIGTERM);
  EXPECT_TRUE(eventually([&] { return !is_running(supervisor_); }));
  EXPECT_FALSE(is_running(node)) << "the supervisor is the last to go";
}

TEST_F(SupervisorTest, NodesDieWithAKilledSupervisor) {
  ASSERT_EQ(start_supervisor().status, 0);
  const pid_t a = spawn("a")["result"]["pid"];
  const pid_t deaf = spawn("deaf", {"--ignore-sigterm"})["result"]["pid"];
  ask("deaf", "deafen");
  ::kill(supervisor_, SIGKILL);
  EXPECT_TRUE(eventually([&] { return !is_running(a) && !is_running(deaf); }));
  EXPECT_EQ(start_supervisor().status, 0) << "its socket file is replaced";
}

// The kernel ends the nodes of a killed supervisor, but not what they had started.
TEST_F(SupervisorTest, NextSupervisorEndsWhatAKilledOneLeft) {
  ASSERT_EQ(start_supervisor().status, 0);
  const auto pid_file = directory_.path() / "orphan.pid";
  const pid_t parent = spawn("parent", {"--orphan", pid_file})["result"]["pid"];
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(pid_file); }));
  const pid_t orphan = std::stoi(testing::read_text(pid_file));

  // The same testbed and host, but of a supervisor in another directory: it may well be alive.
  const pid_t bystander = ::fork();
  if (bystander == 0) {
    ::execl("/usr/bin/env", "env", "TURNTABLE_TESTBED=nd-test", "TURNTABLE_HOST=h1",
            "TURNTABLE_RUN_DIR=/elsewhere", "sleep", "600", static_cast<char*>(nullptr));
    ::_exit(127);
  }

  ::kill(supervisor_, SIGKILL);
  ASSERT_TRUE(eventually([&] { return !is_running(parent) && !is_running(supervisor_); }));
  ASSERT_TRUE(is_running(orphan));
  ASSERT_EQ(start_supervisor().status, 0);
  EXPECT_FALSE(is_running(orphan));
  EXPECT_TRUE(is_running(bystander));
  const std::string log = testing::read_text(directory_.path() / "supervisor.log");
  EXPECT_NE(log.find("pid " + std::to_string(orphan)), std::string::npos) << log;
  ::kill(bystander, SIGKILL);
}

TEST_F(SupervisorTest, StopAllEndsNodesAndKeepsTheHost) {
  ASSERT_EQ(start_supervisor().status, 0);
  const auto pid_file = directory_.path() / "orphan.pid";
  const pid_t a = spawn("a", {"--orphan", pid_file})["result"]["pid"];
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(pid_file); }));
  const pid_t orphan = std::stoi(testing::read_text(pid_file));
  EXPECT_EQ(ask("supervisor", "stop_all")["result"]["nodes"][0]["state"], "exited");
  EXPECT_FALSE(is_running(a));
  EXPECT_FALSE(is_running(orphan));
  EXPECT_EQ(spawn("a")["ok"], true) << "unlike after shutdown";
}

TEST_F(SupervisorTest, ExpiredLeaseEndsNodesAndSupervisor) {
  ASSERT_EQ(start_supervisor("60").status, 0);
  const pid_t node = spawn("a")["result"]["pid"];
  ASSERT_EQ(ask("supervisor", "renew", {{"lease_s", 0.2}})["ok"], true);
  EXPECT_TRUE(eventually([&] { return !is_running(supervisor_); }));
  EXPECT_FALSE(is_running(node));
  const std::string log = testing::read_text(directory_.path() / "supervisor.log");
  EXPECT_NE(log.find("renewed the lease"), std::string::npos) << log;
}

TEST_F(SupervisorTest, RenewMovesTheEndOfTheLease) {
  ASSERT_EQ(start_supervisor("30").status, 0);
  EXPECT_LE(ask("supervisor", "list")["result"]["lease_remaining_s"], 30.0);
  ASSERT_EQ(nodectl(Json::array(), {"--lease", "500"}).status, 0);
  EXPECT_GT(ask("supervisor", "list")["result"]["lease_remaining_s"], 400.0);
}

TEST_F(SupervisorTest, NodectlRenewsWhileAnAnswerIsOutstanding) {
  ASSERT_EQ(start_supervisor("60").status, 0);
  spawn("a");
  testing::Finished finished;
  std::thread waiting([&] {
    finished = nodectl(Json::array({request("a", "wait")}), {"--lease", "500"});
  });
  const auto renewals = [&] { return ask("supervisor", "ping")["result"]["renewals"].get<int>(); };
  // Two before the request is sent, then one every second.
  EXPECT_TRUE(eventually([&] { return renewals() >= 4; }));
  EXPECT_GT(ask("supervisor", "ping")["result"]["lease_left_ms"], 400'000);
  EXPECT_EQ(ask("a", "shutdown")["ok"], true);
  waiting.join();
  EXPECT_EQ(Json::parse(finished.output)[0]["result"], "woken");
}

TEST_F(SupervisorTest, NodectlEndsAtItsDeadlineAndTheNodeGoesOn) {
  ASSERT_EQ(start_supervisor().status, 0);
  const pid_t node = spawn("a")["result"]["pid"];
  const Json wait = Json::array({request("a", "wait")});
  const auto finished = nodectl(wait, {"--lease", "60", "--deadline", "0.5"});
  EXPECT_EQ(finished.status, 3);
  const Json error = Json::parse(finished.output)[0]["error"];
  EXPECT_EQ(error["code"], "timeout");
  EXPECT_NE(error["message"].get<std::string>().find("node a, command wait"), std::string::npos)
      << "not the renewal that was due then: " << error;
  EXPECT_TRUE(is_running(node));
}

// The controller was killed: its end of the connection is closed. Whoever waits for a node must not
// keep the lease alive any longer.
TEST_F(SupervisorTest, NodectlWhoseReaderHasGoneEndsAndRenewsNoMore) {
  ASSERT_EQ(start_supervisor("60").status, 0);
  spawn("a");
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const auto input = directory_.path() / "requests";
  std::ofstream(input) << Json::array({request("a", "wait")});
  const std::string directory = directory_.path();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(::open(input.c_str(), O_RDONLY), STDIN_FILENO);
    ::dup2(ends[1], STDOUT_FILENO);
    ::execl(TURNTABLE_NODECTL, TURNTABLE_NODECTL, "--directory", directory.c_str(), "--lease", "60",
            static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::close(ends[1]);
  ASSERT_TRUE(eventually([&] { return ask("supervisor", "ping")["result"]["renewals"] > 0; }));
  ASSERT_TRUE(is_running(pid));
  ::close(ends[0]);
  EXPECT_TRUE(eventually([&] { return !is_running(pid); }));
}

// A caller that reads a pipe to its end, as an SSH server does, must not wait for the daemon.
TEST_F(SupervisorTest, DaemonKeepsNoDescriptorOfItsCaller) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(start_supervisor().status, 0);
  ::close(ends[1]);
  char byte = 0;
  ASSERT_EQ(::fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
  EXPECT_EQ(::read(ends[0], &byte, 1), 0) << "the other end is still open";
  ::close(ends[0]);
}

TEST_F(SupervisorTest, SecondOwnerIsToldWhoHoldsTheHostAndForHowLong) {
  ASSERT_EQ(start_supervisor("60", {{"user", "alice"}}).status, 0);
  const pid_t first = supervisor_;
  const auto second = start_supervisor("60", {{"user", "bob"}});
  EXPECT_EQ(second.status, kInUse);
  const Json holder = Json::parse(second.output);
  EXPECT_EQ(holder["held"], true);
  EXPECT_EQ(holder["answers"], true);
  EXPECT_EQ(holder["owner"], Json({{"user", "alice"}}));
  EXPECT_EQ(holder["pid"], first);
  EXPECT_GE(holder["held_ms"], 0);
  EXPECT_GT(holder["lease_left_ms"], 0);
  EXPECT_LE(holder["lease_left_ms"], 60'000);
  EXPECT_EQ(holder["renewals"], 0) << "being asked is no renewal";
  EXPECT_TRUE(is_running(first));
}

TEST_F(SupervisorTest, OwnersThatSaidNothingAreStrangersToEachOther) {
  ASSERT_EQ(start_supervisor().status, 0);
  EXPECT_EQ(start_supervisor().status, kInUse);
}

TEST_F(SupervisorTest, SameOwnerAgainRenewsTheLease) {
  const Json alice = {{"user", "alice"}};
  ASSERT_EQ(start_supervisor("30", alice).status, 0);
  const pid_t first = supervisor_;
  ASSERT_EQ(start_supervisor("500", alice).status, 0);
  const Json ping = ask("supervisor", "ping")["result"];
  EXPECT_EQ(ping["pid"], first);
  EXPECT_EQ(ping["renewals"], 1);
  EXPECT_GT(ping["lease_left_ms"], 400'000);
}

TEST_F(SupervisorTest, LeaseOfAnotherOwnerIsNotRenewedNorItsNodesReached) {
  ASSERT_EQ(start_supervisor("60", {{"user", "alice"}}).status, 0);
  const pid_t node = spawn("a")["result"]["pid"];
  const auto lease_of = [](const char* user) -> std::vector<std::string> {
    return {"--lease", "60", "--owner", Json({{"user", user}}).dump()};
  };
  const Json shutdown = Json::array({request("a", "shutdown")});
  const auto refused = nodectl(shutdown, lease_of("bob"));
  EXPECT_EQ(refused.status, 3);
  const Json error = Json::parse(refused.output)[0]["error"];
  EXPECT_EQ(error["code"], "unavailable");
  EXPECT_NE(error["message"].get<std::string>().find("alice"), std::string::npos) << error;
  EXPECT_TRUE(is_running(node));
  EXPECT_EQ(nodectl(shutdown, lease_of("alice")).status, 0);
}

TEST_F(SupervisorTest, DismissedOwnerCannotComeBack) {
  const Json alice = {{"user", "alice"}};
  ASSERT_EQ(start_supervisor("60", alice).status, 0);
  ASSERT_EQ(ask("supervisor", "shutdown", {{"dismiss", true}})["ok"], true);
  EXPECT_EQ(start_supervisor("60", alice).status, kDismissed);
  ASSERT_EQ(start_supervisor("60", {{"user", "bob"}}).status, 0) << "others can";
  ASSERT_EQ(ask("supervisor", "shutdown")["ok"], true);
  EXPECT_EQ(start_supervisor("60", alice).status, 0) << "and after them she can";
}

TEST_F(SupervisorTest, HolderIsShownWithoutStartingAnything) {
  const auto holder = [&] {
    const auto shown =
        run_program({TURNTABLE_SUPERVISOR, "--directory", directory_.path(), "--holder"});
    EXPECT_EQ(shown.status, 0);
    return Json::parse(shown.output);
  };
  EXPECT_EQ(holder()["held"], false);
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
  ASSERT_EQ(start_supervisor("60", {{"user", "alice"}}).status, 0);
  EXPECT_EQ(holder()["owner"]["user"], "alice");
  ask("supervisor", "shutdown");
  EXPECT_EQ(holder()["held"], false);
}

// Stopped, it neither answers nor ends: still nobody else may have the host.
TEST_F(SupervisorTest, SupervisorThatHangsKeepsTheHost) {
  ASSERT_EQ(start_supervisor("60", {{"user", "alice"}}).status, 0);
  ::kill(supervisor_, SIGSTOP);
  const auto second = start_supervisor("60", {{"user", "bob"}});
  ::kill(supervisor_, SIGCONT);
  EXPECT_EQ(second.status, kInUse);
  const Json holder = Json::parse(second.output);
  EXPECT_EQ(holder["answers"], false);
  EXPECT_EQ(holder["owner"]["user"], "alice");
}

TEST_F(SupervisorTest, OfManyThatStartAtOnceOneHasTheHost) {
  constexpr int kStarters = 8;
  std::vector<int> statuses(kStarters);
  std::vector<std::thread> threads;
  threads.reserve(kStarters);
  for (int i = 0; i < kStarters; ++i) {
    threads.emplace_back([&, i] {
      statuses[i] = run_program({TURNTABLE_SUPERVISOR, "--directory", directory_.path(),
                                 "--testbed", "nd-test", "--host", "h1", "--lease", "60", "--owner",
                                 Json({{"run", i}}).dump(), "--daemonize"})
                        .status;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::count(statuses.begin(), statuses.end(), 0), 1);
  EXPECT_EQ(std::count(statuses.begin(), statuses.end(), kInUse), kStarters - 1);
  const Json ping = ask("supervisor", "ping")["result"];
  supervisor_ = ping["pid"];
  EXPECT_EQ(statuses[ping["owner"]["run"].get<int>()], 0);
}

TEST_F(SupervisorTest, NodectlExitStatusTellsTheKindsOfFailureApart) {
  ASSERT_EQ(start_supervisor().status, 0);
  spawn("a");
  EXPECT_EQ(nodectl({request("a", "ping"), request("supervisor", "ping")}).status, 0);

  const auto not_ok = nodectl({request("a", "full"), request("a", "echo", {{"x", 1}})});
  EXPECT_EQ(not_ok.status, 1);
  const Json answers = Json::parse(not_ok.output);
  EXPECT_EQ(answers[0]["error"]["code"], "full");
  EXPECT_EQ(answers[1]["result"]["x"], 1);

  const auto absent = nodectl({request("a", "ping"), request("b", "ping"), request("a", "ping")});
  EXPECT_EQ(absent.status, 3);
  const Json partial = Json::parse(absent.output);
  ASSERT_EQ(partial.size(), 3);
  EXPECT_EQ(partial[0]["ok"], true);
  EXPECT_EQ(partial[1]["error"]["code"], "unavailable");
  EXPECT_EQ(partial[2]["error"]["code"], "unavailable");

  for (const char* input : {"{}", "nonsense", R"([{"node": 1, "command": "ping"}])"})
    EXPECT_EQ(run_program({TURNTABLE_NODECTL, "--directory", directory_.path()}, input).status, 2);
  EXPECT_EQ(run_program({TURNTABLE_NODECTL}).status, 2);
}

}  // namespace
}  // namespace turntable::node
