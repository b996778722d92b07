#include "swan/platform.h"

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/clock.h"
#include "node/host_stats.h"
#include "swan/cpu_times.h"
#include "swan/window.h"

namespace turntable::swan {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr double kVersionSeconds = 10;
constexpr int kLoadMs = 1000;
constexpr std::int64_t kLeastOpenFiles = 10'240;
constexpr double kMostOthers = 0.2;
constexpr double kMostSteal = 0.02;

// The value of the first line that begins with `name`, a separator behind it.
std::string value_in(const fs::path& file, const std::string& name, char separator) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with(name)) continue;
    const std::size_t at = line.find(separator);
    if (at == std::string::npos) continue;
    std::string value = line.substr(at + 1);
    value.erase(0, value.find_first_not_of(" \t\""));
    value.erase(value.find_last_not_of(" \"\n") + 1);
    return value;
  }
  return {};
}

Json governors(const fs::path& sys, const Topology& topology) {
  Json governors = Json::object();
  for (const Cpu& cpu : topology.cpus) {
    const std::string number = std::to_string(cpu.number);
    const std::string governor =
        read_control(sys / "devices/system/cpu" / ("cpu" + number) / "cpufreq/scaling_governor");
    if (!governor.empty()) governors[number] = governor;
  }
  return governors.empty() ? Json(nullptr) : governors;
}

// Number -> name, of those that have a handler.
std::map<std::string, std::string> interrupts(const fs::path& file) {
  std::map<std::string, std::string> names;
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  while (std::getline(stream, line)) {
    std::istringstream words(line);
    std::string number, name;
    words >> number;
    if (!number.ends_with(':') || number.find_first_not_of("0123456789:") != std::string::npos)
      continue;
    for (std::string word; words >> word;) name = word;
    number.pop_back();
    names[number] = name;
  }
  return names;
}

Json irq_affinity(const fs::path& proc) {
  Json affinity = Json::object();
  for (const auto& [number, name] : interrupts(proc / "interrupts")) {
    const std::string cpus = read_control(proc / "irq" / number / "smp_affinity_list");
    if (!cpus.empty()) affinity[number + " " + name] = cpus;
  }
  return affinity;
}

Json integer_in(const fs::path& file) {
  std::ifstream stream(file);
  std::int64_t number = 0;
  return stream >> number ? Json(number) : Json(nullptr);
}

std::int64_t open_files() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<std::int64_t>(limit.rlim_cur);
}

std::string percent(double share) {
  return std::to_string(std::lround(100 * share)) + " %";
}

// The last word of the first line, without what is not a version.
Json last_word(const std::string& text) {
  std::istringstream words(text.substr(0, text.find('\n')));
  std::string last;
  for (std::string word; words >> word;) last = word;
  return last.empty() ? Json(nullptr) : Json(last);
}

}  // namespace

Json platform_record(const PlatformSources& sources, const Topology& topology,
                     const CgroupTree& groups, const Resctrl& resctrl) {
  const std::string model = value_in(sources.proc / "cpuinfo", "model name", ':');
  return {{"cpu_model", model.empty() ? Json(nullptr) : Json(model)},
          {"kernel", read_control(sources.proc / "sys/kernel/osrelease")},
          {"os", value_in(sources.os_release, "PRETTY_NAME", '=')},
          {"topology", to_json(topology.cpus)},
          {"caches", topology.cache_kib},
          {"governor", governors(sources.sys, topology)},
          {"tcp_syncookies", integer_in(sources.proc / "sys/net/ipv4/tcp_syncookies")},
          {"sched_autogroup", integer_in(sources.proc / "sys/kernel/sched_autogroup_enabled")},
          {"open_files", open_files()},
          {"irq_affinity", irq_affinity(sources.proc)},
          {"cgroup", to_json(groups)},
          {"rdt", resctrl.description()}};
}

Json program_versions(node::Children& children, const std::string& python) {
  const auto output = [&](const std::vector<std::string>& command) {
    if (node::find_program(command.front()).empty()) return std::string();
    return output_of(children, command, Deadline::after_seconds(kVersionSeconds));
  };
  const std::string stress = output({"stress-ng", "--version"});
  // "stress-ng, version 0.15.06 (gcc …"
  const std::size_t version = stress.find("version ");
  const std::string sklearn = output(
      {python, "-c", "from importlib import metadata; print(metadata.version('scikit-learn'))"});
  return {{"memcached", last_word(output({"memcached", "-V"}))},
          {"stress-ng",
           version == std::string::npos
               ? Json(nullptr)
               : Json(stress.substr(version + 8, stress.find(' ', version + 8) - version - 8))},
          {"python", last_word(output({python, "--version"}))},
          {"scikit-learn", sklearn.starts_with("Traceback") ? Json(nullptr) : last_word(sklearn)}};
}

Json measure_load(const std::string& testbed) {
  auto ours = processes_of_testbed(testbed);
  if (ours.empty()) ours.push_back(::getpid());
  const auto read = [&] {
    CpuTimes own;
    for (const pid_t pid : ours) own += process_times(pid);
    return std::tuple(monotonic_ns(), busy_ns(), stolen_ns(), own.total_ns);
  };
  const auto [begin, busy_begin, stolen_begin, own_begin] = read();
  ::poll(nullptr, 0, kLoadMs);  // waits: the interval over which the load is measured
  const auto [end, busy_end, stolen_end, own_end] = read();
  const auto whole =
      static_cast<double>(end - begin) * static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  const auto others = static_cast<double>(busy_end - busy_begin - (own_end - own_begin));
  return {{"running_others", std::max(0.0, others / whole)},
          {"steal_share", static_cast<double>(stolen_end - stolen_begin) / whole}};
}

Json platform_warnings(const Json& record) {
  Json warnings = Json::array();
  if (record.at("tcp_syncookies") == 1)
    warnings.push_back("tcp_syncookies is 1; expected 0: sysctl -w net.ipv4.tcp_syncookies=0");
  if (record.at("governor").is_object()) {
    for (const auto& [cpu, governor] : record.at("governor").items()) {
      if (governor == "performance") continue;
      warnings.push_back("governor of processor " + cpu + " is " + governor.get<std::string>() +
                         "; expected performance");
    }
  }
  if (const auto files = record.at("open_files").get<std::int64_t>(); files < kLeastOpenFiles) {
    warnings.push_back("open files are limited to " + std::to_string(files) + "; expected " +
                       std::to_string(kLeastOpenFiles) + " or more: ulimit -n");
  }
  const Json& load = record.at("load");
  const auto share = [&](const char* name) { return load.at(name).get<double>(); };
  if (share("running_others") > kMostOthers) {
    warnings.push_back("others used " + percent(share("running_others")) +
                       " of the processors' time; expected at most " + percent(kMostOthers));
  }
  if (share("steal_share") > kMostSteal) {
    warnings.push_back("the host of this virtual machine took " + percent(share("steal_share")) +
                       " of the processors' time; expected at most " + percent(kMostSteal));
  }
  const Json& version = record.at("cgroup").at("version");
  if (version.is_null()) {
    warnings.push_back(
        "there are no control groups of the controller cpu; expected them: without, only none, "
        "taskset, nice and sched_idle isolate");
  } else if (record.at("cgroup").at("tested") != true) {
    warnings.push_back("control groups are version 2, which this was not tested on");
  }
  return warnings;
}

}  // namespace turntable::swan
