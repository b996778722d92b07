#include "swan/cpu_times.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/schedstat.h"
#include "node/host_stats.h"
#include "swan/cgroup_tree.h"

namespace turntable::swan {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNsPerUs = 1000;

std::int64_t tick_ns() {
  return 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
}

// Of /proc/PID/stat, from its field 14 on.
struct Ticks {
  std::int64_t utime = 0, stime = 0;    // of its threads, those that have ended too
  std::int64_t cutime = 0, cstime = 0;  // of its children
};

Ticks read_ticks(const fs::path& file) {
  Ticks ticks;
  const std::string stat = read_control(file);
  const std::size_t name_end = stat.rfind(')');  // the name may hold anything
  if (name_end == std::string::npos) return ticks;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  fields >> ticks.utime >> ticks.stime >> ticks.cutime >> ticks.cstime;
  return ticks;
}

void add_switches(const fs::path& file, CpuTimes& times) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::int64_t value = std::strtoll(line.c_str() + colon + 1, nullptr, 10);
    if (line.starts_with("voluntary_ctxt_switches")) times.voluntary_switches += value;
    if (line.starts_with("nonvoluntary_ctxt_switches")) times.involuntary_switches += value;
  }
}

// directory: of the process.
CpuTimes own_times(const fs::path& directory, const Ticks& ticks) {
  CpuTimes times{.user_ns = ticks.utime * tick_ns(), .system_ns = ticks.stime * tick_ns()};
  bool is_precise = true;
  std::error_code gone;  // the process may end meanwhile
  fs::directory_iterator thread(directory / "task", gone);
  for (const fs::directory_iterator end; !gone && thread != end; thread.increment(gone)) {
    const auto scheduling = scheduling_of(thread->path());
    is_precise = is_precise && scheduling.has_value();
    if (scheduling) times.total_ns += scheduling->run_ns;
    add_switches(thread->path() / "status", times);
  }
  // In ticks, but with the threads that have ended: a generator's do at the end of what is
  // measured.
  const std::int64_t in_ticks = times.user_ns + times.system_ns;
  times.total_ns = is_precise ? std::max(times.total_ns, in_ticks) : in_ticks;
  return times;
}

std::int64_t integer_of(const fs::path& file) {
  return std::strtoll(read_control(file).c_str(), nullptr, 10);
}

std::map<std::string, std::int64_t> pairs_of(const fs::path& file) {
  std::map<std::string, std::int64_t> pairs;
  std::ifstream stream(file);
  std::int64_t value = 0;
  for (std::string name; stream >> name >> value;) pairs[name] = value;
  return pairs;
}

}  // namespace

CpuTimes& CpuTimes::operator+=(const CpuTimes& other) {
  total_ns += other.total_ns;
  user_ns += other.user_ns;
  system_ns += other.system_ns;
  voluntary_switches += other.voluntary_switches;
  involuntary_switches += other.involuntary_switches;
  return *this;
}

CpuTimes used_between(const CpuTimes& from, const CpuTimes& until) {
  CpuTimes used{.total_ns = std::max<std::int64_t>(0, until.total_ns - from.total_ns),
                .user_ns = std::max<std::int64_t>(0, until.user_ns - from.user_ns),
                .system_ns = std::max<std::int64_t>(0, until.system_ns - from.system_ns),
                .voluntary_switches = until.voluntary_switches - from.voluntary_switches,
                .involuntary_switches = until.involuntary_switches - from.involuntary_switches};
  const std::int64_t divided = used.user_ns + used.system_ns;
  const double user_share =
      divided > 0 ? static_cast<double>(used.user_ns) / static_cast<double>(divided) : 1;
  used.user_ns = static_cast<std::int64_t>(user_share * static_cast<double>(used.total_ns));
  used.system_ns = used.total_ns - used.user_ns;
  return used;
}

CpuTimes process_times(pid_t pid, const fs::path& proc) {
  const fs::path directory = proc / std::to_string(pid);
  return own_times(directory, read_ticks(directory / "stat"));
}

CpuTimes family_times(pid_t pid, const fs::path& proc) {
  const fs::path directory = proc / std::to_string(pid);
  const Ticks ticks = read_ticks(directory / "stat");
  CpuTimes times = own_times(directory, ticks);
  times += {.total_ns = (ticks.cutime + ticks.cstime) * tick_ns(),
            .user_ns = ticks.cutime * tick_ns(),
            .system_ns = ticks.cstime * tick_ns()};
  return times;
}

std::optional<CpuTimes> group_times(const fs::path& group) {
  CpuTimes times;
  if (fs::exists(group / "cpuacct.usage")) {
    times.total_ns = integer_of(group / "cpuacct.usage");
    const auto ticks = pairs_of(group / "cpuacct.stat");
    const auto of = [&](const char* name) {
      const auto found = ticks.find(name);
      return found == ticks.end() ? 0 : found->second * tick_ns();
    };
    times.user_ns = of("user");
    times.system_ns = of("system");
    return times;
  }
  const auto counts = pairs_of(group / "cpu.stat");
  if (!counts.contains("usage_usec")) return std::nullopt;
  times.total_ns = counts.at("usage_usec") * kNsPerUs;
  times.user_ns = counts.at("user_usec") * kNsPerUs;
  times.system_ns = counts.at("system_usec") * kNsPerUs;
  return times;
}

std::int64_t busy_ns(const fs::path& proc) {
  const nlohmann::json host = node::host_stats(proc);
  std::int64_t busy = 0;
  for (const char* name : {"user_ns", "nice_ns", "system_ns", "irq_ns", "softirq_ns"})
    busy += host.at(name).get<std::int64_t>();
  return busy;
}

std::int64_t stolen_ns(const fs::path& proc) {
  return node::host_stats(proc).at("steal_ns").get<std::int64_t>();
}

}  // namespace turntable::swan
