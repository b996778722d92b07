// A best-effort job that disturbs: started, known to disturb, and gone afterwards.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/deadline.h"
#include "node/children.h"
#include "swan/aggressor_spec.h"
#include "swan/cpu_times.h"
#include "swan/process_settings.h"
#include "swan/progress_log.h"

namespace turntable::swan {

class Aggressor {
 public:
  struct Context {
    std::filesystem::path program;              // this one's file: it applies the settings first
    std::filesystem::path directory;            // of logs and of {directory}
    std::map<std::string, std::string> values;  // of placeholders
    // A control group that holds it alone and counts; without, its commands run under subreapers.
    std::optional<std::filesystem::path> account;
  };

  // Starts nothing yet. Throws CommandError for a command that cannot be started.
  Aggressor(node::Children& children, AggressorSpec spec, ProcessSettings settings,
            Context context);
  ~Aggressor();  // ends it
  Aggressor(const Aggressor&) = delete;
  Aggressor& operator=(const Aggressor&) = delete;

  const AggressorSpec& spec() const { return spec_; }
  const std::vector<std::vector<std::string>>& commands() const { return commands_; }
  const std::string& version() const { return version_; }  // of what was started

  // Starts it and returns when its probe holds. Throws CommandError when it has ended before, or
  // at the deadline.
  void settle(Deadline deadline, const std::atomic<bool>& cancelled);

  // Of a job with fixed workers: who is there now is to be there until it is ended, with those of
  // earlier calls. `settle` does the same.
  void note_workers();

  bool is_started() const { return !started_.empty(); }
  std::size_t processes() const;
  bool has(pid_t pid) const;  // whether it is one of its processes
  CpuTimes times() const;

  // Ends it; returns when nothing of it is left. Throws CommandError "timeout" that names what is.
  void stop(Deadline deadline);

  // How it, or a worker that was noted, ended before it was told to; empty: none did.
  std::string ended_early();
  // {"unit", "amount", "seconds"} between two instants (CLOCK_MONOTONIC), null for none. `used` is
  // its processor time between them.
  nlohmann::json progress(std::int64_t from_ns, std::int64_t until_ns, const CpuTimes& used) const;

 private:
  void start();
  bool holds() const;
  bool is_executed(const node::Child& child) const;
  bool owns(pid_t pid, pid_t session) const;
  std::vector<pid_t> members() const;
  void ask_to_end() const;
  void kill_members() const;
  void note_early_end();
  bool is_command(pid_t pid) const;
  std::vector<pid_t> workers() const;
  std::string lost_workers() const;
  std::filesystem::path metrics_file(std::size_t number) const;
  std::optional<double> stress_operations(const CpuTimes& used) const;

  node::Children& children_;
  const AggressorSpec spec_;
  const ProcessSettings settings_;
  const Context context_;
  const std::string mark_;  // in its environment
  std::vector<std::vector<std::string>> commands_;
  std::string version_;
  std::unique_ptr<ProgressLog> log_;
  std::vector<std::unique_ptr<node::Child>> started_;
  std::set<pid_t> workers_;  // that were noted
  std::string early_;
};

// The sums of bogo operations and of processor time in what stress-ng wrote with --yaml, over its
// whole life; empty: no metrics are there.
struct StressMetrics {
  double operations = 0;
  double cpu_seconds = 0;
};
std::optional<StressMetrics> read_stress_metrics(const std::filesystem::path& yaml);

}  // namespace turntable::swan
