// nodectl: sends commands to the nodes of a host and prints their answers. The contract (input,
// output, exit status) is docs/architecture.md §2.
#include <poll.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/command_error.h"
#include "common/errno_error.h"
#include "common/program_options.h"
#include "common/run_main.h"
#include "node/control_client.h"

namespace turntable::node {
namespace {

using Json = nlohmann::json;

enum ExitStatus { kAllOk = 0, kNotOk = 1, kUsage = 2, kNotReached = 3 };

struct Request {
  std::string node;
  std::string command;
  Json args;
};

struct Options {
  std::filesystem::path directory;
  double deadline_s = 60;
  std::optional<double> lease_s;
  std::optional<std::string> owner;
};

std::string read_standard_input() {
  std::string text;
  std::array<char, 64U << 10U> chunk;
  ssize_t got = 0;
  while ((got = ::read(STDIN_FILENO, chunk.data(), chunk.size())) != 0) {
    if (got < 0 && errno != EINTR) throw errno_error("cannot read standard input");
    if (got > 0) text.append(chunk.data(), static_cast<std::size_t>(got));
  }
  return text;
}

Request parse_request(const Json& item) {
  const auto is_text = [&](const char* key) { return item.contains(key) && item[key].is_string(); };
  if (!item.is_object() || !is_text("node") || !is_text("command"))
    throw bad_argument("every request needs the strings \"node\" and \"command\": " + item.dump());
  Json args = item.value("args", Json::object());
  if (!args.is_object()) throw bad_argument("\"args\" is not an object: " + item.dump());
  return {item["node"], item["command"], std::move(args)};
}

std::vector<Request> parse_requests(const std::string& text) {
  constexpr const char* kExpected =
      R"(; expected an array, for instance [{"node": "softswitch", "command": "ping"}])";
  Json array;
  try {
    array = Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw bad_argument("standard input is no JSON (at its byte " + std::to_string(error.byte) +
                       ")" + kExpected);
  }
  if (!array.is_array())
    throw bad_argument("standard input is no JSON array" + std::string(kExpected));
  std::vector<Request> requests;
  for (const Json& item : array) requests.push_back(parse_request(item));
  return requests;
}

// Whoever reads our answers has gone: the controller was killed, or the connection to it.
bool nobody_reads() {
  pollfd polled{STDOUT_FILENO, 0, 0};
  return ::poll(&polled, 1, 0) > 0 && (polled.revents & (POLLERR | POLLHUP)) != 0;
}

// Keeps the host's lease alive on a connection of its own, as long as somebody reads the answers.
class LeaseKeeper {
 public:
  LeaseKeeper(const std::filesystem::path& directory, const Options& options)
      : supervisor_(directory, "supervisor"), args_{{"lease_s", *options.lease_s}} {
    if (options.owner) args_["owner"] = Json::parse(*options.owner);
  }

  void renew(Deadline deadline) {
    if (nobody_reads())
      throw CommandError("unavailable", "the controller has gone; the lease is left to run out");
    ControlClient::CallOptions options;
    options.deadline = deadline;
    supervisor_.call("renew", args_, options);
  }

 private:
  ControlClient supervisor_;
  Json args_;
};

class Session {
 public:
  explicit Session(const Options& options)
      : directory_(options.directory), deadline_(Deadline::after_seconds(options.deadline_s)) {
    if (!options.lease_s) return;
    lease_.emplace(directory_, options);
    lease_->renew(deadline_);
  }

  Json run(const Request& request) {
    if (lease_) lease_->renew(deadline_);
    auto& client = clients_[request.node];
    if (!client) client = std::make_unique<ControlClient>(directory_, request.node);
    ControlClient::CallOptions options;
    options.deadline = deadline_;
    if (lease_) options.while_waiting = [this] { lease_->renew(deadline_); };
    Json answer = client->request(request.command, request.args, options);
    if (request.command == "shutdown" && answer["ok"].get<bool>()) wait_for_end(request.node);
    return answer;
  }

 private:
  void wait_for_end(const std::string& node) {
    const bool ended = clients_[node]->wait_for_exit(deadline_);
    clients_.erase(node);
    if (!ended)
      throw CommandError(
          "timeout",
          "node " + node + ": still running at the deadline; stop it through its supervisor");
    if (node == "supervisor") lease_.reset();
  }

  std::filesystem::path directory_;
  Deadline deadline_;
  std::optional<LeaseKeeper> lease_;
  std::map<std::string, std::unique_ptr<ControlClient>> clients_;
};

// Answers in place of those that will not come.
void fill_up(Json& answers, std::size_t count, const std::string& code,
             const std::string& message) {
  const Json error = {{"code", code}, {"message", message}};
  while (answers.size() < count)
    answers.push_back({{"id", nullptr}, {"ok", false}, {"error", error}});
}

int run_all(const Options& options, const std::vector<Request>& requests) {
  Json answers = Json::array();
  int status = kAllOk;
  try {
    Session session(options);
    for (const Request& request : requests) {
      answers.push_back(session.run(request));
      if (!answers.back()["ok"].get<bool>()) status = kNotOk;
    }
  } catch (const CommandError& error) {
    status = kNotReached;
    fill_up(answers, requests.size(), error.code(), error.what());
  } catch (const std::exception& error) {  // the socket could not be used at all
    status = kNotReached;
    fill_up(answers, requests.size(), "unavailable", error.what());
  }
  std::cout << answers.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
  return status;
}

}  // namespace
}  // namespace turntable::node

namespace {

int run_program(int argc, char** argv) {
  using namespace turntable::node;
  Options options;
  turntable::ProgramOptions app(
      "nodectl",
      "Sends a JSON array of {node, command, args} from standard input to the nodes of a host");
  app.option("--directory", options.directory, "Run directory with the nodes' sockets").required();
  app.option("--deadline", options.deadline_s, "Seconds for all requests together")
      .seconds()
      .shows_default();
  const auto lease =
      app.option("--lease", options.lease_s, "Renew the host's lease, for so many seconds")
          .seconds();
  app.option("--owner", options.owner, "JSON object: only if this owner holds the host")
      .needs(lease);
  if (const auto status = app.parse(argc, argv)) return *status == 0 ? kAllOk : kUsage;
  return run_all(options, parse_requests(read_standard_input()));
}

}  // namespace

int main(int argc, char** argv) {
  return turntable::run_main(
      "nodectl", [&] { return run_program(argc, argv); }, /*failure_status=*/2);
}
