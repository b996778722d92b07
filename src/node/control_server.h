// The control socket of a node: JSON lines over a Unix stream socket, docs/architecture.md §2.
//
//   ControlServer server(run_directory, "echo-server");
//   server.on("stats", [&](const Json& args) { return collect_stats(); });
//   server.run();  // until `shutdown`, SIGTERM or SIGINT
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <thread>
#include <vector>

#include "common/unique_fd.h"
#include "node/line_channel.h"

namespace turntable::node {

class ControlServer {
 public:
  using Json = nlohmann::json;

  // Answers one command; `args` is always an object. Binary values of arguments and result travel
  // as raw bytes (node/raw_section.h). A CommandError becomes an answer with its
  // code, any other std::exception one with code "internal". Handlers run on the thread of their
  // connection: they may block, and those of different connections run at the same time, so they
  // lock what they share.
  using Handler = std::function<Json(const Json& args)>;

  // Listens on <directory>/<node_name>.sock; connections wait until run(). Throws
  // std::runtime_error that names the path when the directory does not exist, the path is too long,
  // or a live node listens there. The socket file of a dead node is replaced.
  ControlServer(const std::filesystem::path& directory, std::string node_name);
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  // Before run(). `ping` is built in. `shutdown` is built in too; a handler given for it runs first
  // and gives the answer.
  void on(std::string command, Handler handler);

  // Before run(). Hooks run once, when the end has been requested and before run() waits for the
  // connections: they wake handlers that block. A handler that neither ends nor watches
  // shutdown_requested() delays the end for ever.
  void on_shutdown(std::function<void()> hook);

  // The answer to `ping` unless a handler is given for it. Thread-safe.
  Json ping() const;

  // Thread-safe; shown by ping. Default "idle".
  void set_state(std::string state);

  // Serves until `shutdown`, SIGTERM or SIGINT. Then unlinks the socket, lets the commands in
  // progress be answered, and returns.
  void run();

  // Thread-safe; also from a handler.
  void request_shutdown();
  bool shutdown_requested() const { return shutdown_requested_; }

  const std::filesystem::path& socket_file() const { return socket_file_; }
  std::uint64_t failed_accepts() const { return failed_accepts_; }  // thread-safe

 private:
  struct Connection {
    std::thread thread;
    std::atomic<bool> finished{false};
  };

  bool accept_connection();
  void reap_connections(bool wait);
  void serve(UniqueFd socket);
  enum class Next { kRequest, kClose, kShutdown };
  Json answer(LineChannel& channel, const std::string& line, Next& next);
  void read_raw(LineChannel& channel, Json& request, Next& next);
  Json dispatch(const std::string& command, const Json& args);

  std::string node_name_;
  std::filesystem::path socket_file_;
  UniqueFd listener_;
  UniqueFd stop_event_;  // readable, and never drained, once the end has been requested
  std::atomic<bool> shutdown_requested_{false};
  std::atomic<std::uint64_t> failed_accepts_{0};
  std::map<std::string, Handler> handlers_;
  std::vector<std::function<void()>> shutdown_hooks_;
  mutable std::mutex state_mutex_;
  std::string state_ = "idle";
  std::list<Connection> connections_;  // used by the thread in run() only
};

}  // namespace turntable::node
