#include "softswitch/switch_control.h"

#include "common/clock.h"
#include "common/command_error.h"
#include "dataplane/control.h"

namespace turntable::softswitch {
namespace {

using Json = nlohmann::json;

constexpr std::chrono::seconds kTaskDeadline{10};
constexpr std::uint64_t kMaxDelayNs = 1'000'000'000;  // longer, and control commands time out

std::uint64_t nanoseconds_of(const std::string& key, const Json& value) {
  if (!value.is_number_integer() || value < 0 || value > kMaxDelayNs) {
    throw bad_argument("settings: \"" + key + "\" is " + value.dump() +
                       ": expected an integer from 0 to " + std::to_string(kMaxDelayNs));
  }
  return value.get<std::uint64_t>();
}

Json describe(Port& port) {
  return {{"port", port.number()},
          {"interface", port.interface()},
          {"cpu", port.is_cpu()},
          {"link", port.link_state()}};
}

}  // namespace

SwitchControl::SwitchControl(dataplane::Program& program, const PortTable& ports,
                             Pipeline& pipeline, EventLoop& loop)
    : program_(program),
      ports_(ports),
      pipeline_(pipeline),
      loop_(loop),
      counted_from_ns_(monotonic_ns()) {}

void SwitchControl::serve(node::ControlServer& server) {
  const auto on_pipeline = [&](const std::string& command, auto run) {
    server.on(command, [this, run](const Json& args) -> Json {
      return loop_.tasks().call([&] { return run(args); }, Deadline::after(kTaskDeadline));
    });
  };
  for (const std::string& command : program_.control().commands()) {
    on_pipeline(command, [this, command](const Json& args) {
      return program_.control().execute(command, args);
    });
  }
  on_pipeline("port_stats", [this](const Json&) { return port_stats(); });
  on_pipeline("port_stats_clear", [this](const Json&) { return port_stats_clear(); });
  on_pipeline("settings", [this](const Json& args) { return settings(args); });
  on_pipeline("pipeline_thread_clear", [this](const Json&) { return pipeline_thread_clear(); });
  on_pipeline("info", [this](const Json&) { return info(); });
}

Json SwitchControl::port_stats() {
  Json ports = Json::array();
  for (const auto& port : ports_.all()) {
    port->collect_kernel_counters();
    Json entry = describe(*port);
    entry.update(to_json(port->counters()));
    ports.push_back(std::move(entry));
  }
  return {{"ports", std::move(ports)}};
}

Json SwitchControl::port_stats_clear() {
  for (const auto& port : ports_.all()) {
    port->collect_kernel_counters();
    port->counters() = PortCounters{};
  }
  return Json::object();
}

Json SwitchControl::settings(const Json& args) {
  std::uint64_t delay_ns = pipeline_.processing_delay_ns();
  std::uint64_t busy_poll_ns = loop_.busy_poll_ns();
  for (const auto& [key, value] : args.items()) {
    if (key == "processing_delay_ns") {
      delay_ns = nanoseconds_of(key, value);
    } else if (key == "busy_poll_ns") {
      busy_poll_ns = nanoseconds_of(key, value);
    } else {
      throw bad_argument("settings: no setting \"" + key +
                         "\"; there are processing_delay_ns and busy_poll_ns");
    }
  }
  pipeline_.set_processing_delay_ns(delay_ns);
  loop_.set_busy_poll_ns(busy_poll_ns);
  return {{"processing_delay_ns", delay_ns}, {"busy_poll_ns", busy_poll_ns}};
}

Json SwitchControl::info() {
  Json ports = Json::array();
  for (const auto& port : ports_.all()) ports.push_back(describe(*port));
  return {{"program", program_.name()},
          {"ports", std::move(ports)},
          {"settings", settings(Json::object())},
          {"pipeline_thread", pipeline_thread()}};
}

Json SwitchControl::pipeline_thread() {
  Json answer = {{"elapsed_ns", monotonic_ns() - counted_from_ns_},
                 {"late_max_ns", loop_.lateness().largest_ns()},
                 {"run_ns", nullptr},
                 {"wait_ns", nullptr}};
  if (const auto now = scheduling_of_this_thread()) {
    const SchedulingTimes since = *now - scheduling_before_.value_or(SchedulingTimes{});
    answer["run_ns"] = since.run_ns;
    answer["wait_ns"] = since.wait_ns;
  }
  return answer;
}

Json SwitchControl::pipeline_thread_clear() {
  counted_from_ns_ = monotonic_ns();
  scheduling_before_ = scheduling_of_this_thread();
  loop_.lateness().clear();
  return Json::object();
}

}  // namespace turntable::softswitch
