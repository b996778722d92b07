#include "swan/aggressor.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "common/command_error.h"
#include "swan/cgroup_tree.h"
#include "swan/control_groups.h"
#include "swan/refusal.h"
#include "swan/subreaper.h"

namespace turntable::swan {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kMark = "TURNTABLE_AGGRESSOR";
constexpr int kSettleProbeMs = 10;
constexpr int kGoneProbeMs = 2;
constexpr double kEndSeconds = 5;
constexpr double kLogSeconds = 2;  // for the end of its output, when nothing of it is left
constexpr double kVersionSeconds = 5;
constexpr double kOrderlyShare = 0.7;  // of the time to end, before SIGKILL

std::string next_mark() {
  static std::atomic<int> number{0};
  return std::to_string(::getpid()) + "." + std::to_string(++number);
}

bool has_option(const std::vector<std::string>& command, const std::string& option) {
  return std::any_of(command.begin(), command.end(), [&](const std::string& word) {
    return word == option || word.starts_with(option + "=");
  });
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

// A line of /proc/PID/stat.
struct ProcessState {
  char state = 'X';
  pid_t parent = -1, session = -1;

  bool has_ended() const { return state == 'Z' || state == 'X'; }  // its parent may not know it yet
};

ProcessState state_of(pid_t pid) {
  ProcessState process;
  const std::string stat = read_control("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return process;
  std::istringstream fields(stat.substr(name_end + 1));
  pid_t group = -1;
  fields >> process.state >> process.parent >> group >> process.session;
  return process;
}

// Whether the process has become another program than the one that starts it.
bool is_other_program(pid_t pid, const fs::path& starter) {
  std::error_code gone;
  const fs::path program = fs::read_symlink("/proc/" + std::to_string(pid) + "/exe", gone);
  return !gone && program != starter;
}

}  // namespace

Aggressor::Aggressor(node::Children& children, AggressorSpec spec, ProcessSettings settings,
                     Context context)
    : children_(children),
      spec_(std::move(spec)),
      settings_(std::move(settings)),
      context_(std::move(context)),
      mark_(next_mark()),
      commands_(command_lines(spec_, context_.values)) {
  for (std::size_t number = 0; auto& command : commands_) {
    const fs::path metrics = metrics_file(number++);
    if (node::find_program(command.front()).empty()) {
      throw CommandError("unavailable", "aggressor " + spec_.name + ": no program " +
                                            command.front() +
                                            "; expected it in PATH, or at that path: install it");
    }
    if (spec_.progress != AggressorSpec::Progress::kStressNg) continue;
    if (!has_option(command, "--metrics")) command.emplace_back("--metrics");
    if (!has_option(command, "--yaml")) {
      command.emplace_back("--yaml");
      command.emplace_back(metrics);
    }
  }
  if (spec_.version.empty()) return;
  std::vector<std::string> words;
  for (const std::string& word : spec_.version) words.push_back(with_values(word, context_.values));
  version_ = first_line(output_of(children_, words, Deadline::after_seconds(kVersionSeconds)));
}

Aggressor::~Aggressor() {
  try {
    stop(Deadline::after_seconds(kEndSeconds));
  } catch (const std::exception&) {  // nobody is left to be told; the guardian goes on
  }
}

fs::path Aggressor::metrics_file(std::size_t number) const {
  return context_.directory / ("aggressor." + std::to_string(number) + ".metrics.yaml");
}

void Aggressor::settle(Deadline deadline, const std::atomic<bool>& cancelled) {
  start();
  while (!holds()) {
    if (cancelled) throw CommandError("unavailable", "colocator settle: the node is ending");
    note_early_end();
    if (!early_.empty()) {
      const bool is_forbidden =
          early_.starts_with("exited with status " + std::to_string(kForbiddenStatus) + ";") &&
          early_.find(kNotAsAsked) != std::string::npos;
      throw CommandError(
          is_forbidden ? kUnsupported : "unavailable",
          "aggressor " + spec_.name + " " + early_ + "\nexpected it to run until it is ended");
    }
    if (deadline.passed()) {
      throw CommandError("timeout", "aggressor " + spec_.name +
                                        ": its probe did not hold at the deadline; it printed\n" +
                                        log_->last_lines());
    }
    ::poll(nullptr, 0, kSettleProbeMs);
  }
  note_workers();
}

void Aggressor::start() {
  std::error_code none;
  for (std::size_t number = 0; number < commands_.size(); ++number)
    fs::remove(metrics_file(number), none);
  if (spec_.probe == AggressorSpec::Probe::kFile)
    fs::remove(with_values(spec_.probe_text, context_.values), none);
  log_ = std::make_unique<ProgressLog>(context_.directory / "aggressor.log");
  for (const auto& command : commands_) {
    const UniqueFd writer = log_->open_writer();
    const auto words = context_.account ? command : under_subreaper(context_.program, command);
    try {
      started_.push_back(
          children_.start({.argv = started_with(settings_, context_.program, words),
                           .environment = {{kMark, mark_}},
                           .log_file = "/proc/self/fd/" + std::to_string(writer.get()),
                           .input = {}}));
    } catch (const std::system_error& error) {
      throw CommandError("unavailable", "aggressor " + spec_.name + ": " + error.what());
    }
  }
}

bool Aggressor::holds() const {
  for (const auto& child : started_)
    if (!child->is_running() || !is_executed(*child)) return false;
  switch (spec_.probe) {
    case AggressorSpec::Probe::kCpu:
      return static_cast<double>(times().total_ns) / 1e9 >= spec_.probe_seconds;
    case AggressorSpec::Probe::kLine:
      return log_->has_line_with(spec_.probe_text);
    case AggressorSpec::Probe::kFile:
      return fs::exists(with_values(spec_.probe_text, context_.values));
    case AggressorSpec::Probe::kAlive:
      break;
  }
  return true;
}

// A subreaper stays what it was started as; the command is its child.
bool Aggressor::is_executed(const node::Child& child) const {
  if (context_.account) return is_other_program(child.pid(), context_.program);
  const auto members = this->members();
  return std::any_of(members.begin(), members.end(), [&](pid_t pid) {
    return state_of(pid).parent == child.pid() && is_other_program(pid, context_.program);
  });
}

bool Aggressor::is_command(pid_t pid) const {
  const pid_t started = context_.account ? pid : state_of(pid).parent;
  return std::any_of(started_.begin(), started_.end(),
                     [&](const auto& child) { return child->pid() == started; });
}

// Children of the commands. stress-ng has one of each stressor, which may start more.
std::vector<pid_t> Aggressor::workers() const {
  std::vector<pid_t> workers = members();
  std::erase_if(workers, [&](pid_t pid) { return !is_command(state_of(pid).parent); });
  return workers;
}

void Aggressor::note_workers() {
  if (!spec_.has_fixed_workers) return;
  for (const pid_t pid : workers()) workers_.insert(pid);
}

std::string Aggressor::lost_workers() const {
  const auto lost = std::count_if(workers_.begin(), workers_.end(), [&](pid_t pid) {
    const ProcessState process = state_of(pid);
    return process.has_ended() || !is_command(process.parent);
  });
  if (lost == 0) return {};
  return "lost " + std::to_string(lost) + " of its " + std::to_string(workers_.size()) + " workers";
}

// Without a group that counts: what runs, or has ended and waits to be waited for, and what those
// have waited for. What ends between two readings of /proc may be missing or be there twice: at
// most the life of that process.
CpuTimes Aggressor::times() const {
  if (context_.account)
    if (const auto times = group_times(*context_.account)) return *times;
  CpuTimes sum;
  for (const pid_t pid : node::all_processes())
    if (owns(pid, state_of(pid).session)) sum += family_times(pid);
  return sum;
}

std::size_t Aggressor::processes() const {
  const auto members = this->members();
  if (context_.account) return members.size();
  const auto is_subreaper = [&](pid_t pid) {
    return std::any_of(started_.begin(), started_.end(),
                       [&](const auto& child) { return child->pid() == pid; });
  };
  return members.size() -
         static_cast<std::size_t>(std::count_if(members.begin(), members.end(), is_subreaper));
}

// By the group that they cannot leave, the session that most do not leave, and the mark in the
// environment that most keep: stress-ng's workers write over it.
std::vector<pid_t> Aggressor::members() const {
  std::set<pid_t> members;
  if (context_.account)
    for (const pid_t pid : members_of(*context_.account)) members.insert(pid);
  for (const pid_t pid : node::all_processes())
    if (has(pid)) members.insert(pid);
  return {members.begin(), members.end()};
}

bool Aggressor::has(pid_t pid) const {
  const ProcessState process = state_of(pid);
  return !process.has_ended() && owns(pid, process.session);
}

bool Aggressor::owns(pid_t pid, pid_t session) const {
  return std::any_of(started_.begin(), started_.end(),
                     [&](const auto& child) { return child->pid() == session; }) ||
         node::environment_of(pid, kMark) == mark_;
}

void Aggressor::ask_to_end() const {
  for (const auto& child : started_) {
    if (!child->is_running()) continue;
    if (spec_.progress == AggressorSpec::Progress::kStressNg) {
      child->send(SIGINT);  // it ends its workers itself, and writes its metrics
    } else {
      ::kill(-child->pid(), SIGTERM);  // it leads a group of its own
    }
  }
}

void Aggressor::kill_members() const {
  for (const pid_t pid : members()) {
    const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    const auto now = members();  // until the descriptor was open the number could go to another
    if (pidfd && std::find(now.begin(), now.end(), pid) != now.end())
      ::syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0U);
  }
}

void Aggressor::stop(Deadline deadline) {
  if (started_.empty()) return;
  note_early_end();
  ask_to_end();
  const auto left = deadline.time_point() - Deadline::Clock::now();
  const Deadline orderly =
      Deadline::after_seconds(kOrderlyShare * std::chrono::duration<double>(left).count());
  for (const auto& child : started_) child->wait(orderly);
  for (auto found = members(); !found.empty(); found = members()) {
    kill_members();
    if (deadline.passed()) {
      throw CommandError("timeout", "aggressor " + spec_.name + ": " +
                                        std::to_string(found.size()) +
                                        " processes still run after SIGKILL, the first is pid " +
                                        std::to_string(found.front()) + ": " +
                                        node::command_line_of(found.front()));
    }
    ::poll(nullptr, 0, kGoneProbeMs);
  }
  if (!log_->finish(Deadline::after_seconds(kLogSeconds))) {
    throw CommandError("timeout", "aggressor " + spec_.name +
                                      ": a process that has left its session and its environment "
                                      "still holds its output; expected a command that does not "
                                      "become a daemon");
  }
  started_.clear();
  workers_.clear();
}

void Aggressor::note_early_end() {
  if (!early_.empty()) return;
  const auto ended = std::find_if(started_.begin(), started_.end(),
                                  [](const auto& child) { return !child->is_running(); });
  const std::string how = ended != started_.end() ? (*ended)->end() : lost_workers();
  if (!how.empty()) early_ = how + "; last lines of its log:\n" + log_->last_lines();
}

std::string Aggressor::ended_early() {
  note_early_end();
  return early_;
}

Json Aggressor::progress(std::int64_t from_ns, std::int64_t until_ns, const CpuTimes& used) const {
  const double seconds = static_cast<double>(until_ns - from_ns) / 1e9;
  std::optional<double> amount;
  switch (spec_.progress) {
    case AggressorSpec::Progress::kNone:
      break;
    case AggressorSpec::Progress::kCpu:
      amount = static_cast<double>(used.total_ns) / 1e9;
      break;
    case AggressorSpec::Progress::kLines:
      if (log_) amount = log_->difference(from_ns, until_ns);
      break;
    case AggressorSpec::Progress::kStressNg:
      amount = stress_operations(used);
  }
  if (!amount) return nullptr;
  return {{"unit", spec_.unit}, {"amount", *amount}, {"seconds", seconds}};
}

// stress-ng counts from its start to its end, also while memcached is idle before and after what is
// measured. Its share of that is by processor time.
std::optional<double> Aggressor::stress_operations(const CpuTimes& used) const {
  StressMetrics life;
  for (std::size_t number = 0; number < commands_.size(); ++number) {
    const auto metrics = read_stress_metrics(metrics_file(number));
    if (!metrics) return std::nullopt;
    life.operations += metrics->operations;
    life.cpu_seconds += metrics->cpu_seconds;
  }
  if (life.cpu_seconds <= 0) return std::nullopt;
  return life.operations * static_cast<double>(used.total_ns) / 1e9 / life.cpu_seconds;
}

std::optional<StressMetrics> read_stress_metrics(const fs::path& yaml) {
  std::optional<StressMetrics> metrics;
  std::ifstream file(yaml);
  for (std::string line; std::getline(file, line);) {
    const std::size_t begin = line.find_first_not_of(" -");
    const std::size_t colon = line.find(':');
    if (begin == std::string::npos || colon == std::string::npos || colon < begin) continue;
    const std::string name = line.substr(begin, colon - begin);
    const double value = std::strtod(line.c_str() + colon + 1, nullptr);
    if (name == "bogo-ops") {
      if (!metrics) metrics.emplace();
      metrics->operations += value;
    }
    if (metrics && (name == "user-time" || name == "system-time")) metrics->cpu_seconds += value;
  }
  return metrics;
}

}  // namespace turntable::swan
