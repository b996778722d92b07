#include "softswitch/switch_control.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/clock.h"
#include "common/command_error.h"
#include "common/data_path_thread.h"
#include "common/sha256.h"
#include "dataplane/control.h"
#include "dataplane/packet_generator_tables.h"
#include "dataplane/table_commands.h"
#include "softswitch/arguments.h"
#include "softswitch/traffic_control.h"

namespace turntable::softswitch {
namespace {

using Json = nlohmann::json;

constexpr std::chrono::seconds kTaskDeadline{10};
// Longer, and control commands time out.
constexpr std::uint64_t kMaxControlDelayNs = 1'000'000'000;

constexpr int kMaxDigestWaitS = 3600;

double deadline_argument(const Json& args) {
  const Json value = args.value("deadline_s", Json());
  if (value.is_number() && value >= 0 && value <= kMaxDigestWaitS) return value;
  throw bad_argument("digest_wait: \"deadline_s\" is " + value.dump() +
                     "; expected seconds from 0 to " + std::to_string(kMaxDigestWaitS));
}

std::string place_of(std::size_t number) {
  return "sequence: commands[" + std::to_string(number) + "]";
}

Json describe(Port& port) {
  return {{"port", port.number()},
          {"interface", port.interface()},
          {"cpu", port.is_cpu()},
          {"enabled", port.is_enabled()},
          {"link", port.link_state()}};
}

}  // namespace

SwitchControl::SwitchControl(dataplane::Program& program, const PortTable& ports,
                             Pipeline& pipeline, EventLoop& loop, Options options)
    : program_(&program),
      library_(std::move(options.library)),
      library_sha256_(sha256_of_file(library_)),
      pipes_(options.pipes),
      ports_(ports),
      pipeline_(pipeline),
      loop_(loop),
      tracer_(options.tracer),
      fixed_tables_([&pipeline](const dataplane::FixedTables::State& state) {
        pipeline.replication().configure(state);
      }),
      digest_waits_(program.control()),
      counted_from_ns_(monotonic_ns()) {}

void SwitchControl::serve(node::ControlServer& server) {
  const auto on_pipeline = [&](const std::string& command, auto run) {
    server.on(command, [this, run](const Json& args) -> Json {
      return loop_.tasks().call([&] { return run(args); }, Deadline::after(kTaskDeadline));
    });
  };
  for (const std::string& command : program_->control().commands()) {
    on_pipeline(command, [this, command](const Json& args) { return on_program(command, args); });
  }
  on_pipeline("sequence", [this](const Json& args) { return in_sequence(args); });
  for (const char* command : dataplane::PacketTracer::kCommands) {
    on_pipeline(command, [this, command](const Json& args) { return trace(command, args); });
  }
  on_pipeline("tm_write", [this](const Json& args) {
    const auto now_ns = static_cast<std::uint64_t>(monotonic_ns());
    return write_traffic_manager(pipeline_.traffic_manager(), ports_, args, now_ns);
  });
  on_pipeline("tm_read", [this](const Json& args) {
    return read_traffic_manager(pipeline_.traffic_manager(), ports_, args);
  });
  on_pipeline("tm_clear", [this](const Json&) { return tm_clear(); });
  on_pipeline("pktgen_write", [this](const Json& args) {
    const auto now_ns = static_cast<std::uint64_t>(monotonic_ns());
    return dataplane::write_packet_generator(pipeline_.packet_generator(), args, now_ns);
  });
  on_pipeline("pktgen_read", [this](const Json& args) {
    return dataplane::read_packet_generator(pipeline_.packet_generator(), args);
  });
  on_pipeline("impair", [this](const Json& args) { return pipeline_.impairments().execute(args); });
  on_pipeline("port_stats", [this](const Json&) { return port_stats(); });
  on_pipeline("port_stats_clear", [this](const Json& args) { return port_stats_clear(args); });
  on_pipeline("port_enable", [this](const Json& args) { return port_enable(args); });
  on_pipeline("settings", [this](const Json& args) { return settings(args); });
  on_pipeline("pipeline_thread_clear", [this](const Json&) { return pipeline_thread_clear(); });
  on_pipeline("info", [this](const Json&) { return info(); });
  server.on("digest_wait", [this](const Json& args) { return digest_wait(args); });
  server.on("library_info", [this](const Json& args) { return library_info(args); });
  server.on("program_load", [this](const Json& args) { return program_load(args); });
  server.on_shutdown([this] { digest_waits_.close(); });
  loop_.after_batch([this] { digest_waits_.offer(); });
}

Json SwitchControl::on_program(const std::string& command, const Json& args) {
  check_program(args);
  program_->control().at(static_cast<std::uint64_t>(monotonic_ns()));
  return dataplane::run_table_command(fixed_tables_, program_->control(), command, args);
}

Json SwitchControl::in_sequence(const Json& args) {
  expect_names("sequence", args, {"commands", "program_number"});
  check_program(args);
  const Json commands = args.value("commands", Json());
  if (!commands.is_array())
    throw bad_argument("sequence: \"commands\" is " + commands.dump() +
                       R"(; expected an array of {"command", "args"})");
  for (std::size_t i = 0; i < commands.size(); ++i) check_command(place_of(i), commands[i]);
  for (std::size_t i = 0; i < commands.size(); ++i) {
    try {
      on_program(commands[i].at("command"), commands[i].value("args", Json::object()));
    } catch (const CommandError& error) {
      throw CommandError(error.code(), place_of(i) + ": " + error.what());
    }
  }
  return Json::object();
}

// Of a sequence: before any of its commands is executed.
void SwitchControl::check_command(const std::string& place, const Json& command) const {
  expect_names(place, command, {"command", "args"});
  const Json name = command.value("command", Json());
  const Json args = command.value("args", Json::object());
  const std::vector<std::string> known = program_->control().commands();
  if (!name.is_string() || std::find(known.begin(), known.end(), name) == known.end())
    throw bad_argument(place + ": \"command\" is " + name.dump() +
                       "; expected one of the program's, such as table_write");
  if (!args.is_object())
    throw bad_argument(place + ": \"args\" is " + args.dump() + "; expected an object");
}

void SwitchControl::check_program(const Json& args) const {
  const auto number = args.find("program_number");
  if (number == args.end() || *number == program_number_) return;
  throw CommandError("program_changed", "the switch runs program " + std::string(program_->name()) +
                                            " now, number " + std::to_string(program_number_) +
                                            "; the command is for number " + number->dump() +
                                            "; read `info` again");
}

// "library" and "sha256" of `args`.
ProgramLibraries::Loaded SwitchControl::load_library(const std::string& command, const Json& args,
                                                     std::uint32_t pipes) {
  const Json path = args.value("library", Json());
  if (!path.is_string())
    throw bad_argument(command + ": \"library\" is " + path.dump() + "; expected a path");
  const Json hash = args.value("sha256", Json(""));
  if (!hash.is_string())
    throw bad_argument(command + ": \"sha256\" is " + hash.dump() +
                       "; expected hexadecimal digits");
  try {
    return libraries_.load(path, hash, pipes);
  } catch (const std::runtime_error& error) {
    throw bad_argument(command + ": " + error.what());
  }
}

Json SwitchControl::library_info(const Json& args) {
  expect_names("library_info", args, {"library", "sha256"});
  const std::lock_guard lock(loading_);
  const ProgramLibraries::Loaded found = load_library("library_info", args, /*pipes=*/1);
  Json answer = found.program->control().execute("p4info", Json::object());
  answer["program"] = found.program->name();
  return answer;
}

// The new program is made while the old one runs. What has left the old one's ingress leaves
// through its egress, but for what has to wait in queues.
Json SwitchControl::program_load(const Json& args) {
  expect_names("program_load", args, {"library", "sha256", "keep_state", "program_number"});
  const Json keep_state = args.value("keep_state", Json(false));
  if (!keep_state.is_boolean())
    throw bad_argument("program_load: \"keep_state\" is " + keep_state.dump() +
                       "; expected true or false");
  if (tracer_ != nullptr)
    throw CommandError("wrong_state", "program_load: a switch that traces keeps its program");
  const std::lock_guard lock(loading_);
  ProgramLibraries::Loaded next = load_library("program_load", args, pipes_);
  const std::string library = args.at("library");
  Json answer = loop_.tasks().call(
      [&]() -> Json {
        check_program(args);
        pipeline_.flush();
        if (keep_state) {
          next.program->control().take_state(program_->control().read_state());
        } else {
          fixed_tables_.clear();
          pipeline_.packet_generator().configure({}, 0);
        }
        pipeline_.run_program(*next.program);
        digest_waits_.take_from(next.program->control());
        program_ = next.program.get();
        library_ = library;
        library_sha256_ = next.sha256;
        ++program_number_;
        loaded_.swap(next.program);
        return {{"program", program_->name()}, {"program_number", program_number_}};
      },
      Deadline::after(kTaskDeadline));
  return answer;  // the program before, if it was loaded so, ends here
}

Json SwitchControl::trace(const std::string& command, const Json& args) {
  if (tracer_ != nullptr) return tracer_->execute(command, args);
  throw CommandError("wrong_state", command +
                                        ": this switch was started without --trace; start it "
                                        "with --trace count=0 to trace packets later");
}

Json SwitchControl::digest_wait(const Json& args) {
  const Deadline deadline = Deadline::after_seconds(deadline_argument(args));
  Json read_args = args;
  read_args.erase("deadline_s");
  read_args.erase("program_number");
  const auto read = [&](const Json& with) {
    return loop_.tasks().call(
        [&] {
          check_program(args);
          return program_->control().execute("digest_read", with);
        },
        Deadline::after(kTaskDeadline));
  };
  Json now = read(read_args);  // complains about wrong arguments, too
  if (!now.at("digests").empty()) return now;
  // Wakes the loop, which then gives out what came meanwhile.
  const auto offer = [this] {
    loop_.tasks().call([this] { return digest_waits_.offer(), 0; }, Deadline::after(kTaskDeadline));
  };
  return digest_waits_.wait(read_args, deadline, offer).value_or(std::move(now));
}

Json SwitchControl::tm_clear() {
  pipeline_.traffic_manager().clear_counters();
  return Json::object();
}

Json SwitchControl::port_stats() {
  Json ports = Json::array();
  for (const auto& port : ports_.all()) {
    port->collect_kernel_counters();
    Json entry = describe(*port);
    entry.update(to_json(port->counters()));
    ports.push_back(std::move(entry));
  }
  // Recirculation ports only where they are used: others need not know them.
  for (const auto& port : ports_.recirculation()) {
    if (port->counters() == PortCounters{}) continue;
    Json entry = describe(*port);
    entry.update(to_json(port->counters()));
    ports.push_back(std::move(entry));
  }
  return {{"ports", std::move(ports)}};
}

Json SwitchControl::port_enable(const Json& args) {
  expect_names("port_enable", args, {"port", "enabled"});
  const Json enabled = args.value("enabled", Json());
  if (!enabled.is_boolean())
    throw bad_argument("port_enable: \"enabled\" is " + enabled.dump() +
                       "; expected true or false");
  Port& port = port_argument("port_enable", args, ports_);
  const bool goes_down = port.is_enabled() && enabled == false;
  port.enable(enabled);
  if (goes_down) {
    pipeline_.packet_generator().port_down(port.number(),
                                           static_cast<std::uint64_t>(monotonic_ns()));
  }
  return describe(port);
}

Json SwitchControl::port_stats_clear(const Json& args) {
  if (args.contains("port")) {
    Port& port = port_argument("port_stats_clear", args, ports_);
    port.collect_kernel_counters();
    port.counters() = PortCounters{};
    return Json::object();
  }
  for (const auto& port : ports_.recirculation()) port->counters() = PortCounters{};
  for (const auto& port : ports_.all()) {
    port->collect_kernel_counters();
    port->counters() = PortCounters{};
  }
  return Json::object();
}

Json SwitchControl::settings(const Json& args) {
  std::uint64_t delay_ns = pipeline_.processing_delay_ns();
  std::uint64_t busy_poll_ns = loop_.busy_poll_ns();
  bool realtime = has_realtime_priority();
  for (const auto& [key, value] : args.items()) {
    if (key == "processing_delay_ns") {
      delay_ns = integer_argument("settings: " + key, value, 0, kMaxControlDelayNs);
    } else if (key == "busy_poll_ns") {
      busy_poll_ns = integer_argument("settings: " + key, value, 0, kMaxControlDelayNs);
    } else if (key == "realtime") {
      if (!value.is_boolean())
        throw bad_argument("settings: \"realtime\" is " + value.dump() +
                           "; expected true or false");
      realtime = value;
    } else {
      throw bad_argument("settings: no setting \"" + key +
                         "\"; there are processing_delay_ns, busy_poll_ns and realtime");
    }
  }
  pipeline_.set_processing_delay_ns(delay_ns);
  loop_.set_busy_poll_ns(busy_poll_ns);
  // This is the pipeline's own thread.
  if (realtime != has_realtime_priority())
    realtime ? static_cast<void>(use_realtime_priority()) : use_ordinary_priority();
  return {{"processing_delay_ns", delay_ns},
          {"busy_poll_ns", busy_poll_ns},
          {"realtime", has_realtime_priority()}};
}

Json SwitchControl::info() {
  Json ports = Json::array();
  for (const auto& port : ports_.all()) ports.push_back(describe(*port));
  return {{"program", program_->name()},
          {"program_number", program_number_},
          {"library", library_},
          {"library_sha256", library_sha256_},
          {"pipes", pipes_},
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
