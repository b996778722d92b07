// workload-analyze: where a workload's requests go, and what throughput that allows.
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "common/command_error.h"
#include "common/program_options.h"
#include "common/standard_output.h"
#include "workload/hottest.h"
#include "workload/popularity_model.h"
#include "workload/recorded_trace.h"
#include "workload/report.h"
#include "workload/trace_file.h"
#include "workload/write_through.h"

namespace turntable::workload {
namespace {

constexpr std::uint64_t kDefaultCachedKeys = 10'000;
constexpr double kLongestModel = 1e12;  // in 1/c
constexpr double kMostPieces = 1000;

struct Options {
  nlohmann::json workload = nlohmann::json::object();
  std::vector<std::uint64_t> scales = {16};
  std::optional<std::uint64_t> cached;
  std::uint64_t head_ranks = kDefaultHeadRanks;
  bool trace = false;
  std::string trace_directory;  // empty: count the traces, write nothing
  std::vector<double> update_round_trips;
  WriteThroughModel::Window window;
  std::optional<PopularityPlan> popularity;
  bool json = false;
};

void declare_popularity(ProgramOptions& app, Options& options, ProgramOptions::Option trace) {
  const auto plan = [&options]() -> PopularityPlan& {
    if (!options.popularity) options.popularity.emplace();
    return *options.popularity;
  };
  app.option<std::string>(
         "--popularity", [plan](const std::string& name) { plan().pattern = pattern_from(name); },
         "How the hot keys of the traces change: stable, hotin, hotout or random")
      .needs(trace);
  app.option<std::uint64_t>(
      "--hot-list", [plan](std::uint64_t keys) { plan().hot_list = keys; },
      "Hottest keys, in whose places others come (--popularity)");
  app.option<std::uint64_t>(
      "--keys-changed", [plan](std::uint64_t keys) { plan().keys_changed = keys; },
      "Keys of each change (--popularity)");
  app.option<std::uint64_t>(
      "--changes", [plan](std::uint64_t changes) { plan().changes = changes; },
      "Number of changes (--popularity)");
}

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

template <typename Value>
void add_field(ProgramOptions& app, Options& options, const char* flag, const char* field,
               const char* help) {
  app.option<Value>(
      flag, [&options, field](const Value& value) { options.workload[field] = value; }, help);
}

ProgramOptions::Option declare_options(ProgramOptions& app, Options& options) {
  app.option<std::string>(
         "--workload", [&options](const std::string& name) { options.workload["name"] = name; },
         "Profile, such as workloada (docs/workloads.md); trace: the requests of --recorded")
      .required();
  app.option<std::string>(
      "--recorded",
      [&options](const std::string& file) {
        options.workload["trace"] = {{"file", file}};
      },
      "File with a recorded trace: CSV key,operation,value size, or what YCSB's BasicDB prints");
  app.option("--scales", options.scales, "Numbers of logical servers (default 16)")
      .comma_separated();
  add_field<std::int64_t>(app, options, "--records", "records", "Records before the run");
  add_field<double>(app, options, "--theta", "theta", "Skew of the popularity, in (0, 1)");
  add_field<std::int64_t>(app, options, "--value-bytes", "value_bytes", "Size of a value");
  add_field<std::int64_t>(app, options, "--clients", "clients", "Logical clients of the whole run");
  add_field<std::int64_t>(app, options, "--operations", "operations",
                          "Length of all clients' traces together");
  add_field<std::uint64_t>(app, options, "--seed", "seed", "Seed of the traces");
  add_field<std::int64_t>(app, options, "--round", "round", "Repetition the traces belong to");
  app.option("--cached", options.cached,
             "Hottest keys that the switch answers (default 10000, or all if fewer)");
  app.option("--head-ranks", options.head_ranks,
             "Zipfian ranks that are followed to their keys; fewer are faster and less exact");
  const auto trace = app.option("--trace", options.trace_directory,
                                "Count the real traces too; with DIR also write them there")
                         .optional_value("[DIR]");
  const auto window =
      app.option("--window", options.window.length, "Length of the model's window, in 1/c")
          .within(1, kLongestModel);
  app.option("--warmup", options.window.warmup, "Time of the model before its window, in 1/c")
      .within(0, kLongestModel);
  app.option("--ramp", options.window.ramp,
             "Time of the model over which its clients begin, one after the other (default 0: all "
             "at once)")
      .within(0, kLongestModel)
      .needs(window);
  app.option("--update-round-trips", options.update_round_trips,
             "Replay the traces against a model of a write-through cache whose value updates "
             "take so long (u c)")
      .comma_separated()
      .within(0, kLongestModel)
      .needs(trace)
      .needs(window);
  app.option(
         "--pieces", options.window.pieces,
         "From so many places of the traces, for the model's spread (default 1: from the first)")
      .within(1, kMostPieces)
      .needs(window);
  declare_popularity(app, options, trace);
  app.option<std::string>(
         "--format", [&options](const std::string& format) { options.json = format == "json"; },
         "Format of the report: json or text (default)")
      .one_of({"json", "text"});
  return trace;
}

std::vector<ScaleAnalysis> analyze_scales(const Options& options, const std::vector<double>& total,
                                          const std::vector<double>& cached) {
  std::vector<ScaleAnalysis> scales;
  for (const std::uint64_t scale : options.scales) {
    scales.push_back(analyze_scale(scale, total, cached));
  }
  return scales;
}

// Of a recorded trace all requests at once, which clients share.
WriteThroughModel model_of(const Workload& workload, const std::vector<KeyId>& cached) {
  if (!workload.recorded) return WriteThroughModel(cached);
  WriteThroughModel model(cached, workload.clients);
  model.add(0, workload.recorded->traces(1, 0, 1).front());
  return model;
}

TraceReport analyze_traces(const Options& options, const Workload& workload, std::uint64_t cached) {
  const Stopwatch watch;
  const std::vector<KeyId> cached_keys = hottest_keys(workload, cached);
  std::optional<TraceDirectory> directory;
  if (!options.trace_directory.empty()) directory.emplace(options.trace_directory, workload);
  std::optional<WriteThroughModel> model;
  if (!options.update_round_trips.empty()) model.emplace(model_of(workload, cached_keys));
  std::optional<PopularityModel> popularity;
  if (options.popularity) popularity.emplace(workload, *options.popularity, cached);
  TraceReport report;
  TraceVisitor visit;
  const bool counts = model && !workload.recorded;
  if (directory || counts || popularity) {
    visit = [&](unsigned client, const std::vector<Operation>& trace) {
      if (directory) directory->add(client, trace);
      if (counts) model->add(client, trace);
      if (popularity) popularity->add(trace);
    };
  }
  report.composition = compose_traces(workload, cached_keys, visit);
  if (directory) directory->finish();
  if (popularity) report.popularity = popularity->finish();
  report.scales = analyze_scales(options, report.composition.requests(), report.composition.cached);
  for (const double round_trip : options.update_round_trips) {
    report.write_through.push_back({.update_round_trip = round_trip, .placements = {}});
  }
  for (const ScaleAnalysis& scale : report.scales) {
    if (!model) break;
    auto rates = model->rotate(scale.scale, scale.uncached.bottleneck, options.update_round_trips,
                               options.window);
    for (std::size_t i = 0; i < rates.size(); ++i) {
      report.write_through[i].placements.push_back(std::move(rates[i]));
    }
  }
  report.seconds = watch.seconds();
  return report;
}

// What a file says is all there is: it promises nothing but its own requests.
Report analyze_recorded(const Options& options, Report report) {
  Workload& workload = report.workload;
  const RecordedTrace& recorded = *workload.recorded;
  workload.operations = recorded.requests();
  workload.records = recorded.keys().size();
  workload.value_bytes = recorded.longest_value();
  if (workload.operations < workload.clients) {
    throw bad_argument("trace " + recorded.file() + ": " + std::to_string(workload.operations) +
                       " requests; expected at least one for each of the " +
                       std::to_string(workload.clients) +
                       " clients: a longer trace, or fewer clients");
  }
  report.cached_keys = hottest_keys(workload, options.cached.value_or(kDefaultCachedKeys)).size();
  report.trace = analyze_traces(options, workload, report.cached_keys);
  report.scales = report.trace->scales;
  return report;
}

Report analyze(const Options& options) {
  for (const std::uint64_t scale : options.scales) check_scale(scale);
  Report report;
  report.workload = workload_from_json(options.workload);
  if (report.workload.recorded) return analyze_recorded(options, std::move(report));
  if (options.trace) check_runnable(report.workload);
  report.cached_keys =
      options.cached.value_or(std::min(kDefaultCachedKeys, report.workload.records));

  const Stopwatch watch;
  KeySet cached(report.workload.records);
  for (const auto number : hottest_key_numbers(report.workload, report.cached_keys)) {
    cached.insert(number);
  }
  const SlotLoads loads = expected_slot_loads(report.workload, cached, options.head_ranks);
  report.unresolved_variance = loads.unresolved_variance;
  report.scales = analyze_scales(options, loads.total, loads.cached);
  report.seconds = watch.seconds();
  if (options.trace) report.trace = analyze_traces(options, report.workload, report.cached_keys);
  return report;
}

int run(int argc, char** argv) {
  ProgramOptions app("workload-analyze",
                     "Where a workload's requests go, and what throughput that allows");
  Options options;
  const auto trace = declare_options(app, options);
  if (const auto status = app.parse(argc, argv)) return *status == 0 ? 0 : 2;
  options.trace = trace.given();
  const Report report = analyze(options);
  const std::string text =
      options.json ? report_as_json(report).dump(2) + "\n" : report_as_text(report);
  print_result(text);
  return 0;
}

}  // namespace
}  // namespace turntable::workload

int main(int argc, char** argv) {
  try {
    return turntable::workload::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "workload-analyze: %s\n", error.what());
    return 2;
  }
}
