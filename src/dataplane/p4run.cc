// p4run --program PATH.so [--pipes N] [--trace [FILTER]]: runs one translated program in memory for
// packet tests. Requests and answers are the JSON lines of docs/architecture.md §2 on standard
// input and output: the program's control commands, and
//   inject {"port": 1, "data": "hex"} -> {"frames": [{"port": 2, "data": "hex"}]}
// Traces go to standard error (docs/p4soft.md, "Traces").
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "common/command_error.h"
#include "common/command_line.h"
#include "common/hex.h"
#include "dataplane/control.h"
#include "dataplane/memory_switch.h"
#include "dataplane/packet_tracer.h"
#include "dataplane/program.h"
#include "dataplane/trace_text.h"

namespace turntable::dataplane {
namespace {

std::string frame_of_hex(const std::string& text) {
  std::string bytes;
  if (text.size() % 2 != 0) throw bad_argument("inject: \"data\" has an odd number of hex digits");
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const std::string pair = text.substr(i, 2);
    if (pair.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
      throw bad_argument("inject: '" + pair + "' in \"data\" is not a hex byte");
    }
    bytes += static_cast<char>(std::stoul(pair, nullptr, 16));
  }
  return bytes;
}

nlohmann::json told(const std::vector<Frame>& left) {
  nlohmann::json frames = nlohmann::json::array();
  for (const Frame& frame : left)
    frames.push_back(
        {{"port", frame.port}, {"data", to_hex(std::as_bytes(std::span(frame.bytes)))}});
  return {{"frames", frames}};
}

nlohmann::json inject(MemorySwitch& network, const nlohmann::json& args) {
  if (!args.contains("port") || !args.at("port").is_number_unsigned() || !args.contains("data")) {
    throw bad_argument("inject: expected {\"port\": number, \"data\": hex text}");
  }
  const Frame arriving{args.at("port"), frame_of_hex(args.at("data"))};
  return told(network.inject(arriving, args.value("now_ns", std::uint64_t{0})));
}

nlohmann::json generate(MemorySwitch& network, const nlohmann::json& args) {
  if (!args.contains("now_ns") || !args.at("now_ns").is_number_unsigned())
    throw bad_argument("generate: expected {\"now_ns\": number}");
  return told(network.generate(args.at("now_ns")));
}

nlohmann::json execute(MemorySwitch& network, const std::string& command,
                       const nlohmann::json& args) {
  if (command == "inject") return inject(network, args);
  if (command == "generate") return generate(network, args);
  return network.execute(command, args);
}

nlohmann::json error_answer(const std::string& code, const std::string& message) {
  return {{"ok", false}, {"error", {{"code", code}, {"message", message}}}};
}

nlohmann::json answer(MemorySwitch& network, const std::string& line) {
  nlohmann::json id;
  nlohmann::json result;
  try {
    const auto request = nlohmann::json::parse(line);
    id = request.value("id", nlohmann::json());
    const std::string command = request.at("command");
    const auto args = request.value("args", nlohmann::json::object());
    result = {{"ok", true}, {"result", execute(network, command, args)}};
  } catch (const CommandError& error) {
    result = error_answer(error.code(), error.what());
  } catch (const nlohmann::json::exception& error) {
    result = error_answer("bad_argument", error.what());
  }
  result["id"] = id;
  return result;
}

int run(const std::string& path, std::uint32_t pipes, const std::optional<std::string>& trace) {
  const std::unique_ptr<Program> program =
      trace ? load_traced_program(path, pipes) : load_program(path.c_str(), pipes);
  std::optional<PacketTracer> tracer;
  if (trace) {
    tracer.emplace(*program, TraceFilter::parse(*trace),
                   [](const auto& packet) { std::cerr << trace_text(packet) << std::flush; });
  }
  MemorySwitch network(*program, tracer ? &*tracer : nullptr);
  for (std::string line; std::getline(std::cin, line);) {
    // An error may quote what came, which need not be UTF-8.
    const nlohmann::json answered = answer(network, line);
    std::cout << answered.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
              << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace turntable::dataplane

int main(int argc, char** argv) {
  try {
    turntable::CommandLine app(
        "p4run", "Runs a translated P4 program in memory: JSON lines in, JSON lines out");
    std::string program;
    app.add_option("--program", program, "lib/p4/NAME.so")->required();
    std::uint32_t pipes = 1;
    app.add_option("--pipes", pipes, "Pipes with a state of their own; 1: all ports share one")
        ->check(CLI::IsMember({1, 2, 4}))
        ->capture_default_str();
    std::string filter;
    const CLI::Option* const trace =
        app.add_option("--trace", filter, "Trace packets; FILTER as softswitch has it")
            ->expected(0, 1)
            ->type_name("FILTER");
    CLI11_PARSE(app, argc, argv);
    return turntable::dataplane::run(program, pipes,
                                     trace->count() == 0 ? std::nullopt : std::optional(filter));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "p4run: %s\n", error.what());
    return 1;
  }
}
