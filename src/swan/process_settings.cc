#include "swan/process_settings.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "swan/cgroup_tree.h"
#include "swan/refusal.h"

namespace turntable::swan {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

[[noreturn]] void refuse(const std::string& what, int error) {
  throw CommandError(code_of_refusal(error), what + ": " + std::strerror(error));
}

// ESRCH: the thread has ended.
void check(int result, const std::string& what) {
  if (result != 0 && errno != ESRCH) refuse(what, errno);
}

void pin_thread(pid_t thread, const CpuList& cpus) {
  if (cpus.empty()) return;
  const auto most = static_cast<std::size_t>(cpus.back()) + 1;
  cpu_set_t* const set = CPU_ALLOC(most);
  const std::size_t size = CPU_ALLOC_SIZE(most);
  CPU_ZERO_S(size, set);
  for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), size, set);
  const int result = ::sched_setaffinity(thread, size, set);
  CPU_FREE(set);
  check(result, "processors " + cpu_list_text(cpus));
}

void set_policy(pid_t thread, Policy policy) {
  const sched_param parameters{.sched_priority = policy == Policy::kFifo ? 1 : 0};
  const int number = policy == Policy::kFifo   ? SCHED_FIFO
                     : policy == Policy::kIdle ? SCHED_IDLE
                                               : SCHED_OTHER;
  check(::sched_setscheduler(thread, number, &parameters),
        policy == Policy::kFifo ? "SCHED_FIFO (needs CAP_SYS_NICE; with RT_GROUP_SCHED also "
                                  "cpu.rt_runtime_us in the group)"
                                : "scheduling policy");
}

void set_nice(pid_t thread, int nice) {
  check(::setpriority(PRIO_PROCESS, static_cast<id_t>(thread), nice),
        "nice " + std::to_string(nice));
}

// Of resctrl each thread by itself; of a control group the process as a whole.
void join(const fs::path& group, pid_t pid) {
  const fs::path procs = group / "cgroup.procs";
  if (fs::exists(procs)) return write_control(procs, std::to_string(pid));
  for (const pid_t thread : threads_of(pid)) write_control(group / "tasks", std::to_string(thread));
}

// Groups first: a cpuset's processors replace an affinity, and SCHED_FIFO needs its group's time.
void apply_to(const ProcessSettings& settings, pid_t pid, const std::vector<pid_t>& threads) {
  for (const pid_t thread : threads) set_policy(thread, Policy::kOther);
  for (const fs::path& group : settings.groups) join(group, pid);
  for (const pid_t thread : threads) {
    pin_thread(thread, settings.cpus);
    set_nice(thread, settings.nice);
    set_policy(thread, settings.policy);
  }
}

ProcessSettings settings_of(const Json& json) {
  ProcessSettings settings;
  for (const Json& group : json.at("groups"))
    settings.groups.emplace_back(group.get<std::string>());
  settings.cpus = json.at("cpus").get<CpuList>();
  settings.nice = json.at("nice").get<int>();
  settings.policy = static_cast<Policy>(json.at("policy").get<int>());
  return settings;
}

}  // namespace

void apply(const ProcessSettings& settings, pid_t pid) {
  try {
    apply_to(settings, pid, threads_of(pid));
  } catch (const CommandError&) {
    if (!threads_of(pid).empty()) throw;
  }
}

std::vector<std::string> started_with(const ProcessSettings& settings, const fs::path& program,
                                      const std::vector<std::string>& command) {
  Json groups = Json::array();
  for (const fs::path& group : settings.groups) groups.push_back(group.native());
  const Json json = {{"groups", std::move(groups)},
                     {"cpus", settings.cpus},
                     {"nice", settings.nice},
                     {"policy", static_cast<int>(settings.policy)}};
  std::vector<std::string> words = {program, "enter", json.dump()};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

int enter(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2) return EXIT_FAILURE;
  try {
    apply_to(settings_of(Json::parse(arguments.front())), ::getpid(), {::getpid()});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "colocator: %s %s: %s\n", arguments[1].c_str(), kNotAsAsked, error.what());
    const auto* refusal = dynamic_cast<const CommandError*>(&error);
    return refusal != nullptr && refusal->code() == kUnsupported ? kForbiddenStatus : EXIT_FAILURE;
  }
  std::vector<std::string> words(arguments.begin() + 1, arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  std::fprintf(stderr, "colocator: cannot execute %s: %s\n", argv[0], std::strerror(errno));
  return EXIT_FAILURE;
}

void pin(pid_t thread, const CpuList& cpus) {
  pin_thread(thread, cpus);
}

std::vector<pid_t> threads_of(pid_t pid) {
  std::vector<pid_t> threads;
  std::error_code gone;  // the process may end meanwhile
  fs::directory_iterator thread("/proc/" + std::to_string(pid) + "/task", gone);
  for (const fs::directory_iterator end; !gone && thread != end; thread.increment(gone))
    threads.push_back(std::atoi(thread->path().filename().c_str()));
  return threads;
}

}  // namespace turntable::swan
