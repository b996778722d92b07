#include "farreach/cache/controller_node.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "common/clock.h"
#include "common/command_error.h"
#include "farreach/kv/arguments.h"
#include "messages/refusals_json.h"
#include "net/ipv4.h"
#include "net/run_on_loop.h"
#include "net/within.h"

namespace turntable::cache {
namespace {

using Json = ControllerNode::Json;
using kv::Arguments;

constexpr std::chrono::seconds kLoopDeadline{10};
constexpr double kDefaultDeadline_s = 60;
constexpr std::int64_t kMaxKeys = 32'768;  // the slots of the switch
constexpr double kMaxDeadline_s = 3600;
constexpr double kMaxPeriod_s = 3600;
constexpr double kNsPerSecond = 1e9;
constexpr double kGrace_s = 5;  // for a command to say itself what it waits for

double deadline_s(const Arguments& arguments, const Json& args) {
  return args.contains("deadline_s") ? arguments.number("deadline_s", 0, kMaxDeadline_s)
                                     : kDefaultDeadline_s;
}

// 0: no snapshots but those that are asked for.
std::int64_t snapshot_period_ns(const Arguments& arguments, const Json& args, bool write_back) {
  if (!args.contains("snapshot_period_s")) return 0;
  const double period_s = arguments.number("snapshot_period_s", 0, kMaxPeriod_s);
  if (period_s > 0 && !write_back) {
    arguments.fail("snapshot_period_s", args.at("snapshot_period_s"),
                   "0 with method netcache, whose servers have all records");
  }
  return std::llround(period_s * kNsPerSecond);
}

Json counted(const ControllerCounters& counters) {
  return {{"hot", counters.hot},
          {"admitted", counters.admitted},
          {"records_stored", counters.records_stored},
          {"store_failures", counters.store_failures},
          {"records_of_old_stores", counters.records_of_old_stores},
          {"unexpected_messages", counters.unexpected},
          {"failed_tasks", counters.failed_tasks},
          {"admission_bytes", counters.admission_bytes},
          {"eviction_bytes", counters.eviction_bytes}};
}

}  // namespace

ControllerNode::ControllerNode(net::EventLoop& loop, const sockaddr_in& address,
                               net::Credentials credentials,
                               const std::filesystem::path& state_directory,
                               std::function<void(std::string)> set_state)
    : loop_(loop),
      set_state_(std::move(set_state)),
      snapshots_(state_directory),
      credentials_(std::move(credentials)),
      listener_(
          loop, address, credentials_,
          [this](const Message& request, ServerSessions::Reply reply) {
            if (controller_) return controller_->handle(request, std::move(reply));
            ++refused_requests_;
            reply(failure_of(request, "the controller is not configured; send it `configure`"));
          },
          [this](const std::set<unsigned>& partitions, ServerSessions::Found found) {
            if (controller_) controller_->find_cached(partitions, std::move(found));
          }) {}

Controller& ControllerNode::controller(const char* command) {
  if (controller_) return *controller_;
  throw CommandError("wrong_state", std::string("cache-controller ") + command +
                                        ": it knows no agent; send `configure` first");
}

// `make` is given the controller and makes the task.
template <typename Make>
Json ControllerNode::run(const char* command, double deadline, const Make& make) {
  return net::run_on_loop(
      loop_, std::string("cache-controller ") + command, Deadline::after_seconds(deadline),
      [&](net::Task<void> task) { controller(command).spawn(std::move(task)); },
      [this, make] { return make(*controller_); });
}

// The task ends at the deadline: a command that nobody waits for any more must not refuse the next.
template <typename Make>
Json ControllerNode::run_within(const char* command, double deadline, const Make& make) {
  const std::int64_t deadline_ns = loop_.now_ns() + std::llround(deadline * kNsPerSecond);
  return run(command, deadline + kGrace_s, [=, this](Controller& controller) {
    return net::within(loop_, deadline_ns, make(controller),
                       [this, command] { return overdue(command); });
  });
}

std::exception_ptr ControllerNode::overdue(const char* command) const {
  return std::make_exception_ptr(CommandError(
      "timeout", std::string("cache-controller ") + command +
                     ": given up at its deadline; it waits for " + controller_->waits_for() +
                     ". See to them and call `" + command + "` again"));
}

Json ControllerNode::configure(const Json& args) {
  const Arguments arguments(
      "cache-controller configure", args,
      {"method", "scale", "agent_address", "agent_port", "snapshot_period_s"});
  const std::string method = arguments.text("method");
  if (method != "farreach" && method != "netcache") {
    arguments.fail("method", method, "\"farreach\" or \"netcache\"");
  }
  const ControllerSettings settings{
      .write_back = method == "farreach",
      .scale = arguments.scale(),
      .agent = net::parse_ipv4(
          "cache-controller configure: \"agent_address\"", arguments.text("agent_address"),
          static_cast<std::uint16_t>(arguments.integer("agent_port", 1, UINT16_MAX)))};
  const std::int64_t period_ns = snapshot_period_ns(arguments, args, settings.write_back);
  const auto begin = [&] {
    controller_.reset();
    listener_.begin_generation(settings.scale);
    controller_ = std::make_unique<Controller>(loop_, listener_.servers(), listener_.clients(),
                                               snapshots_, credentials_, settings);
    controller_->snapshots().set_period(period_ns, loop_.now_ns());
    set_state_("serving");
    return Json::object();
  };
  return loop_.tasks().call(begin, Deadline::after(kLoopDeadline));
}

Json ControllerNode::settings(const Json& args) {
  const Arguments arguments("cache-controller settings", args,
                            {"snapshot_period_s", "snapshot_from_ns"});
  const std::int64_t given_ns = arguments.integer_or("snapshot_from_ns", 0, INT64_MAX, 0);
  const auto change = [&]() -> Json {
    Controller& changed = controller("settings");
    if (args.contains("snapshot_period_s")) {
      const std::int64_t ahead_ns = given_ns == 0 ? 0 : given_ns - realtime_ns();
      changed.snapshots().set_period(
          snapshot_period_ns(arguments, args, changed.settings().write_back),
          loop_.now_ns() + ahead_ns);
    }
    Json result = {
        {"snapshot_period_s", static_cast<double>(changed.snapshots().period_ns()) / 1e9}};
    if (given_ns != 0) result["snapshot_from_ns"] = given_ns;
    return result;
  };
  return loop_.tasks().call(change, Deadline::after(kLoopDeadline));
}

Json ControllerNode::warm_up(const Json& args) {
  const Arguments arguments("cache-controller warm_up", args, {"workload", "count", "deadline_s"});
  const workload::Workload workload = arguments.workload();
  const auto count = static_cast<std::uint64_t>(arguments.integer("count", 1, kMaxKeys));
  return run_within("warm_up", deadline_s(arguments, args),
                    [=](Controller& controller) { return controller.warm_up(workload, count); });
}

Json ControllerNode::readmit(const Json& args) {
  const Arguments arguments("cache-controller readmit", args,
                            {"partitions", "prefill", "deadline_s"});
  const bool prefill = arguments.boolean("prefill");
  const auto scale = loop_.tasks().call([this] { return controller("readmit").settings().scale; },
                                        Deadline::after(kLoopDeadline));
  const std::vector<unsigned> partitions = arguments.partitions(scale);
  return run_within("readmit", deadline_s(arguments, args), [=](Controller& controller) {
    return controller.readmit(partitions, prefill);
  });
}

Json ControllerNode::snapshot(const Json& args) {
  const Arguments arguments("cache-controller snapshot", args, {"deadline_s"});
  return run("snapshot", deadline_s(arguments, args),
             [](Controller& controller) { return controller.snapshots().take(); });
}

Json ControllerNode::recover(const Json& args) {
  const Arguments arguments("cache-controller recover", args,
                            {"clients", "partitions", "deadline_s"});
  constexpr std::int64_t kMaxClients = 1024;
  const ControllerSettings settings = loop_.tasks().call(
      [this] { return controller("recover").settings(); }, Deadline::after(kLoopDeadline));
  // Without it, copies of a client that has yet to come back would be left out unnoticed.
  const bool has_clients = settings.write_back || args.contains("clients");
  const auto clients = has_clients
                           ? static_cast<std::size_t>(arguments.integer("clients", 0, kMaxClients))
                           : std::size_t{0};
  std::vector<unsigned> partitions(settings.scale);
  std::iota(partitions.begin(), partitions.end(), 0U);
  if (args.contains("partitions")) partitions = arguments.partitions(settings.scale);
  const double deadline = deadline_s(arguments, args);
  const auto deadline_ns = loop_.now_ns() + static_cast<std::int64_t>(deadline * kNsPerSecond);
  return run("recover", deadline + kGrace_s, [=](Controller& controller) {
    return controller.recover(partitions, clients, deadline_ns);
  });
}

Json ControllerNode::cached_set(const Json& args) {
  const Arguments arguments("cache-controller cached_set", args, {"deadline_s"});
  return run("cached_set", deadline_s(arguments, args),
             [](Controller& controller) { return controller.cached_set(); });
}

Json ControllerNode::stats(const Json& args) {
  const Arguments arguments("cache-controller stats", args, {});
  const auto read = [this]() -> Json {
    const ServerSessions& servers = listener_.servers();
    const ClientSessions& clients = listener_.clients();
    Json result = {{"at_ns", realtime_ns()},
                   {"servers", servers.partitions()},
                   {"clients", clients.connected().size()},
                   {"unanswered_by_servers", servers.unanswered()},
                   {"unanswered_by_clients", clients.unanswered()},
                   {"refused_connections", as_json(listener_.refusals())},
                   {"refused_hellos", servers.refused_hellos() + clients.refused_hellos()},
                   {"refused_requests", refused_requests_},
                   {"unexpected_answers", servers.unexpected_answers()},
                   {"for_other_stores", servers.for_other_stores()},
                   {"unexpected_of_clients", clients.unexpected_messages()}};
    if (!controller_) return result;
    result.update(counted(controller_->counters()));
    if (!controller_->last_failed_task().empty()) {
      result["last_failed_task"] = controller_->last_failed_task();
    }
    result["agent_connected"] = controller_->agent().is_up();
    result["epoch"] = controller_->epoch().number;
    result["serves"] = controller_->epoch().serves;
    result["unanswered_by_agent"] = controller_->agent().unanswered();
    result["snapshots"] = controller_->snapshots().stats();
    return result;
  };
  return loop_.tasks().call(read, Deadline::after(kLoopDeadline));
}

Json ControllerNode::stop(const Json& args) {
  const Arguments arguments("cache-controller stop", args, {});
  const auto end = [this] {
    controller_.reset();
    listener_.begin_generation(/*scale=*/0);
    set_state_("idle");
  };
  loop_.tasks().call(end, Deadline::after(kLoopDeadline));
  return Json::object();
}

}  // namespace turntable::cache
