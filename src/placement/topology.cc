#include "placement/topology.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/command_error.h"

namespace turntable {
namespace {

namespace fs = std::filesystem;

std::string line_of(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

int number_of(const fs::path& path, int otherwise) {
  std::ifstream file(path);
  int number = 0;
  return file >> number ? number : otherwise;
}

CpuList list_of(const fs::path& path) {
  return parse_cpu_list(path.native(), line_of(path));
}

// "l1d", "l1i", "l2", "l3".
std::string cache_name(const fs::path& cache) {
  const std::string type = line_of(cache / "type");
  std::string name = "l" + line_of(cache / "level");
  if (type == "Data") name += 'd';
  if (type == "Instruction") name += 'i';
  return name;
}

std::int64_t kib_of(const std::string& size) {
  const std::int64_t number = std::strtoll(size.c_str(), nullptr, 10);
  return size.ends_with('M') ? number * 1024 : number;
}

std::vector<fs::path> entries(const fs::path& directory, const std::string& prefix) {
  std::vector<fs::path> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(directory, none)) {
    if (entry.path().filename().native().starts_with(prefix)) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

Cpu read_cpu(const fs::path& directory, int number) {
  Cpu cpu;
  cpu.number = number;
  cpu.core = number_of(directory / "topology/core_id", number);
  // Some virtual machines and ARM boards say -1: one socket.
  cpu.socket = std::max(0, number_of(directory / "topology/physical_package_id", 0));
  cpu.siblings = list_of(directory / "topology/thread_siblings_list");
  if (cpu.siblings.empty()) cpu.siblings = {number};
  for (const fs::path& cache : entries(directory / "cache", "index"))
    cpu.share[cache_name(cache)] = list_of(cache / "shared_cpu_list");
  return cpu;
}

void read_nodes(const fs::path& directory, Topology& topology) {
  for (const fs::path& node : entries(directory, "node")) {
    const CpuList members = list_of(node / "cpulist");
    const int number = std::atoi(node.filename().c_str() + 4);
    for (Cpu& cpu : topology.cpus)
      if (contains(members, cpu.number)) cpu.node = number;
  }
}

}  // namespace

CpuList Topology::numbers() const {
  CpuList numbers;
  numbers.reserve(cpus.size());
  for (const Cpu& cpu : cpus) numbers.push_back(cpu.number);
  return numbers;
}

const Cpu& Topology::cpu(int number) const {
  return *std::find_if(cpus.begin(), cpus.end(),
                       [&](const Cpu& cpu) { return cpu.number == number; });
}

Topology read_topology(const fs::path& sys, const CpuList& allowed) {
  const fs::path system = sys / "devices/system";
  Topology topology;
  for (const int number : list_of(system / "cpu/online")) {
    if (!contains(allowed, number)) continue;
    topology.cpus.push_back(read_cpu(system / "cpu" / ("cpu" + std::to_string(number)), number));
  }
  if (topology.cpus.empty()) {
    throw CommandError("unavailable", (system / "cpu/online").native() +
                                          ": no processor is online and allowed for this process; "
                                          "expected at least one. See its affinity (taskset -p)");
  }
  const int first = topology.cpus.front().number;
  for (const fs::path& cache :
       entries(system / "cpu" / ("cpu" + std::to_string(first)) / "cache", "index"))
    topology.cache_kib[cache_name(cache)] = kib_of(line_of(cache / "size"));
  read_nodes(system / "node", topology);
  return topology;
}

Topology read_topology() {
  return read_topology("/sys", allowed_cpus());
}

nlohmann::json to_json(const std::vector<Cpu>& cpus) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Cpu& cpu : cpus) {
    nlohmann::json row = {
        {"cpu", cpu.number}, {"core", cpu.core}, {"socket", cpu.socket}, {"node", cpu.node}};
    for (const char* name : {"l1d", "l2", "l3"}) {
      const auto cache = cpu.share.find(name);
      row[name] =
          cache == cpu.share.end() ? nlohmann::json(nullptr) : nlohmann::json(cache->second);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace turntable
