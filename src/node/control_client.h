// The asking side of the control protocol (docs/architecture.md §2).
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>

#include "common/deadline.h"
#include "common/unique_fd.h"
#include "node/line_channel.h"

namespace turntable::node {

// One connection to one node; not thread-safe. After an exception other than a node's own answer
// the connection is out of step: discard the client.
class ControlClient {
 public:
  using Json = nlohmann::json;

  struct CallOptions {
    Deadline deadline = Deadline::never();
    int interrupt_fd =
        -1;  // when readable, the call ends with `unavailable` (for instance a pidfd)
    std::function<void()> while_waiting;  // called about every second until the answer is there
  };

  // Throws CommandError "unavailable" when nobody listens on <directory>/<node>.sock.
  ControlClient(const std::filesystem::path& directory, std::string node_name);

  // Binary values of `args` and of answers travel as raw bytes (node/raw_section.h).

  // The whole answer, {"id", "ok", "result" | "error"}. Throws CommandError "timeout" or
  // "unavailable" when none came.
  Json request(const std::string& command, const Json& args, const CallOptions& options);

  // request() in two steps, so that the node works on one while the next is made: answers come in
  // the order of their requests. Only so many at a time as their answers fit the socket's buffer.
  void send(const std::string& command, const Json& args, Deadline deadline);
  Json receive(const CallOptions& options);

  // The result. An answer that is not ok is thrown as CommandError with the node's code and
  // message.
  Json call(const std::string& command, const Json& args, const CallOptions& options);

  // After `shutdown`: waits until the process that serves the socket has ended. False: the deadline
  // passed first.
  bool wait_for_exit(Deadline deadline) const;

 private:
  [[noreturn]] void fail(LineChannel::Status status, const std::string& command) const;

  std::string node_name_;
  LineChannel channel_;
  UniqueFd process_;  // pidfd of the server; empty when it could not be had
  std::int64_t next_id_ = 1;
  std::deque<std::pair<std::int64_t, std::string>> sent_;  // ids and commands without an answer
};

}  // namespace turntable::node
