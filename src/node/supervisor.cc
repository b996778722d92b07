#include "node/supervisor.h"

#include <poll.h>

#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "common/clock.h"
#include "common/command_error.h"
#include "node/control_client.h"
#include "node/host_stats.h"
#include "node/leftovers.h"
#include "node/log_tail.h"
#include "node/unix_socket.h"

namespace turntable::node {
namespace {

using Json = nlohmann::json;

constexpr double kSpawnDeadlineS = 30;
constexpr double kStopDeadlineS = 5;
constexpr double kLeftoverDeadlineS = 5;
constexpr double kEventDeadlineS = 20;  // of one request of a timeline
constexpr double kMaxSeconds = 30.0 * 24 * 3600;
constexpr std::chrono::milliseconds kProbeInterval{2};

std::string text_of(const Json& args, const char* key) {
  const auto value = args.find(key);
  if (value == args.end() || !value->is_string())
    throw bad_argument(std::string("argument \"") + key + "\" is missing or not a string");
  return value->get<std::string>();
}

double seconds_of(const Json& args, const char* key, double fallback) {
  const auto value = args.find(key);
  if (value == args.end()) return fallback;
  const double seconds = value->is_number() ? value->get<double>() : std::nan("");
  if (!(seconds > 0 && seconds <= kMaxSeconds)) {
    throw bad_argument(std::string("argument \"") + key + "\" is " + value->dump() +
                       ": expected seconds, more than 0 and at most 30 days");
  }
  return seconds;
}

std::vector<std::string> argv_of(const Json& args) {
  const auto value = args.find("argv");
  const auto refuse = [](const std::string& why) {
    return bad_argument("argument \"argv\": " + why +
                        "; expected [\"/absolute/path/to/program\", \"argument\", ...]");
  };
  if (value == args.end() || !value->is_array() || value->empty())
    throw refuse("missing, not an array, or empty");
  std::vector<std::string> argv;
  for (const Json& word : *value) {
    if (!word.is_string()) throw refuse(word.dump() + " is not a string");
    argv.push_back(word.get<std::string>());
  }
  const bool relative = argv[0].find('/') != std::string::npos && argv[0].front() != '/';
  if (argv[0].empty() || relative) throw refuse("the program \"" + argv[0] + "\" is relative");
  return argv;
}

std::map<std::string, std::string> environment_of_args(const Json& args) {
  std::map<std::string, std::string> environment;
  const Json given = args.value("env", Json::object());
  if (!given.is_object())
    throw bad_argument("argument \"env\": expected an object of strings, {\"NAME\": \"value\"}");
  for (const auto& [name, value] : given.items()) {
    if (!value.is_string() || name.empty() || name.find('=') != std::string::npos)
      throw bad_argument("argument \"env\": \"" + name + "\": expected a name and a string value");
    environment[name] = value.get<std::string>();
  }
  return environment;
}

Json to_json(const NodeInfo& info) {
  Json json = {{"name", info.name},
               {"pid", info.pid},
               {"argv", info.argv},
               {"state", info.exit ? "exited" : "running"},
               {"started_at_ns", info.started_at_ns},
               {"log", info.log_file.native()}};
  if (info.exit) {
    json["exited_at_ns"] = info.exit->at_ns;
    json[info.exit->by_signal ? "exit_signal" : "exit_status"] = info.exit->value;
  }
  return json;
}

Json to_json(const std::vector<NodeInfo>& infos) {
  Json json = Json::array();
  for (const NodeInfo& info : infos) json.push_back(to_json(info));
  return {{"nodes", std::move(json)}};
}

Deadline stop_deadline(const Json& args) {
  return Deadline::after_seconds(seconds_of(args, "deadline_s", kStopDeadlineS));
}

// The lock, marked as ours, of a directory in which nothing of an earlier supervisor runs any more.
HostLock take_over(HostLock lock, const SupervisorOptions& options) {
  lock.write(options.owner);
  const Deadline deadline = Deadline::after_seconds(kLeftoverDeadlineS);
  for (const auto& text : end_leftovers(options.identity, options.directory, deadline))
    std::cerr << "supervisor: ended what an earlier one had left: " << text << std::endl;
  return lock;
}

std::string quote_log(const NodeInfo& info) {
  return "; last lines of " + info.log_file.native() + ":\n" +
         log_tail(info.log_file, info.log_begin);
}

// A node of that name that this supervisor did not start would answer the readiness probe in place
// of the new one.
void refuse_foreign_node(const std::filesystem::path& directory, const std::string& name) {
  const auto path = socket_path(directory, name);
  if (connect_unix(path)) {
    throw CommandError("wrong_state",
                       "spawn " + name + ": a node that this supervisor did not start listens on " +
                           path.native() + "; shut it down first");
  }
}

// Waits for the next probe, or the end of the node. True: it has ended.
bool ended_before_next_probe(int pidfd) {
  pollfd polled{pidfd, POLLIN, 0};
  return ::poll(&polled, 1, static_cast<int>(kProbeInterval.count())) > 0;
}

}  // namespace

Supervisor::Supervisor(SupervisorOptions options, HostLock lock)
    : options_(std::move(options)),
      lock_(take_over(std::move(lock), options_)),
      held_since_ns_(clock_ns(CLOCK_BOOTTIME)),
      server_(options_.directory, "supervisor"),
      keeper_(
          options_.identity, options_.directory, options_.lease_s,
          [this] {
            std::cerr
                << "supervisor: nobody has renewed the lease in time: it ends its nodes and itself"
                << std::endl;
            server_.request_shutdown();
          }),
      timeline_([this](const Timeline::Request& request) { ask(request); }) {
  server_.on("ping", [this](const Json&) { return ping(); });
  server_.on("spawn", [this](const Json& args) { return spawn(args); });
  server_.on("stop", [this](const Json& args) { return stop(args); });
  server_.on("renew", [this](const Json& args) { return renew(args); });
  server_.on("list", [this](const Json&) { return list(); });
  server_.on("host_stats", [](const Json&) { return host_stats(); });
  server_.on("stop_all", [this](const Json& args) {
    Json ended = to_json(keeper_.stop_all(stop_deadline(args)));
    timeline_.clear();                      // an event in progress ends with its nodes
    keeper_.stop_all(stop_deadline(args));  // what one has started meanwhile
    return ended;
  });
  server_.on("timeline", [this](const Json& args) {
    timeline_.set(timeline_of(args));
    return Json::object();
  });
  server_.on("events", [this](const Json&) { return to_json(timeline_.events()); });
  server_.on("shutdown", [this](const Json& args) { return shutdown(args); });
  // A `spawn` in progress ends with its node.
  server_.on_shutdown([this] { keeper_.end_all(Deadline::after_seconds(kStopDeadlineS)); });
  server_.set_state("serving");
}

void Supervisor::run() {
  server_.run();
}

Json Supervisor::ping() const {
  Json answer = server_.ping();
  const double held_ms = static_cast<double>(clock_ns(CLOCK_BOOTTIME) - held_since_ns_) / 1e6;
  answer["realtime_ns"] = realtime_ns();
  answer["owner"] = options_.owner;
  answer["held_ms"] = std::llround(held_ms);
  answer["lease_left_ms"] = std::llround(keeper_.lease_remaining_s() * 1e3);
  answer["renewals"] = renewals_.load();
  return answer;
}

// With "dismiss" the owner, who does not know of it, cannot have the host back
// (supervisor_main.cc).
Json Supervisor::shutdown(const Json& args) {
  const Deadline deadline = stop_deadline(args);
  if (args.value("dismiss", Json(false)) == true) lock_.write({{"dismissed", options_.owner}});
  return to_json(keeper_.end_all(deadline));
}

Json Supervisor::spawn(const Json& args) {
  const std::string name = text_of(args, "name");
  const auto argv = argv_of(args);
  const auto environment = environment_of_args(args);
  const std::string input = args.contains("input") ? text_of(args, "input") : "";
  const double deadline_s = seconds_of(args, "deadline_s", kSpawnDeadlineS);
  socket_path(options_.directory, name);  // refuses names that are not file names
  if (name == "supervisor") throw bad_argument("spawn: the name \"supervisor\" is taken");
  const auto nodes = keeper_.list();
  const bool ours = std::any_of(nodes.begin(), nodes.end(), [&](const NodeInfo& info) {
    return info.name == name && !info.exit;
  });
  if (!ours) refuse_foreign_node(options_.directory, name);
  return wait_until_ready(keeper_.start(name, argv, environment, input), deadline_s);
}

Json Supervisor::wait_until_ready(NodeKeeper::Started started, double deadline_s) {
  const std::string& name = started.info.name;
  ControlClient::CallOptions probe;
  probe.deadline = Deadline::after_seconds(deadline_s);
  probe.interrupt_fd = started.pidfd.get();
  do {
    try {
      ControlClient client(options_.directory, name);
      Json result = to_json(started.info);
      result["ping"] = client.call("ping", Json::object(), probe);
      return result;
    } catch (const CommandError& error) {
      if (error.code() != "unavailable" && error.code() != "timeout") throw;
    }
    if (ended_before_next_probe(started.pidfd.get())) {
      const NodeInfo info = keeper_.info(name);
      const std::string how = info.exit ? info.exit->describe() : "ended";
      throw CommandError("unavailable", "spawn " + name + ": " + info.argv[0] + " " + how +
                                            " before it answered" + quote_log(info));
    }
  } while (!probe.deadline.passed());
  const NodeInfo info = keeper_.stop(name, Deadline::after_seconds(kStopDeadlineS));
  throw CommandError("timeout", "spawn " + name + ": " + info.argv[0] +
                                    " did not answer ping within " + std::to_string(deadline_s) +
                                    " s and was ended" + quote_log(info));
}

// On a thread of the timeline.
void Supervisor::ask(const Timeline::Request& request) {
  if (request.node == "supervisor") {
    if (request.command == "spawn") return void(spawn(request.args));
    if (request.command == "stop") return void(stop(request.args));
    throw CommandError("unknown_command", "expected spawn or stop");
  }
  ControlClient::CallOptions options;
  options.deadline = Deadline::after_seconds(kEventDeadlineS);
  ControlClient(options_.directory, request.node).call(request.command, request.args, options);
}

Json Supervisor::stop(const Json& args) {
  const std::string name = text_of(args, "name");
  const Json kill = args.value("kill", Json(false));
  if (!kill.is_boolean()) {
    throw bad_argument("stop: \"kill\" is " + kill.dump() + "; expected true (SIGKILL) or false");
  }
  return to_json(kill.get<bool>() ? keeper_.kill(name) : keeper_.stop(name, stop_deadline(args)));
}

Json Supervisor::renew(const Json& args) {
  const double lease_s = seconds_of(args, "lease_s", options_.lease_s);
  const Json owner = args.value("owner", options_.owner);
  if (owner != options_.owner) {
    throw CommandError("unavailable", "renew: this host is now held by " + options_.owner.dump() +
                                          ", no longer by " + owner.dump() +
                                          "; its lease had run out");
  }
  keeper_.renew(lease_s);
  ++renewals_;
  return {{"lease_s", lease_s}};
}

Json Supervisor::list() {
  return {{"testbed", options_.identity.testbed},
          {"host", options_.identity.host},
          {"lease_remaining_s", keeper_.lease_remaining_s()},
          {"nodes", to_json(keeper_.list())["nodes"]}};
}

}  // namespace turntable::node
