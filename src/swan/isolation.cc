#include "swan/isolation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "node/arguments.h"
#include "swan/cpu_times.h"
#include "swan/refusal.h"

namespace turntable::swan {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::array kMechanisms = {"none", "taskset",    "cpuset", "shares", "idle", "quota",
                                    "fifo", "sched_idle", "nice",   "cat",    "mba"};
// Of these, HP and BE have a group each beside each other.
constexpr std::array kSideBySide = {"shares", "idle", "quota", "fifo"};

constexpr int kDefaultShares = 1024;  // version 1
constexpr int kWeightPerShare = 5;    // version 2 has weights from 1 to 10000, default 100
constexpr int kMostWeight = 10'000;

template <std::size_t N>
bool is_one_of(const std::array<const char*, N>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string weight_of(int shares) {
  return std::to_string(std::clamp(shares * kWeightPerShare, 1, kMostWeight));
}

// Makes the groups of one mechanism, step by step.
class Builder {
 public:
  Builder(const IsolationRequest& request, const Pinning& pinning, ControlGroups& groups,
          Resctrl& resctrl)
      : request_(request), pinning_(pinning), groups_(groups), resctrl_(resctrl) {}

  Isolation build() {
    isolation_.mechanism = request_.mechanism;
    pin();
    group_by_cpu();
    account();
    static const std::map<std::string, void (Builder::*)()> steps = {
        {"cpuset", &Builder::cpuset},
        {"shares", &Builder::shares},
        {"idle", &Builder::idle},
        {"quota", &Builder::quota},
        {"fifo", &Builder::fifo},
        {"nice", &Builder::nice},
        {"sched_idle", &Builder::sched_idle},
        {"cat", &Builder::cat},
        {"mba", &Builder::mba}};
    if (const auto step = steps.find(request_.mechanism); step != steps.end())
      (this->*step->second)();
    return std::move(isolation_);
  }

 private:
  bool is_first() const { return groups_.tree().version == 1; }
  void note(const std::string& text) { isolation_.applied.push_back(text); }

  void set(const fs::path& group, const std::string& file, const std::string& value) {
    write_control(group / file, value);
    note(file + " " + value + " in " + group.native());
  }

  void pin() {
    isolation_.hp.cpus = pinning_.hp;
    isolation_.be.cpus = pinning_.be;
    note("HP on processors " + cpu_list_text(pinning_.hp));
    note(pinning_.be_anywhere ? "BE on any processor"
                              : "BE on processors " + cpu_list_text(pinning_.be));
  }

  void group_by_cpu() {
    const bool apart = is_one_of(kSideBySide, request_.mechanism);
    if (!apart && !groups_.tree().has("cpu")) {
      note(
          "no control group: this machine has none of the controller cpu that may be written; "
          "sched_autogroup may weigh HP and BE as two sessions");
      return;
    }
    const fs::path scheduled = groups_.make("cpu", apart ? "hp" : "both");
    hp_ = apart || is_first() ? scheduled : groups_.make_below(scheduled, "hp");
    be_ = apart        ? groups_.make("cpu", "be")
          : is_first() ? scheduled
                       : groups_.make_below(scheduled, "be");
    isolation_.hp.groups.push_back(hp_);
    isolation_.be.groups.push_back(be_);
    note(apart ? "groups " + hp_.native() + " and " + be_.filename().native()
               : "HP and BE in group " + scheduled.native());
  }

  // Version 1 can count apart what is scheduled together, where cpuacct has a hierarchy of its own.
  // Version 2 does always: groups below the one that has the controller. Elsewhere the aggressor
  // itself looks at its processes.
  void account() {
    if (groups_.tree().apart("cpu", "cpuacct")) {
      const fs::path hp = groups_.make("cpuacct", "hp");
      const fs::path be = groups_.make("cpuacct", "be");
      isolation_.hp.groups.push_back(hp);
      isolation_.be.groups.push_back(be);
      isolation_.be_account = be;
    } else if (be_ != hp_ && group_times(be_)) {
      isolation_.be_account = be_;
    }
  }

  void cpuset() {
    if (is_first()) {
      isolation_.hp.groups.push_back(groups_.make("cpuset", "hp"));
      if (!pinning_.be_anywhere) isolation_.be.groups.push_back(groups_.make("cpuset", "be"));
    } else {
      groups_.pass_on("cpuset", hp_.parent_path());
    }
    set(isolation_.hp.groups.back(), "cpuset.cpus", cpu_list_text(pinning_.hp));
    if (!pinning_.be_anywhere)
      set(isolation_.be.groups.back(), "cpuset.cpus", cpu_list_text(pinning_.be));
  }

  void shares() {
    if (is_first()) {
      set(hp_, "cpu.shares", std::to_string(kDefaultShares));
      return set(be_, "cpu.shares", std::to_string(request_.be_shares));
    }
    set(hp_, "cpu.weight", weight_of(kDefaultShares));
    set(be_, "cpu.weight", weight_of(request_.be_shares));
  }

  void idle() { set(be_, "cpu.idle", "1"); }

  void quota() {
    constexpr std::int64_t kPeriodUs = 100'000;
    constexpr double kLeastUs = 1000;  // the kernel's
    const auto cpus = static_cast<double>(pinning_.be.size());
    const double wanted = request_.quota_share * cpus * static_cast<double>(kPeriodUs);
    const std::string quota = std::to_string(std::llround(std::max(kLeastUs, wanted)));
    const std::string period = std::to_string(kPeriodUs);
    if (!is_first()) return set(be_, "cpu.max", quota + " " + period);
    if (const auto above = number_above("cpu.cfs_quota_us"); above && *above >= 0) {
      const double share = *above / number_above("cpu.cfs_period_us").value_or(kPeriodUs);
      require_above(share * static_cast<double>(kPeriodUs) >= std::stod(quota), "cpu.cfs_quota_us",
                    quota + " in each " + period + " us");
    }
    set(be_, "cpu.cfs_period_us", period);
    set(be_, "cpu.cfs_quota_us", quota);
  }

  void fifo() {
    isolation_.hp.policy = Policy::kFifo;
    note("SCHED_FIFO priority 1 for HP");
    const fs::path file = "cpu.rt_runtime_us";
    if (!fs::exists(hp_ / file)) return;  // without RT_GROUP_SCHED
    const double period_us = std::stod(read_control(hp_ / "cpu.rt_period_us"));
    const std::string runtime = std::to_string(std::llround(request_.rt_runtime_share * period_us));
    if (const auto above = number_above(file); above && *above >= 0)
      require_above(*above >= std::stod(runtime), file, runtime);
    set(hp_.parent_path(), file, runtime);
    set(hp_, file, runtime);
  }

  // Version 1: of the group above ours, as a container's may be, which bounds those below it: the
  // kernel's answer to more is EINVAL, as to what may pass. Empty: a root has no such file.
  std::optional<double> number_above(const fs::path& file) const {
    const fs::path above = hp_.parent_path().parent_path() / file;
    if (!fs::exists(above)) return std::nullopt;
    return std::stod(read_control(above));
  }

  void require_above(bool is_enough, const fs::path& file, const std::string& wanted) const {
    if (is_enough) return;
    const fs::path above = hp_.parent_path().parent_path() / file;
    throw CommandError(kUnsupported, above.native() + " is " + read_control(above) +
                                         ", and groups below it may have no more; expected " +
                                         wanted + " or more, or -1");
  }

  void nice() {
    isolation_.be.nice = request_.nice;
    note("nice " + std::to_string(request_.nice) + " for BE, 0 for HP");
  }

  void sched_idle() {
    isolation_.be.policy = Policy::kIdle;
    note("SCHED_IDLE for BE");
  }

  void cat() {
    const unsigned long long all = resctrl_.all_ways();
    const int ways = std::popcount(all);
    const int fewest = resctrl_.fewest_ways();
    if (request_.cat_ways < fewest || ways - request_.cat_ways < fewest) {
      throw CommandError(kUnsupported, "isolation: \"cat_ways\" is " +
                                           std::to_string(request_.cat_ways) + "; expected from " +
                                           std::to_string(fewest) + " to " +
                                           std::to_string(ways - fewest) + ": the cache has " +
                                           std::to_string(ways) + " ways, and HP gets the others");
    }
    const unsigned long long be = (1ULL << static_cast<unsigned>(request_.cat_ways)) - 1;
    isolation_.be.groups.push_back(resctrl_.give_ways("be", be));
    isolation_.hp.groups.push_back(resctrl_.give_ways("hp", all & ~be));
    note("CAT: BE has " + std::to_string(request_.cat_ways) + " of " + std::to_string(ways) +
         " ways, HP the others");
  }

  void mba() {
    const int least = resctrl_.least_bandwidth();
    if (request_.mba_percent < least) {
      throw CommandError(kUnsupported, "isolation: \"mba_percent\" is " +
                                           std::to_string(request_.mba_percent) +
                                           "; expected from " + std::to_string(least) +
                                           " to 100: the processor gives no less");
    }
    isolation_.be.groups.push_back(resctrl_.give_bandwidth("be", request_.mba_percent));
    note("MBA: BE is limited to " + std::to_string(request_.mba_percent) + " %");
  }

  const IsolationRequest& request_;
  const Pinning& pinning_;
  ControlGroups& groups_;
  Resctrl& resctrl_;
  Isolation isolation_;
  fs::path hp_, be_;  // of the controller cpu; version 2: they or the group above them
};

}  // namespace

IsolationRequest isolation_request(const std::string& where, const Json& json) {
  const node::Arguments arguments(where + ", isolation", json,
                                  {"mechanism", "be_shares", "quota_share", "be_nice",
                                   "rt_runtime_share", "cat_ways", "mba_percent"});
  IsolationRequest request;
  request.mechanism = arguments.text("mechanism");
  if (!is_one_of(kMechanisms, request.mechanism)) {
    std::string names;
    for (const char* name : kMechanisms) names += (names.empty() ? "" : ", ") + std::string(name);
    arguments.fail("mechanism", request.mechanism, "one of " + names);
  }
  const auto integer = [&](const char* name, int low, int high, int otherwise) {
    return static_cast<int>(arguments.integer_or(name, low, high, otherwise));
  };
  request.be_shares = integer("be_shares", 2, 262'144, request.be_shares);
  request.nice = integer("be_nice", -20, 19, request.nice);
  request.cat_ways = integer("cat_ways", 1, 63, request.cat_ways);
  request.mba_percent = integer("mba_percent", 1, 100, request.mba_percent);
  if (json.contains("quota_share")) request.quota_share = arguments.number("quota_share", 0.001, 1);
  if (json.contains("rt_runtime_share"))
    request.rt_runtime_share = arguments.number("rt_runtime_share", 0.01, 0.95);
  return request;
}

Json to_json(const Isolation& isolation) {
  return {{"mechanism", isolation.mechanism}, {"applied", isolation.applied}};
}

Isolation isolate(const IsolationRequest& request, const Pinning& pinning, ControlGroups& groups,
                  Resctrl& resctrl) {
  return Builder(request, pinning, groups, resctrl).build();
}

}  // namespace turntable::swan
