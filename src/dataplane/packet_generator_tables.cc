#include "dataplane/packet_generator_tables.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "common/command_error.h"
#include "dataplane/update_errors.h"

namespace turntable::dataplane {
namespace {

using Json = nlohmann::json;
using Application = PacketGenerator::Application;
using PortState = PacketGenerator::PortState;
using State = PacketGenerator::State;
using Trigger = PacketGenerator::Trigger;

// With its header and check sequence a packet has at least 64 bytes.
constexpr std::uint32_t kMinLength = 64 - PacketGenerator::kHeaderBytes - 4;
constexpr std::uint32_t kLineBytes = 16;
constexpr std::uint32_t kLastSourcePort = 71;
constexpr std::uint64_t kMaxCount = (std::uint64_t{1} << 48) - 1;

const std::map<std::string, Trigger, std::less<>>& triggers() {
  static const std::map<std::string, Trigger, std::less<>> all = {
      {"trigger_timer_one_shot", Trigger::kOneShot},
      {"trigger_timer_periodic", Trigger::kPeriodic},
      {"trigger_port_down", Trigger::kPortDown},
      {"trigger_recirc_pattern", Trigger::kRecirculation}};
  return all;
}

std::uint64_t whole_number(const Json& value, const std::string& what, std::uint64_t least,
                           std::uint64_t most) {
  if (value.is_number_integer() && value >= least && value <= most) return value;
  throw bad_argument("pktgen: " + what + " is " + value.dump() + "; expected an integer from " +
                     std::to_string(least) + " to " + std::to_string(most));
}

bool truth(const Json& value, const std::string& what) {
  if (value.is_boolean()) return value;
  throw bad_argument("pktgen: " + what + " is " + value.dump() + "; expected true or false");
}

std::uint32_t key_of(const Json& update, const char* name, std::uint64_t most) {
  const Json key = update.value("key", Json::object());
  if (!key.is_object() || !key.contains(name))
    throw bad_argument(std::string("pktgen: key \"") + name + "\" is missing");
  return static_cast<std::uint32_t>(whole_number(key.at(name), name, 0, most));
}

// The pipes that an update is for: one, or all.
std::vector<std::uint32_t> pipes_of(const Json& args) {
  if (!args.contains("pipe")) return {0, 1, 2, 3};
  return {static_cast<std::uint32_t>(whole_number(args.at("pipe"), "\"pipe\"", 0, kPipes - 1))};
}

std::uint32_t port_of(const Json& update) {
  return key_of(update, "dev_port", std::uint64_t{kPipes} * kPortsPerPipe - 1);
}

void write_port(const Json& update, State& state) {
  const std::uint32_t number = port_of(update);
  PortState& port = state.ports[number];
  const bool recirculates = is_recirculation_port(static_cast<std::uint16_t>(number));
  const Json data = update.value("data", Json::object());
  for (const auto& [name, value] : data.items()) {
    const bool on = truth(value, name);
    if (name == "pktgen_enable") {
      if (on && number % kPortsPerPipe != kFirstRecirculationPort) {
        throw bad_argument("pktgen: pktgen_enable of port " + std::to_string(number) +
                           "; a pipe's generator is at its port 68: expected 68, 196, 324 or 452");
      }
      port.generates = on;
    } else if (name == "pattern_matching_enable") {
      if (on && !recirculates) {
        throw bad_argument("pktgen: pattern_matching_enable of port " + std::to_string(number) +
                           "; expected a recirculation port, 68 to 71 of a pipe");
      }
      port.matches_patterns = on;
    } else if (name == "clear_port_down_enable") {
      port.tells_port_down = on;
    } else if (name == "recirculation_enable") {
      if (on != recirculates) {
        throw bad_argument("pktgen: recirculation_enable of port " + std::to_string(number) +
                           "; ports 68 to 71 of a pipe recirculate always, and others never");
      }
    } else {
      throw bad_argument("pktgen: port_cfg has no field \"" + name + "\"");
    }
  }
}

void write_buffer(const Json& update, State& state) {
  constexpr std::uint32_t kSize = PacketGenerator::kBufferBytes;
  const std::uint32_t offset = key_of(update, "pkt_buffer_offset", kSize - 1);
  const std::uint32_t size = key_of(update, "pkt_buffer_size", kSize - offset);
  if (offset % kLineBytes != 0) {
    throw bad_argument("pktgen: pkt_buffer_offset is " + std::to_string(offset) +
                       "; expected a multiple of 16");
  }
  const Json bytes = update.value("data", Json::object()).value("buffer", Json());
  if (!bytes.is_array() || bytes.size() != size) {
    throw bad_argument("pktgen: \"buffer\" is no list of " + std::to_string(size) +
                       " bytes, as many as pkt_buffer_size says");
  }
  for (const std::uint32_t pipe : pipes_of(update)) {
    for (std::uint32_t i = 0; i < size; ++i) {
      state.pipes[pipe].buffer[offset + i] =
          static_cast<std::uint8_t>(whole_number(bytes[i], "a byte of \"buffer\"", 0, 255));
    }
  }
}

void set_field(Application& application, const std::string& name, const Json& value) {
  constexpr std::uint64_t kMost = 0xFFFFFFFF;
  const auto number = [&](std::uint64_t most) {
    return static_cast<std::uint32_t>(whole_number(value, name, 0, most));
  };
  if (name == "app_enable") {
    application.enabled = truth(value, name);
  } else if (name == "timer_nanosec") {
    application.timer_ns = number(kMost);
  } else if (name == "pattern_value") {
    application.pattern_value = number(kMost);
  } else if (name == "pattern_mask") {
    application.pattern_mask = number(kMost);
  } else if (name == "pkt_len") {
    application.length = number(PacketGenerator::kBufferBytes);
  } else if (name == "pkt_buffer_offset") {
    application.offset = number(PacketGenerator::kBufferBytes - 1);
  } else if (name == "pipe_local_source_port") {
    application.source_port = number(kLastSourcePort);
  } else if (name == "increment_source_port") {
    application.increments_source_port = truth(value, name);
  } else if (name == "batch_count_cfg") {
    application.batches = number(0xFFFF) + 1;
  } else if (name == "packets_per_batch_cfg") {
    application.packets = number(0xFFFF) + 1;
  } else if (name == "ibg") {
    application.batch_gap_ns = number(kMost);
  } else if (name == "ipg") {
    application.packet_gap_ns = number(kMost);
  } else if (name == "ibg_jitter" || name == "ipg_jitter") {
    if (number(kMost) != 0) throw bad_argument("pktgen: " + name + " is not supported; expected 0");
  } else if (name == "trigger_counter") {
    application.trigger_count = whole_number(value, name, 0, kMaxCount);
  } else if (name == "batch_counter") {
    application.batch_count = whole_number(value, name, 0, kMaxCount);
  } else if (name == "pkt_counter") {
    application.packet_count = whole_number(value, name, 0, kMaxCount);
  } else {
    throw bad_argument("pktgen: app_cfg has no field \"" + name + "\"");
  }
}

void check(const Application& application) {
  const auto refuse = [](const std::string& what) { throw bad_argument("pktgen: " + what); };
  if (!application.enabled) return;
  if (application.length < kMinLength) {
    refuse("pkt_len is " + std::to_string(application.length) + "; expected at least " +
           std::to_string(kMinLength));
  }
  if (application.offset % kLineBytes != 0) {
    refuse("pkt_buffer_offset is " + std::to_string(application.offset) +
           "; expected a multiple of 16");
  }
  if (application.offset + application.length > PacketGenerator::kBufferBytes)
    refuse("a packet of pkt_len bytes at pkt_buffer_offset ends behind the buffer's 16384 bytes");
  if (application.increments_source_port &&
      application.source_port + application.packets - 1 > kLastSourcePort) {
    refuse("increment_source_port would go beyond port 71 of the pipe within a batch");
  }
  if (application.trigger == Trigger::kPortDown && application.batches != 1)
    refuse("batch_count_cfg of a trigger_port_down is " + std::to_string(application.batches - 1) +
           "; expected 0, one batch");
}

void write_application(const Json& update, State& state) {
  const std::uint32_t number = key_of(update, "app_id", PacketGenerator::kApplications - 1);
  for (const std::uint32_t pipe : pipes_of(update)) {
    Application& application = state.pipes[pipe].applications[number];
    if (const Json action = update.value("action", Json()); !action.is_null()) {
      const auto found =
          action.is_string() ? triggers().find(action.get<std::string>()) : triggers().end();
      if (found == triggers().end()) {
        throw bad_argument("pktgen: action " + action.dump() +
                           "; expected trigger_timer_one_shot, trigger_timer_periodic, "
                           "trigger_port_down or trigger_recirc_pattern");
      }
      if (application.enabled && application.trigger != found->second) {
        throw CommandError("wrong_state", "pktgen: application " + std::to_string(number) +
                                              " is enabled; disable it to change its trigger");
      }
      application.trigger = found->second;
    }
    const Json data = update.value("data", Json::object());
    for (const auto& [name, value] : data.items()) set_field(application, name, value);
    check(application);
  }
}

void clear(const Json& update, const std::string& table, State& state) {
  if (table == "port_cfg") state.ports = {};
  for (const std::uint32_t pipe : pipes_of(update)) {
    if (table == "app_cfg") state.pipes[pipe].applications = {};
    if (table == "pkt_buffer") std::ranges::fill(state.pipes[pipe].buffer, std::uint8_t{0});
  }
}

std::string table_of(const Json& args) {
  const Json table = args.is_object() ? args.value("table", Json()) : Json();
  if (table == "port_cfg" || table == "app_cfg" || table == "pkt_buffer") return table;
  throw bad_argument("pktgen: \"table\" is " + table.dump() +
                     "; expected port_cfg, app_cfg or pkt_buffer");
}

void apply(const Json& update, State& state) {
  const std::string table = table_of(update);
  const Json data = update.value("data", Json::object());
  if (!data.is_object())
    throw bad_argument("pktgen: \"data\" is " + data.dump() + "; expected an object");
  if (update.value("op", Json("modify")) == "clear") return clear(update, table, state);
  if (table == "port_cfg") return write_port(update, state);
  if (table == "app_cfg") return write_application(update, state);
  write_buffer(update, state);
}

Json describe(const PacketGenerator& generator, std::uint32_t number,
              const std::vector<std::uint32_t>& pipes) {
  const Application& first = generator.state().pipes[pipes.front()].applications[number];
  std::string action;
  for (const auto& [name, trigger] : triggers())
    if (trigger == first.trigger) action = name;
  Json data = {{"app_enable", first.enabled},
               {"pkt_len", first.length},
               {"pkt_buffer_offset", first.offset},
               {"pipe_local_source_port", first.source_port},
               {"increment_source_port", first.increments_source_port},
               {"batch_count_cfg", first.batches - 1},
               {"packets_per_batch_cfg", first.packets - 1},
               {"ibg", first.batch_gap_ns},
               {"ibg_jitter", 0},
               {"ipg", first.packet_gap_ns},
               {"ipg_jitter", 0}};
  if (first.trigger == Trigger::kRecirculation) {
    data["pattern_value"] = first.pattern_value;
    data["pattern_mask"] = first.pattern_mask;
  } else if (first.trigger != Trigger::kPortDown) {
    data["timer_nanosec"] = first.timer_ns;
  }
  std::uint64_t counts[3] = {};
  for (const std::uint32_t pipe : pipes) {
    const Application& application = generator.state().pipes[pipe].applications[number];
    counts[0] += application.trigger_count;
    counts[1] += application.batch_count;
    counts[2] += application.packet_count;
  }
  data["trigger_counter"] = counts[0];
  data["batch_counter"] = counts[1];
  data["pkt_counter"] = counts[2];
  return {{"key", {{"app_id", number}}}, {"action", action}, {"data", data}};
}

Json describe_port(const PacketGenerator& generator, std::uint32_t number) {
  const PortState& port = generator.state().ports[number];
  return {{"key", {{"dev_port", number}}},
          {"data",
           {{"recirculation_enable", is_recirculation_port(static_cast<std::uint16_t>(number))},
            {"pktgen_enable", port.generates},
            {"pattern_matching_enable", port.matches_patterns},
            {"clear_port_down_enable", port.tells_port_down}}}};
}

Json describe_buffer(const PacketGenerator& generator, const Json& args, std::uint32_t pipe) {
  constexpr std::uint32_t kSize = PacketGenerator::kBufferBytes;
  const std::uint32_t offset = key_of(args, "pkt_buffer_offset", kSize - 1);
  const std::uint32_t size = key_of(args, "pkt_buffer_size", kSize - offset);
  const auto begin = generator.state().pipes[pipe].buffer.begin() + offset;
  return {{"key", {{"pkt_buffer_offset", offset}, {"pkt_buffer_size", size}}},
          {"data", {{"buffer", std::vector<std::uint8_t>(begin, begin + size)}}}};
}

}  // namespace

Json write_packet_generator(PacketGenerator& generator, const Json& args, std::uint64_t now_ns) {
  if (!args.is_object() || !args.contains("updates") || !args.at("updates").is_array())
    throw bad_argument("pktgen_write: \"updates\" is missing; expected an array of updates");
  State next = generator.state();
  const Json& updates = args.at("updates");
  for (std::size_t i = 0; i < updates.size(); ++i) {
    try {
      apply(updates[i], next);
    } catch (const CommandError& error) {
      throw refusal_of_batch(i, error);
    }
  }
  generator.configure(std::move(next), now_ns);
  return {{"applied", updates.size()}};
}

Json read_packet_generator(const PacketGenerator& generator, const Json& args) {
  const std::string table = table_of(args);
  const std::vector<std::uint32_t> pipes = pipes_of(args);
  const bool has_key = args.contains("key");
  Json entries = Json::array();
  if (table == "pkt_buffer") {
    entries.push_back(describe_buffer(generator, args, pipes.front()));
  } else if (table == "port_cfg") {
    const std::uint32_t ports = kPipes * kPortsPerPipe;
    const std::uint32_t first = has_key ? port_of(args) : 0;
    for (std::uint32_t port = first; port < (has_key ? first + 1 : ports); ++port)
      entries.push_back(describe_port(generator, port));
  } else {
    const std::uint32_t all = PacketGenerator::kApplications;
    const std::uint32_t first = has_key ? key_of(args, "app_id", all - 1) : 0;
    for (std::uint32_t number = first; number < (has_key ? first + 1 : all); ++number)
      entries.push_back(describe(generator, number, pipes));
  }
  return {{"table", table}, {"entries", std::move(entries)}};
}

}  // namespace turntable::dataplane
