#include "farreach/cache/agent_node.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "farreach/cache/switch_tables.h"
#include "farreach/kv/arguments.h"
#include "messages/refusals_json.h"
#include "net/run_on_loop.h"

namespace turntable::cache {
namespace {

using Json = AgentNode::Json;
using kv::Arguments;

constexpr std::chrono::seconds kLoopDeadline{10};
constexpr std::uint16_t kMaxPort = 511;  // a dev_port has 9 bits
constexpr double kMaxPeriod_s = 3600;

std::uint16_t port_of(const Arguments& arguments, const char* name) {
  return static_cast<std::uint16_t>(arguments.integer(name, 0, kMaxPort));
}

bool is_write_back(const Arguments& arguments) {
  const std::string method = arguments.text("method");
  if (method != "farreach" && method != "netcache") {
    arguments.fail("method", method, "\"farreach\" or \"netcache\"");
  }
  return method == "farreach";
}

std::vector<std::uint16_t> egress_ports(const Arguments& arguments) {
  std::vector<std::uint16_t> ports;
  for (const Json& port : arguments.array("egress_ports")) {
    const Json element = {{"port", port}};
    ports.push_back(
        port_of(Arguments("switch-agent configure, egress_ports", element, {"port"}), "port"));
  }
  workload::check_scale(ports.size());
  return ports;
}

std::vector<Client> clients(const Arguments& arguments) {
  std::vector<Client> clients;
  for (const Json& element : arguments.array("clients")) {
    if (!element.is_object()) arguments.fail("clients", element, R"(objects {"address", "port"})");
    const Arguments fields("switch-agent configure, clients", element, {"address", "port"});
    clients.push_back({fields.text("address"), port_of(fields, "port")});
  }
  return clients;
}

Json snapshots_as_json(const SnapshotCounters& counters) {
  return {{"taken", counters.taken},
          {"given_up", counters.given_up},
          {"case1_reports", counters.reports},
          {"late_case1_reports", counters.late_reports}};
}

}  // namespace

AgentNode::AgentNode(net::EventLoop& loop, std::unique_ptr<Driver> driver,
                     const sockaddr_in& address, net::Credentials credentials,
                     std::function<void(std::string)> set_state, std::chrono::seconds adopting_max)
    : loop_(loop),
      driver_(std::move(driver)),
      set_state_(std::move(set_state)),
      adopting_max_(adopting_max) {
  driver_->on_frame([this](const ControlFrame& frame) {
    if (agent_) agent_->received(frame);
  });
  controller_ =
      std::make_unique<AskingListener>(loop_, address, std::move(credentials), MessageType::kHello,
                                       [this](const Message& request, AskingListener::Reply reply) {
                                         answer(request, std::move(reply));
                                       });
}

AgentNode::~AgentNode() {
  end();
}

void AgentNode::answer(const Message& request, AskingListener::Reply reply) {
  if (request.type == MessageType::kHello && (!agent_ || !failure_.empty())) {
    return reply(answer_to(request, {kMessagesVersion, 0, 0}));  // no epoch
  }
  if (agent_ && failure_.empty()) {
    if (is_ready_) return agent_->handle(request, std::move(reply));
    waiting_.emplace_back(request, std::move(reply));
    return;
  }
  ++refused_requests_;
  reply(failure_of(request, agent_ ? "the agent has failed: " + failure_
                                   : "the agent is not configured; send it `configure`"));
}

Json AgentNode::configure(const Json& args) {
  const Arguments arguments(
      "switch-agent configure", args,
      {"method", "egress_ports", "clients", "cpu_port", "fresh", "cache_size", "hot_threshold",
       "sampling", "clear_period_s", "victims_sampled", "admission"});
  AgentSettings settings;
  settings.write_back = is_write_back(arguments);
  settings.egress_ports = egress_ports(arguments);
  const std::vector<Client> reached = clients(arguments);
  const std::uint16_t cpu_port = port_of(arguments, "cpu_port");
  settings.fresh = arguments.boolean("fresh");
  const std::int64_t cache_size = arguments.integer("cache_size", 1, kSlotsOfSwitch);
  settings.cache_size = static_cast<std::uint32_t>(cache_size);

  const auto begin = [&] {
    end();
    settings.epoch = last_epoch_ = next_epoch(last_epoch_);
    driver_->reconnect();
    driver_->write_tables(mirror_sessions(reached, cpu_port));
    driver_->write_tables(ports_of(reached, cpu_port));
    if (settings.fresh) {
      if (settings.write_back) SnapshotTaker::forget(*driver_);
      driver_->write_tables(Json::array({{{"op", "clear"}, {"table", kCacheLookup}}}));
      driver_->clear_registers();
    }
    agent_ = std::make_unique<Agent>(
        *driver_, loop_, settings,
        [this](Message request, Unanswered::OnAnswer on_answer) {
          controller_->ask(std::move(request), std::move(on_answer));
        },
        [this](const std::string& why) { fail(why); });
    apply(args);
  };
  const auto spawn = [&](net::Task<void> task) {
    begin();
    agent_->spawn(std::move(task));  // and so ended with it
  };
  try {
    return net::run_on_loop(loop_, "switch-agent configure", Deadline::after(adopting_max_), spawn,
                            [this] { return adopt(); });
  } catch (const CommandError& error) {
    if (error.code() != "timeout" || !hears_nothing()) throw;
    throw CommandError("timeout",
                       "switch-agent configure: the switch answered no control frame; expected its "
                       "CPU port " +
                           std::to_string(cpu_port) +
                           " to be up, and --cpu-interface to be the other end of its link");
  }
}

bool AgentNode::hears_nothing() {
  const auto read = [this] {
    return agent_ && agent_->frame_counters().sent > 0 && agent_->frame_counters().answered == 0;
  };
  return loop_.tasks().call(read, Deadline::after(kLoopDeadline));
}

net::Task<Json> AgentNode::adopt() {
  co_await agent_->adopt();
  is_ready_ = true;
  schedule_clearing();
  set_state_("serving");
  for (auto& [request, reply] : std::exchange(waiting_, {})) {
    agent_->handle(request, std::move(reply));
  }
  const AgentCounters& counters = agent_->counters();
  Json result = {{"found", counters.found}, {"found_in_transit", counters.found_in_transit}};
  co_return result;
}

// What `args` has of the settings that may change at any time.
void AgentNode::apply(const Json& args) {
  const Arguments arguments(
      "switch-agent settings", args,
      {"method", "egress_ports", "clients", "cpu_port", "fresh", "cache_size", "hot_threshold",
       "sampling", "clear_period_s", "victims_sampled", "admission"});
  if (args.contains("hot_threshold")) {
    run_time_.hot_threshold =
        static_cast<std::uint16_t>(arguments.integer("hot_threshold", 0, UINT16_MAX));
  }
  if (args.contains("sampling")) run_time_.sampling = arguments.number("sampling", 0, 1);
  if (args.contains("clear_period_s")) {
    run_time_.clear_period_ns =
        std::llround(arguments.number("clear_period_s", 0, kMaxPeriod_s) * 1e9);
  }
  if (args.contains("victims_sampled")) {
    agent_->set_victims_sampled(
        static_cast<std::uint32_t>(arguments.integer("victims_sampled", 1, kSlotsOfSwitch)));
  }
  if (args.contains("admission")) agent_->set_admission(arguments.boolean("admission"));
  if (args.contains("cache_size")) {
    const std::int64_t size = arguments.integer("cache_size", 1, kSlotsOfSwitch);
    if (size != agent_->settings().cache_size) {
      agent_->set_cache_size(static_cast<std::uint32_t>(size));
    }
  }
  driver_->write_tables(hot_threshold(run_time_.hot_threshold));
  driver_->write_tables(sampling(run_time_.sampling));
}

Json AgentNode::settings(const Json& args) {
  const Arguments arguments("switch-agent settings", args,
                            {"cache_size", "hot_threshold", "sampling", "clear_period_s",
                             "victims_sampled", "admission"});
  const auto change = [&] {
    agent("settings");
    apply(args);
    schedule_clearing();
    return settings_as_json();
  };
  return loop_.tasks().call(change, Deadline::after(kLoopDeadline));
}

Json AgentNode::settings_as_json() const {
  const AgentSettings& settings = agent_->settings();
  return {{"method", settings.write_back ? "farreach" : "netcache"},
          {"cache_size", settings.cache_size},
          {"hot_threshold", run_time_.hot_threshold},
          {"sampling", run_time_.sampling},
          {"clear_period_s", static_cast<double>(run_time_.clear_period_ns) / 1e9},
          {"victims_sampled", settings.victims_sampled},
          {"admission", settings.admission}};
}

Json AgentNode::cached_set(const Json& args) {
  const Arguments arguments("switch-agent cached_set", args, {});
  const auto read = [&]() -> Json {
    const Slots& slots = agent("cached_set").slots();
    return {{"count", slots.cached()}, {"digest", digest_text(slots.digest())}};
  };
  return loop_.tasks().call(read, Deadline::after(kLoopDeadline));
}

Json AgentNode::stats(const Json& args) {
  const Arguments arguments("switch-agent stats", args, {});
  const auto read = [&]() -> Json {
    const SwitchEpoch epoch = agent_ ? agent_->epoch() : SwitchEpoch();
    Json result = {{"controller_connected", controller_->is_up()},
                   {"epoch", epoch.number},
                   {"serves", epoch.serves},
                   {"unanswered_by_controller", controller_->unanswered()},
                   {"unexpected_answers", controller_->unexpected_answers()},
                   {"refused_requests", refused_requests_},
                   {"refused_connections", as_json(controller_->refusals())}};
    if (!failure_.empty()) result["failure"] = failure_;
    if (!agent_) return result;
    const AgentCounters& counters = agent_->counters();
    const FrameExchange::Counters& frames = agent_->frame_counters();
    result.update({{"settings", settings_as_json()},
                   {"cached", agent_->slots().cached()},
                   {"in_transit", agent_->in_transit()},
                   {"admitted", counters.admitted},
                   {"restored", counters.restored},
                   {"evicted", counters.evicted},
                   {"refused", counters.refused},
                   {"written_back", counters.written_back},
                   {"store_failures", counters.store_failures},
                   {"unexpected_messages", counters.unexpected},
                   {"refused_by_epoch", counters.refused_by_epoch},
                   {"snapshots", snapshots_as_json(agent_->snapshot().counters())},
                   {"clearings", clearings_},
                   {"control_frames", frames.sent},
                   {"control_frame_retries", frames.retries},
                   {"unexpected_acknowledgements", frames.unexpected}});
    return result;
  };
  return loop_.tasks().call(read, Deadline::after(kLoopDeadline));
}

Json AgentNode::stop(const Json& args) {
  const Arguments arguments("switch-agent stop", args, {});
  loop_.tasks().call([this] { end(); }, Deadline::after(kLoopDeadline));
  return Json::object();
}

Agent& AgentNode::agent(const char* command) {
  const std::string what = std::string("switch-agent ") + command + ": ";
  if (!failure_.empty()) {
    throw CommandError("wrong_state", what + "the agent has failed: " + failure_ +
                                          "; see to the switch, then send `configure`");
  }
  if (!agent_)
    throw CommandError("wrong_state", what + "there is no cache; send `configure` first");
  return *agent_;
}

void AgentNode::fail(const std::string& why) {
  failure_ = why;
  set_state_("failed");
  // What is under way gets no answer any more; asked again, it is refused with this reason. Not at
  // once: a request of that very connection may be what has failed.
  loop_.call_soon([this] { controller_->reconnect(); });
}

void AgentNode::end() {
  if (clearing_ != 0) loop_.cancel(std::exchange(clearing_, 0));
  agent_.reset();
  is_ready_ = false;
  waiting_.clear();
  failure_.clear();
  // A connection with the controller lies in one epoch: what was asked in it ends, and the
  // controller learns of the next one when it greets again.
  controller_->forget_requests();
  controller_->reconnect();
  set_state_("idle");
}

// Sketch and frequencies count since the last clearing.
void AgentNode::schedule_clearing() {
  if (clearing_ != 0) loop_.cancel(std::exchange(clearing_, 0));
  if (run_time_.clear_period_ns == 0) return;
  clearing_ = loop_.call_at(loop_.now_ns() + run_time_.clear_period_ns, [this] {
    clearing_ = 0;
    clear();
  });
}

void AgentNode::clear() {
  try {
    for (const auto& name : periodic_registers(agent_->settings().write_back)) {
      driver_->clear_register(name);
    }
    ++clearings_;
    schedule_clearing();
  } catch (const std::exception& error) {
    fail(error.what());
  }
}

}  // namespace turntable::cache
