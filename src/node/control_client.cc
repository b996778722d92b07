#include "node/control_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "node/raw_section.h"
#include "node/unix_socket.h"

namespace turntable::node {
namespace {

using Json = ControlClient::Json;
using Status = LineChannel::Status;

constexpr std::chrono::seconds kTick{1};  // of CallOptions::while_waiting

UniqueFd connect_node(const std::filesystem::path& directory, const std::string& node_name) {
  const std::filesystem::path path = socket_path(directory, node_name);
  UniqueFd socket = connect_unix(path);
  if (!socket) {
    throw CommandError("unavailable", "node " + node_name + ": nobody listens on " + path.native() +
                                          "; see " + node_name +
                                          ".log beside it, then start the node");
  }
  return socket;
}

UniqueFd process_behind(int socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return UniqueFd();
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, peer.pid, 0)));
}

}  // namespace

ControlClient::ControlClient(const std::filesystem::path& directory, std::string node_name)
    : node_name_(std::move(node_name)),
      channel_(connect_node(directory, node_name_)),
      process_(process_behind(channel_.fd())) {}

void ControlClient::fail(Status status, const std::string& command) const {
  const std::string what = "node " + node_name_ + ", command " + command + ": ";
  if (status == Status::kTimeout)
    throw CommandError("timeout", what + "no answer before the deadline; the node may still do it");
  throw CommandError("unavailable", what + "the node ended before it answered; see " + node_name_ +
                                        ".log in its run directory");
}

Json ControlClient::request(const std::string& command, const Json& args,
                            const CallOptions& options) {
  send(command, args, options.deadline);
  return receive(options);
}

void ControlClient::send(const std::string& command, const Json& args, Deadline deadline) {
  const std::int64_t id = next_id_++;
  Json request = {{"id", id}, {"command", command}, {"args", args}};
  const std::string raw = detach_raw(request);
  const Status status = channel_.write_line(request.dump(), deadline, raw);
  if (status != Status::kOk) fail(status, command);
  sent_.emplace_back(id, command);
}

Json ControlClient::receive(const CallOptions& options) {
  const auto [id, command] = std::move(sent_.front());
  sent_.pop_front();
  Status status = Status::kOk;
  std::string line;
  for (;;) {
    const Deadline wake =
        options.while_waiting ? options.deadline.min(Deadline::after(kTick)) : options.deadline;
    status = channel_.read_line(line, wake, options.interrupt_fd);
    if (status != Status::kTimeout || options.deadline.passed()) break;
    if (options.while_waiting) options.while_waiting();
  }
  if (status != Status::kOk) fail(status, command);

  Json answer = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  const bool valid = answer.is_object() && answer.value("id", Json()) == id &&
                     answer.value("ok", Json()).is_boolean();
  if (!valid) {
    throw CommandError(
        "internal", "node " + node_name_ + ", command " + command +
                        ": the answer is not one of the control protocol: " + line.substr(0, 200));
  }
  if (has_raw(answer)) {
    std::string raw;
    status = channel_.read_bytes(raw, raw_bytes(answer), options.deadline, options.interrupt_fd);
    if (status != Status::kOk) fail(status, command);
    attach_raw(answer, raw);
  }
  return answer;
}

Json ControlClient::call(const std::string& command, const Json& args, const CallOptions& options) {
  Json answer = request(command, args, options);
  if (answer["ok"].get<bool>()) return std::move(answer["result"]);
  const Json error = answer.value("error", Json::object());
  throw CommandError(error.value("code", "internal"), error.value("message", "no message"));
}

bool ControlClient::wait_for_exit(Deadline deadline) const {
  if (!process_) return true;  // it had gone before it could be watched
  pollfd polled{process_.get(), POLLIN, 0};
  while (true) {
    const int ready = ::poll(&polled, 1, deadline.poll_timeout_ms());
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

}  // namespace turntable::node
