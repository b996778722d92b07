#include "node/host_stats.h"

#include <unistd.h>

#include <array>
#include <cctype>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "common/clock.h"
#include "common/command_error.h"

namespace turntable::node {
namespace {

using Json = nlohmann::json;

// In the order of /proc/stat (proc_stat(5)); what follows there is part of user and nice.
constexpr std::array kProcessorTimes = {"user_ns",   "nice_ns", "system_ns",  "idle_ns",
                                        "iowait_ns", "irq_ns",  "softirq_ns", "steal_ns"};

// In the order of /proc/net/dev; the empty names are of no interest here.
constexpr std::array kInterfaceCounts = {
    "rx_bytes", "rx_packets", "rx_errors",  "rx_drops",  "rx_overruns", "",           "",
    "",         "tx_bytes",   "tx_packets", "tx_errors", "tx_drops",    "tx_overruns"};

void add_processors(Json& out, const std::filesystem::path& proc) {
  std::ifstream file(proc / "stat");
  const std::int64_t tick_ns = kSecondNs / ::sysconf(_SC_CLK_TCK);
  std::string word;
  file >> word;
  for (const char* name : kProcessorTimes) {
    std::int64_t ticks = 0;
    if (word != "cpu" || !(file >> ticks)) {
      throw CommandError("unavailable", "host_stats: " + (proc / "stat").native() +
                                            ": expected a line \"cpu\" of 8 times or more");
    }
    out[name] = ticks * tick_ns;
  }
  int processors = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("cpu")) ++processors;
  }
  out["cpus"] = processors;
}

// How long some task waited for a processor; null where the kernel does not count it.
Json cpu_pressure_us(const std::filesystem::path& proc) {
  std::ifstream file(proc / "pressure/cpu");
  for (std::string word; file >> word;) {
    if (word.starts_with("total=")) return std::stoll(word.substr(word.find('=') + 1));
  }
  return nullptr;
}

Json interfaces(const std::filesystem::path& proc) {
  Json rows = Json::array();
  std::ifstream file(proc / "net/dev");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;  // the heading
    const std::size_t begin = line.find_first_not_of(' ');
    Json row = {{"name", line.substr(begin, colon - begin)}};
    std::istringstream counts(line.substr(colon + 1));
    for (const std::string name : kInterfaceCounts) {
      std::int64_t count = 0;
      counts >> count;
      if (!name.empty()) row[name] = count;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Json host_stats(const std::filesystem::path& proc) {
  Json out = {{"cpu_pressure_us", cpu_pressure_us(proc)}, {"interfaces", interfaces(proc)}};
  add_processors(out, proc);
  return out;
}

}  // namespace turntable::node
