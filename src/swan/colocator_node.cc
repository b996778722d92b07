#include "swan/colocator_node.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "common/clock.h"
#include "common/command_error.h"
#include "node/arguments.h"
#include "node/common_start.h"
#include "swan/cache_share.h"

namespace turntable::swan {
namespace {

using node::Arguments;

constexpr std::int64_t kMaxWindowNs = 3600 * std::int64_t{1'000'000'000};
constexpr double kMostSeconds = 24 * 3600;
constexpr double kStatisticsSeconds = 2;
constexpr const char* kResctrl = "/sys/fs/resctrl";

std::string group_name(const ControlGroups& groups) {
  const auto directories = groups.directories();
  return directories.empty() ? "turntable." + std::to_string(::getpid())
                             : directories.front().filename().native();
}

}  // namespace

ColocatorNode::ColocatorNode(Options options, std::function<void(std::string)> set_state)
    : options_(std::move(options)),
      set_state_(std::move(set_state)),
      allowed_(allowed_cpus()),
      groups_(find_cgroups(), options_.testbed, options_.host),
      resctrl_(kResctrl, group_name(groups_)),
      guardian_(options_.program, groups_.directories(), resctrl_.directories()) {
  groups_.on_change(
      [this](const auto& control, const auto& undo) { guardian_.undo_with(control, undo); });
  groups_.remove_stale();
  resctrl_.remove_stale();
}

ColocatorNode::~ColocatorNode() {
  try {
    clear();
  } catch (const std::exception& error) {  // the guardian goes on
    std::cerr << "colocator: " << error.what() << std::endl;
  }
}

void ColocatorNode::clear() {
  forget();
  memcached_.reset();
  groups_.clear();
  resctrl_.clear();
}

// Of the last measurement; memcached stays.
void ColocatorNode::forget() {
  is_prepared_ = false;
  is_settled_ = false;
  unsettled_.clear();
  sampler_.reset();
  window_.reset();
  aggressor_.reset();
}

ColocatorNode::Json ColocatorNode::prepare(const Json& args) {
  const std::string where = "colocator prepare";
  const Arguments arguments(where, args, {"placement", "isolation", "memcached", "aggressor"});
  const auto placement = placement_request(where, arguments.object("placement"));
  const auto isolation = isolation_request(where, arguments.object("isolation"));
  const Json& memcached = arguments.object("memcached");
  const auto settings = memcached_settings(where, memcached);
  const bool fresh = memcached.value("fresh", Json(true)) != false;
  std::optional<AggressorSpec> spec;
  if (args.contains("aggressor") && !args["aggressor"].is_null())
    spec = aggressor_spec(where, arguments.object("aggressor"));

  const std::lock_guard lock(mutex_);
  set_state_("idle");
  forget();
  placement_ = place(read_topology("/sys", allowed_), placement);
  prepare_memcached(settings, fresh);
  if (memcached_->is_running()) apply(*memcached_, {.groups = {}, .cpus = allowed_});
  groups_.clear();
  resctrl_.clear();
  const bool anywhere =
      placement_.l3.empty() || (spec && spec->place == AggressorSpec::Place::kAnywhere);
  aggressor_cpus_ = anywhere                                           ? allowed_
                    : spec && spec->place == AggressorSpec::Place::kL1 ? placement_.l1
                                                                       : placement_.l3;
  isolation_ =
      isolate(isolation, {.hp = placement_.hp, .be = aggressor_cpus_, .be_anywhere = anywhere},
              groups_, resctrl_);
  apply(*memcached_, isolation_.hp);
  if (spec) aggressor_ = make_aggressor(*spec);
  is_prepared_ = true;
  set_state_("prepared");
  return {{"memcached",
           {{"pid", memcached_->pid()},
            {"command", memcached_->command()},
            {"fresh", was_started_fresh_}}},
          {"placement", to_json(placement_)},
          {"isolation", to_json(isolation_)}};
}

std::unique_ptr<Aggressor> ColocatorNode::make_aggressor(const AggressorSpec& spec) {
  Aggressor::Context context{.program = options_.program,
                             .directory = options_.directory,
                             .values = {{"cpus", cpu_list_text(aggressor_cpus_)},
                                        {"bin_dir", options_.program.parent_path()},
                                        {"python", options_.python},
                                        {"directory", options_.directory}},
                             .account = isolation_.be_account};
  aggressor_cache_ = nullptr;
  if (spec.cache) {
    const CacheShare share =
        cache_share(spec.cache->level, spec.cache->kib, aggressor_cpus_.front());
    context.values["cache_ways"] = std::to_string(share.ways);
    aggressor_cache_ = to_json(share);
  }
  return std::make_unique<Aggressor>(children_, spec, isolation_.be, std::move(context));
}

// One that was killed is started again.
void ColocatorNode::prepare_memcached(const textstore::MemcachedSettings& settings, bool fresh) {
  const bool keeps =
      !fresh && memcached_ && memcached_->is_running() && memcached_->settings() == settings;
  was_started_fresh_ = !keeps;
  if (keeps) return;
  memcached_.reset();  // its port is needed again
  memcached_ = std::make_unique<textstore::MemcachedProcess>(children_, settings,
                                                             options_.directory / "memcached.log");
}

ColocatorNode::Json ColocatorNode::settle(const Json& args) {
  const Arguments arguments("colocator settle", args, {"deadline_s"});
  const Deadline deadline =
      Deadline::after_seconds(arguments.number("deadline_s", 0, kMostSeconds));
  const std::lock_guard lock(mutex_);
  if (!is_prepared_ || sampler_) {
    throw CommandError(
        "wrong_state",
        "colocator settle: nothing is prepared; send `prepare` before each `settle`");
  }
  if (aggressor_ && aggressor_->is_started())
    throw CommandError("wrong_state", "colocator settle: the aggressor runs already");
  const std::int64_t begin = monotonic_ns();
  settle_aggressor(deadline);
  if (!aggressor_) return {{"settled_s", 0}};
  return {{"settled_s", static_cast<double>(monotonic_ns() - begin) / 1e9},
          {"command", aggressor_->commands()},
          {"version", aggressor_->version()},
          {"processes", aggressor_->processes()},
          {"cpus", aggressor_cpus_},
          {"cache", aggressor_cache_}};
}

void ColocatorNode::settle_aggressor(Deadline deadline) {
  try {
    if (aggressor_) aggressor_->settle(deadline, cancelled_);
  } catch (const CommandError& error) {
    unsettled_ = error.what();
    throw;
  }
  is_settled_ = true;
}

ColocatorNode::Json ColocatorNode::start(const Json& args) {
  const Arguments arguments("colocator start", args,
                            {"start_at_ns", "warmup_ns", "measure_ns", "drain_ns"});
  const std::int64_t warmup = arguments.integer("warmup_ns", 0, kMaxWindowNs);
  const std::int64_t measure = arguments.integer("measure_ns", 1'000'000, kMaxWindowNs);
  arguments.integer("drain_ns", 0, kMaxWindowNs);
  const std::int64_t start_at = arguments.integer("start_at_ns", 0, INT64_MAX);
  node::check_common_start("colocator start", start_at, warmup);
  const std::lock_guard lock(mutex_);
  if (!is_prepared_ || sampler_ || (aggressor_ && !is_settled_)) {
    const std::string why = unsettled_.empty() ? "nothing is settled" : "`settle` failed";
    throw CommandError("wrong_state",
                       "colocator start: " + why +
                           "; send `prepare` and `settle` before each `start`" +
                           (unsettled_.empty() ? "" : ". What `settle` said: " + unsettled_));
  }
  if (aggressor_) aggressor_->note_workers();
  const std::int64_t from = start_at + realtime_to_monotonic_ns() + warmup;
  // Now, before the common start: to look for them takes milliseconds.
  sampler_ = std::make_unique<WindowSampler>(
      from, from + measure, [this, ours = our_processes()] { return sample(ours); },
      WindowSampler::Options{.program = "colocator"});
  set_state_("running");
  return Json::object();
}

// Without HP and BE.
std::vector<pid_t> ColocatorNode::our_processes() const {
  std::vector<pid_t> processes = processes_of_testbed(options_.testbed);
  std::erase_if(processes, [&](pid_t pid) {
    return pid == memcached_->pid() || (aggressor_ && aggressor_->has(pid));
  });
  return processes;
}

// On the sampler's thread, which ends before memcached and aggressor do.
Sample ColocatorNode::sample(const std::vector<pid_t>& ours) const {
  Sample sample{.at_ns = monotonic_ns(),
                .hp = process_times(memcached_->pid()),
                .be = aggressor_ ? aggressor_->times() : CpuTimes(),
                .ours = {},
                .busy_ns = busy_ns(),
                .memcached = {}};
  for (const pid_t pid : ours) sample.ours += process_times(pid);
  sample.memcached = memcached_->statistics(Deadline::after_seconds(kStatisticsSeconds));
  return sample;
}

ColocatorNode::Json ColocatorNode::finish(const Json& args) {
  const Arguments arguments("colocator finish", args, {"deadline_s"});
  const Deadline deadline =
      Deadline::after_seconds(arguments.number("deadline_s", 0, kMostSeconds));
  const std::lock_guard lock(mutex_);
  const std::int64_t begin = monotonic_ns();
  if (sampler_) {
    sampler_->stop();
    window_ = sampler_->window();
  }
  if (aggressor_) aggressor_->stop(deadline);
  set_state_("finished");
  return {{"gone", true}, {"seconds", static_cast<double>(monotonic_ns() - begin) / 1e9}};
}

ColocatorNode::Json ColocatorNode::stats(const Json& args) {
  const Arguments arguments("colocator stats", args, {});
  const std::lock_guard lock(mutex_);
  if (!window_) {
    throw CommandError("wrong_state",
                       "colocator stats: no window was measured to its end; send `start`, wait "
                       "until the window is over, then `finish`");
  }
  return {{"window_ns", window_->end.at_ns - window_->begin.at_ns},
          {"memcached", memcached_stats(*window_)},
          {"aggressor", aggressor_stats(*window_)},
          {"placement", to_json(placement_)},
          {"isolation", to_json(isolation_)},
          {"others_share", others_share(*window_)},
          {"platform", platform_},
          {"probe", probe_},
          {"first_probe", first_probe_}};
}

ColocatorNode::Json ColocatorNode::memcached_stats(const Window& window) {
  const auto value = [](const Sample& sample, const char* name) -> Json {
    const auto found = sample.memcached.find(name);
    if (found == sample.memcached.end()) return nullptr;
    return std::strtoll(found->second.c_str(), nullptr, 10);
  };
  const auto difference = [&](const char* name) -> Json {
    const Json begin = value(window.begin, name);
    const Json end = value(window.end, name);
    if (begin.is_null() || end.is_null()) return nullptr;
    return end.get<std::int64_t>() - begin.get<std::int64_t>();
  };
  const CpuTimes used = used_between(window.begin.hp, window.end.hp);
  const Json pid = memcached_->pid();
  // One that did not answer in time is still the same.
  const auto is_other = [&](const Json& answered) {
    return !answered.is_null() && answered != pid;
  };
  const bool restarted = !memcached_->is_running() || is_other(value(window.begin, "pid")) ||
                         is_other(value(window.end, "pid"));
  return {{"pid", pid},
          {"restarted", restarted},
          {"ended", memcached_->is_running() ? Json(nullptr) : Json(memcached_->end())},
          {"command", memcached_->command()},
          {"version", window.end.memcached.contains("version")
                          ? Json(window.end.memcached.at("version"))
                          : Json(nullptr)},
          {"user_ns", used.user_ns},
          {"system_ns", used.system_ns},
          {"voluntary_switches", used.voluntary_switches},
          {"involuntary_switches", used.involuntary_switches},
          {"stats",
           {{"get_hits", difference("get_hits")},
            {"get_misses", difference("get_misses")},
            {"evictions", difference("evictions")},
            {"curr_items", value(window.end, "curr_items")},
            {"curr_connections", value(window.end, "curr_connections")}}}};
}

ColocatorNode::Json ColocatorNode::aggressor_stats(const Window& window) {
  if (!aggressor_) return nullptr;
  const CpuTimes used = used_between(window.begin.be, window.end.be);
  const std::string early = aggressor_->ended_early();
  return {{"name", aggressor_->spec().name},
          {"command", aggressor_->commands()},
          {"version", aggressor_->version()},
          {"count", aggressor_->spec().count},
          {"cpus", aggressor_cpus_},
          {"cache", aggressor_cache_},
          {"user_ns", used.user_ns},
          {"system_ns", used.system_ns},
          {"ended_early", early.empty() ? Json(nullptr) : Json(early)},
          {"progress", aggressor_->progress(window.begin.at_ns, window.end.at_ns, used)}};
}

// Null: started by hand, so nobody knows which processes are the generator's.
ColocatorNode::Json ColocatorNode::others_share(const Window& window) const {
  if (options_.testbed.empty()) return nullptr;
  const auto used = [](const CpuTimes& from, const CpuTimes& until) {
    return used_between(from, until).total_ns;
  };
  const Sample& begin = window.begin;
  const Sample& end = window.end;
  const std::int64_t others = end.busy_ns - begin.busy_ns - used(begin.hp, end.hp) -
                              used(begin.be, end.be) - used(begin.ours, end.ours);
  const auto whole = static_cast<double>(end.at_ns - begin.at_ns) *
                     static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  return std::max(0.0, static_cast<double>(others) / whole);
}

ColocatorNode::Json ColocatorNode::reset(const Json& args) {
  const Arguments arguments("colocator reset", args, {});
  const std::lock_guard lock(mutex_);
  clear();
  set_state_("idle");
  return Json::object();
}

}  // namespace turntable::swan
