// mcload's command line: mutilate's option letters and some of our own (docs/mcload.md §2).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mcload/peak.h"
#include "mcload/settings.h"

namespace turntable::mcload {

struct Scan {
  double from_per_s = 0, to_per_s = 0, step_per_s = 0;
};

struct Options {
  GeneratorSettings generator;  // without content; rate_per_s is that of all hosts
  ContentSettings content;      // of each server
  double seconds = 5;
  double warmup_s = 0;
  double drain_s = 1;
  double connect_wait_s = 5;
  bool load = true;  // populate
  bool only_load = false;
  bool reload = false;     // although the store has the content
  bool from_send = false;  // which latency the table shows
  std::optional<PeakSettings> search;
  std::optional<Scan> scan;
  std::string save;  // file for the distribution of the latencies
  std::string json;  // file for everything; "-": standard output
  // Agents.
  bool is_agent = false;
  std::vector<std::string> agents;
  std::uint16_t agent_port = 5556;
  std::string secret_file;
  std::optional<std::uint32_t> own_connections, own_depth;  // the master's
  std::optional<double> own_rate_per_s;
  std::vector<std::string> notes;  // options that mean nothing here, for standard error
};

// Either what to do, or the exit status when everything is said (--help, a wrong argument).
struct ParsedOptions {
  std::optional<int> status;
  Options options;
};

// Throws std::invalid_argument for values that do not go together.
ParsedOptions parse_options(int argc, char** argv);

// "N:X" and "min:max:step" of --search and --scan. Throw std::invalid_argument.
PeakSettings parse_search(const std::string& text);
Scan parse_scan(const std::string& text);

}  // namespace turntable::mcload
