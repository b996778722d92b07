#include "bfrt_driver/driver_control.h"

#include <nlohmann/json.hpp>

#include "bfrt_driver/port_commands.h"
#include "bfrt_driver/table_commands.h"
#include "common/command_error.h"
#include "dataplane/values.h"

namespace turntable::bfrt_driver {
namespace {

using Json = nlohmann::json;

constexpr int kMaxDigestWaitS = 3600;

// softswitch has these and a Tofino does not.
struct Refused {
  const char* command;
  const char* why;
};
constexpr Refused kRefused[] = {
    {"impair", "a Tofino cannot make faults at its links; use softswitch, or a box in between"},
    {"trace_start", "a Tofino does not record what happens to packets; use softswitch"},
    {"trace_stop", "a Tofino does not record what happens to packets; use softswitch"},
    {"trace_read", "a Tofino does not record what happens to packets; use softswitch"},
    {"random_seed", "the random numbers of a Tofino cannot be seeded; use softswitch"},
    {"pipeline_thread_clear", "a Tofino has no pipeline thread that could be late"},
};

}  // namespace

DriverControl::DriverControl(SwitchConnection& connection, DigestQueue& digests, std::size_t pipe)
    : connection_(connection), digests_(digests), pipe_(pipe) {}

void DriverControl::serve(node::ControlServer& server) {
  const auto on = [&](const char* command, auto run) {
    server.on(command, [this, run](const Json& args) -> Json {
      SwitchCalls calls(connection_);
      return run(calls, args);
    });
  };
  on("table_write",
     [this](SwitchCalls& calls, const Json& args) { return table_write(calls, args, since_); });
  on("table_read",
     [this](SwitchCalls& calls, const Json& args) { return table_read(calls, args, since_); });
  on("table_info", table_info);
  on("schema", [](SwitchCalls& calls, const Json&) { return calls.schema().document(); });
  on("counter_read",
     [this](SwitchCalls& calls, const Json& args) { return counter_read(calls, args, since_); });
  on("counter_clear",
     [this](SwitchCalls& calls, const Json& args) { return counter_clear(calls, args, since_); });
  on("register_read",
     [this](SwitchCalls& calls, const Json& args) { return register_read(calls, args, pipe_); });
  on("register_write", register_write);
  on("register_clear", register_clear);
  on("meter_write", meter_write);
  on("meter_read", meter_read);
  on("port_stats", [](SwitchCalls& calls, const Json&) { return port_stats(calls); });
  on("port_stats_clear", [](SwitchCalls& calls, const Json&) { return port_stats_clear(calls); });
  on("tm_write", tm_write);
  on("tm_read", tm_read);
  on("tm_clear", [](SwitchCalls& calls, const Json&) { return tm_clear(calls); });
  on("info", [this](SwitchCalls& calls, const Json&) { return info(calls); });
  server.on("settings", settings);
  server.on("digest_read",
            [this](const Json& args) { return digest_read(args, Deadline::after_seconds(0)); });
  server.on("digest_wait", [this](const Json& args) { return digest_wait(args); });
  for (const Refused& refused : kRefused) {
    server.on(refused.command, [refused](const Json&) -> Json {
      throw CommandError("wrong_state", std::string(refused.command) + ": " + refused.why);
    });
  }
  server.on_shutdown([this] { digests_.close(); });
}

Json DriverControl::digest_read(const Json& args, Deadline deadline) {
  connection_.bound(connection_.call_deadline());  // digests come to who is bound
  const std::uint64_t most = args.contains("max")
                                 ? static_cast<std::uint64_t>(dataplane::parse_value(
                                       args.at("max"), 32, "digest_read, max"))
                                 : DigestQueue::kLength;
  return digests_.read(most, deadline);
}

Json DriverControl::digest_wait(const Json& args) {
  const Json value = args.value("deadline_s", Json());
  if (!value.is_number() || value < 0 || value > kMaxDigestWaitS) {
    throw bad_argument("digest_wait: \"deadline_s\" is " + value.dump() +
                       "; expected seconds from 0 to " + std::to_string(kMaxDigestWaitS));
  }
  return digest_read(args, Deadline::after_seconds(value));
}

// What asks for nothing is granted: a run has the same settings whatever its switch is.
Json DriverControl::settings(const Json& args) {
  for (const auto& [name, value] : args.items()) {
    const bool known =
        name == "processing_delay_ns" || name == "busy_poll_ns" || name == "realtime";
    if (!known) {
      throw bad_argument("settings: no setting \"" + name +
                         "\"; there are processing_delay_ns, busy_poll_ns and realtime");
    }
    if (value != 0 && value != false) {
      throw CommandError("wrong_state", "settings: \"" + name + "\" is " + value.dump() +
                                            "; a Tofino has no such setting: leave it out, or use "
                                            "softswitch");
    }
  }
  return {{"processing_delay_ns", 0U}, {"busy_poll_ns", 0U}, {"realtime", false}};
}

Json DriverControl::info(SwitchCalls& calls) const {
  Json ports = ports_of(calls);
  const ConnectionOptions& options = connection_.options();
  return {{"program", calls.schema().program()},
          {"ports", std::move(ports)},
          {"settings", nullptr},
          {"pipeline_thread", nullptr},
          {"bfrt",
           {{"address", options.address},
            {"client_id", options.client_id},
            {"state", name_of(connection_.state())},
            {"bound", connection_.epoch()},
            {"pipe", pipe_}}}};
}

}  // namespace turntable::bfrt_driver
