#include "node/control_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "common/accept_failure.h"
#include "common/command_error.h"
#include "common/errno_error.h"
#include "node/raw_section.h"
#include "node/termination_signals.h"
#include "node/unix_socket.h"

namespace turntable::node {
namespace {

using Json = ControlServer::Json;

// A client that reads nothing of its answer for this long loses its connection.
constexpr std::chrono::seconds kAnswerPatience{10};
constexpr int kAcceptAgainMs = 100;
// Of a request, deeper than any command needs: values are copied and printed by recursion.
constexpr int kDeepest = 64;

Json error_answer(const Json& id, const std::string& code, const std::string& message) {
  return {{"id", id}, {"ok", false}, {"error", {{"code", code}, {"message", message}}}};
}

// A message may quote bytes that are not UTF-8; they must not turn the answer into an exception.
std::string to_line(const Json& answer) {
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Arrays and objects inside each other, at the deepest place of a text that is JSON.
int depth_of(const std::string& text) {
  int depth = 0, deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

Json parse_request(const std::string& line) {
  if (depth_of(line) > kDeepest) {
    throw bad_argument("request: arrays and objects are more than " + std::to_string(kDeepest) +
                       " inside each other; no command has such arguments");
  }
  Json request;
  try {
    request = Json::parse(line);
  } catch (const Json::exception& error) {  // also of numbers that no double holds
    throw bad_argument(std::string("request is not JSON: ") + error.what() +
                       "; send one JSON object per line");
  }
  if (!request.is_object())
    throw bad_argument("request: expected a JSON object {\"id\", \"command\", \"args\"}");
  return request;
}

std::string command_of(const Json& request) {
  const auto command = request.find("command");
  if (command == request.end() || !command->is_string())
    throw bad_argument(
        "request: \"command\" is missing or not a string; send for instance \"ping\"");
  return command->get<std::string>();
}

Json args_of(const Json& request) {
  const auto args = request.find("args");
  if (args == request.end() || args->is_null()) return Json::object();
  if (!args->is_object())
    throw bad_argument("request: \"args\" is not an object; leave it out if there are none");
  return *args;
}

Json id_of(const Json& request) {
  const auto id = request.find("id");
  if (id == request.end()) return nullptr;
  if (id->is_structured())
    throw bad_argument("request: \"id\" is an array or object; expected a number or a string");
  return *id;
}

}  // namespace

ControlServer::ControlServer(const std::filesystem::path& directory, std::string node_name)
    : node_name_(std::move(node_name)),
      socket_file_(socket_path(directory, node_name_)),
      listener_(listen_unix(socket_file_)),
      stop_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!stop_event_) throw errno_error("cannot create an eventfd");
}

ControlServer::~ControlServer() {
  // Unlinked while still listening, so that it cannot be a successor's file.
  if (listener_) ::unlink(socket_file_.c_str());
}

void ControlServer::on(std::string command, Handler handler) {
  handlers_.insert_or_assign(std::move(command), std::move(handler));
}

void ControlServer::on_shutdown(std::function<void()> hook) {
  shutdown_hooks_.push_back(std::move(hook));
}

void ControlServer::set_state(std::string state) {
  const std::lock_guard lock(state_mutex_);
  state_ = std::move(state);
}

void ControlServer::request_shutdown() {
  shutdown_requested_ = true;
  ::eventfd_write(stop_event_.get(), 1);
}

void ControlServer::run() {
  const TerminationSignals signals;
  std::array<pollfd, 3> polled = {
      {{listener_.get(), POLLIN, 0}, {stop_event_.get(), POLLIN, 0}, {signals.fd(), POLLIN, 0}}};
  while (polled[1].revents == 0 && polled[2].revents == 0) {
    const bool may_accept = polled[0].revents == 0 || accept_connection();
    reap_connections(/*wait=*/false);
    // A connection that cannot be accepted stays in the queue, and would end poll at once.
    polled[0].events = may_accept ? POLLIN : 0;
    if (::poll(polled.data(), polled.size(), may_accept ? -1 : kAcceptAgainMs) < 0) {
      if (errno != EINTR) throw errno_error("poll of the control socket failed");
      for (pollfd& entry : polled) entry.revents = 0;
    }
  }
  request_shutdown();
  ::unlink(socket_file_.c_str());
  listener_.reset();
  for (const auto& hook : shutdown_hooks_) hook();
  reap_connections(/*wait=*/true);
}

// False: not now, no descriptor is left.
bool ControlServer::accept_connection() {
  UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket) {
    ++failed_accepts_;
    return !is_out_of_resources(errno);
  }
  Connection& connection = connections_.emplace_back();
  connection.thread = std::thread([this, &connection, fd = socket.release()] {
    serve(UniqueFd(fd));
    connection.finished = true;
  });
  return true;
}

void ControlServer::reap_connections(bool wait) {
  for (auto connection = connections_.begin(); connection != connections_.end();) {
    if (wait || connection->finished) {
      connection->thread.join();
      connection = connections_.erase(connection);
    } else {
      ++connection;
    }
  }
}

void ControlServer::serve(UniqueFd socket) {
  try {
    LineChannel channel(std::move(socket));
    std::string line;
    Next next = Next::kRequest;
    while (next == Next::kRequest) {
      try {
        const auto status = channel.read_line(line, Deadline::never(), stop_event_.get());
        if (status != LineChannel::Status::kOk) return;
      } catch (const CommandError& too_long) {
        const Json refusal = error_answer(nullptr, too_long.code(), too_long.what());
        channel.write_line(to_line(refusal), kAnswerPatience);
        return;
      }
      Json reply = answer(channel, line, next);
      const std::string raw = detach_raw(reply);
      const auto sent = channel.write_line(to_line(reply), kAnswerPatience, raw);
      if (sent != LineChannel::Status::kOk && next != Next::kShutdown) return;
    }
    if (next == Next::kClose) return;
  } catch (const std::exception&) {
    return;  // the connection is broken: there is nobody to tell
  }
  request_shutdown();
}

Json ControlServer::answer(LineChannel& channel, const std::string& line, Next& next) {
  Json id = nullptr;
  try {
    Json request = parse_request(line);
    if (has_raw(request)) read_raw(channel, request, next);
    id = id_of(request);
    const std::string command = command_of(request);
    Json result = dispatch(command, args_of(request));
    if (command == "shutdown") next = Next::kShutdown;
    return {{"id", id}, {"ok", true}, {"result", std::move(result)}};
  } catch (const CommandError& error) {
    return error_answer(id, error.code(), error.what());
  } catch (const std::exception& error) {
    return error_answer(id, "internal", error.what());
  }
}

// Unless all bytes are read that follow the line, nobody knows where the next line begins.
void ControlServer::read_raw(LineChannel& channel, Json& request, Next& next) {
  next = Next::kClose;
  const std::size_t size = raw_bytes(request);
  std::string raw;
  const auto status = channel.read_bytes(raw, size, Deadline::never(), stop_event_.get());
  if (status != LineChannel::Status::kOk) {
    throw CommandError("unavailable", "the connection ended within the " + std::to_string(size) +
                                          " raw bytes of a request; nothing was done");
  }
  next = Next::kRequest;
  attach_raw(request, raw);
}

Json ControlServer::dispatch(const std::string& command, const Json& args) {
  const auto handler = handlers_.find(command);
  if (handler != handlers_.end()) return handler->second(args);
  if (command == "ping") return ping();
  if (command == "shutdown") return Json::object();
  std::string known = "ping, shutdown";
  for (const auto& [name, unused] : handlers_) known += ", " + name;
  throw CommandError("unknown_command",
                     "node " + node_name_ + ": no command \"" + command + "\"; it knows " + known);
}

Json ControlServer::ping() const {
  const std::lock_guard lock(state_mutex_);
  return {{"node", node_name_},
          {"pid", static_cast<std::int64_t>(::getpid())},
          {"version", TURNTABLE_VERSION},
          {"state", state_}};
}

}  // namespace turntable::node
