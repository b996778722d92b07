// Owns the nodes of one host: starts them, records how they ended, and leaves none behind.
//
// One thread of its own forks, reaps and kills. It lives as long as the keeper, because the kernel
// ends a child when the *thread* that forked it ends (PR_SET_PDEATHSIG). The process is made a
// child subreaper: what a node's own children leave behind is adopted, and ended together with that
// node. Descendants are recognised by the variables of mark_of() and TURNTABLE_NODE, which every
// node is started with.
//
// When this process itself is killed, the kernel ends the nodes but not processes that the nodes
// had started: the host's next supervisor does (leftovers.h).
#pragma once

#include <atomic>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/deadline.h"
#include "common/task_queue.h"
#include "common/unique_fd.h"
#include "node/process.h"

namespace turntable::node {

struct NodeExit {
  bool by_signal = false;
  int value = 0;           // exit status, or signal number
  std::int64_t at_ns = 0;  // CLOCK_REALTIME

  std::string describe() const;  // "exited with status 3", "was ended by signal 9 (Killed)"
};

struct NodeInfo {
  std::string name;
  std::vector<std::string> argv;
  pid_t pid = -1;
  std::int64_t started_at_ns = 0;  // CLOCK_REALTIME
  std::filesystem::path log_file;
  std::uint64_t log_begin = 0;   // byte of the log at which this start begins
  std::optional<NodeExit> exit;  // empty while it runs
};

struct HostIdentity {
  std::string testbed;
  std::string host;
};

// The environment variables by which everything started for a host is recognised:
// TURNTABLE_TESTBED, TURNTABLE_HOST, TURNTABLE_RUN_DIR.
std::map<std::string, std::string> mark_of(const HostIdentity& identity,
                                           const std::filesystem::path& directory);

class NodeKeeper {
 public:
  // Blocks SIGCHLD in the calling thread: create the keeper before any other thread.
  // `on_lease_expired` is called once, on the keeper's thread.
  NodeKeeper(HostIdentity identity, std::filesystem::path directory, double lease_s,
             std::function<void()> on_lease_expired);
  ~NodeKeeper();  // ends all nodes
  NodeKeeper(const NodeKeeper&) = delete;
  NodeKeeper& operator=(const NodeKeeper&) = delete;

  // The rest is thread-safe.

  struct Started {
    NodeInfo info;
    UniqueFd pidfd;  // readable when the node has ended
  };
  // `input` is what the node's standard input holds; nothing else shows it.
  // Throws CommandError "wrong_state" when a node of that name runs, "unavailable" when it cannot
  // be executed.
  Started start(const std::string& name, const std::vector<std::string>& argv,
                const std::map<std::string, std::string>& environment,
                const std::string& input = {});

  // SIGTERM, and SIGKILL at the deadline. Returns at once for a node that has
  // ended before. Throws CommandError "not_found".
  NodeInfo stop(const std::string& name, Deadline deadline) { return end(name, SIGTERM, deadline); }
  // SIGKILL: a crash.
  NodeInfo kill(const std::string& name) { return end(name, SIGKILL, Deadline::after_seconds(0)); }

  // Stops all nodes together, and everything that they had started.
  std::vector<NodeInfo> stop_all(Deadline deadline);

  // The same, and takes no new nodes from now on. Repeatable.
  std::vector<NodeInfo> end_all(Deadline deadline);

  std::vector<NodeInfo> list();
  NodeInfo info(const std::string& name);

  // The lease ends `seconds` from now (CLOCK_BOOTTIME, so a suspended host's lease runs out).
  void renew(double seconds);
  double lease_remaining_s();

 private:
  struct Node {
    NodeInfo info;
    UniqueFd pidfd;
  };

  NodeInfo end(const std::string& name, int signal, Deadline deadline);
  void loop();
  void check_lease();
  void reap();
  void record_exit(pid_t pid, int status);
  bool reap_zombies();
  bool end_orphans(Deadline deadline);
  Started start_on_loop(const std::string& name, const std::vector<std::string>& argv,
                        std::map<std::string, std::string> environment, const std::string& input);
  Node& find(const std::string& name);
  void end_all_children(Deadline deadline);

  HostIdentity identity_;
  std::filesystem::path directory_;
  std::function<void()> on_lease_expired_;
  UniqueFd child_signals_;
  UniqueFd lease_timer_;
  bool lease_expired_ = false;
  bool ending_ = false;
  std::atomic<bool> stop_loop_{false};
  std::map<std::string, Node> nodes_;
  TaskQueue tasks_;
  std::thread thread_;
};

}  // namespace turntable::node
