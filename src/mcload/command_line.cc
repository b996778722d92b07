#include "mcload/command_line.h"

#include <csignal>
#include <cstdio>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "common/clock.h"
#include "mcload/agent.h"
#include "mcload/options.h"
#include "mcload/output_file.h"
#include "mcload/population.h"
#include "mcload/table.h"

namespace turntable::mcload {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kPopulateNs = 3600 * std::int64_t{1'000'000'000};
constexpr std::int64_t kSearchNs = 24 * kPopulateNs;

std::atomic<bool> cancelled{false};

void cancel(int /*signal*/) {
  cancelled = true;
}

// What --save and --json name.
struct Files {
  explicit Files(const Options& options) {
    if (!options.save.empty()) save.emplace("--save", options.save);
    if (!options.json.empty()) json.emplace("--json", options.json);
  }

  std::optional<OutputFile> save, json;
};

void populate_all(const Options& options) {
  const GeneratorSettings& generator = options.generator;
  for (const ServerAddress& server : generator.servers) {
    const Populated populated =
        populate("--server", server, generator.protocol, *generator.content,
                 monotonic_ns() + kPopulateNs, cancelled, options.reload || options.only_load);
    std::fprintf(stderr, "mcload: %s %s\n", server.text().c_str(),
                 populated.was_there ? "holds the records already" : "has got the records");
  }
}

// Where tables go: what is read by a program is alone on standard output.
std::ostream& tables(const Options& options) {
  return options.json == "-" ? std::cerr : std::cout;
}

void say(const std::string& note) {
  if (!note.empty()) std::fprintf(stderr, "mcload: %s\n", note.c_str());
}

// Adds up what all measurements have counted, those of a search too.
Play adding_up(Play play, KeyValueStatistics& all) {
  return [play = std::move(play), &all](const GeneratorSettings& settings, double warmup_s,
                                        double seconds) {
    Measured measured = play(settings, warmup_s, seconds);
    all.merge(measured.key_value);
    return measured;
  };
}

Json run_once(const Options& options, Files& files, const Play& play) {
  const Measured measured = play(options.generator, options.warmup_s, options.seconds);
  say(unanswered_note(measured));
  const bool is_closed = options.generator.is_closed_loop;
  tables(options) << table_header() << table_rows(measured, options.from_send)
                  << table_footer(measured, options.from_send, is_closed);
  if (files.save) files.save->write(distribution(measured, options.from_send));
  Json out = summary(measured);
  out["closed_loop"] = is_closed;
  out["rate_per_s"] = is_closed ? Json() : Json(options.generator.rate_per_s);
  return out;
}

Json run_scan(const Options& options, const Play& play) {
  Json rows = Json::array();
  tables(options) << scan_header() << std::flush;
  const Scan& scan = *options.scan;
  constexpr double kRounding = 1e-9;  // the last one is not lost to it
  const auto steps =
      static_cast<std::uint64_t>((scan.to_per_s - scan.from_per_s) / scan.step_per_s + kRounding);
  for (std::uint64_t step = 0; step <= steps; ++step) {
    const double rate = scan.from_per_s + static_cast<double>(step) * scan.step_per_s;
    GeneratorSettings generator = options.generator;
    generator.is_closed_loop = false;
    generator.rate_per_s = rate;
    const Measured measured = play(generator, options.warmup_s, options.seconds);
    say(unanswered_note(measured));
    tables(options) << scan_row(measured, options.from_send, rate) << std::flush;
    rows.push_back(summary(measured));
    rows.back()["rate_per_s"] = rate;
  }
  return {{"scan", rows}};
}

Json run_search(const Options& options, Files& files, const Play& play) {
  GeneratorSettings generator = options.generator;
  generator.is_closed_loop = false;
  PeakSettings search = *options.search;
  search.drain_s = options.drain_s;
  const auto found = find_peak("--search", generator, search, monotonic_ns() + kSearchNs, play);
  for (const auto& probe : found.probes) {
    std::fprintf(stderr, "mcload: %.0f/s: percentile %.0f us, achieved %.0f/s: %s\n",
                 probe.rate_per_s, probe.outcome.value, probe.outcome.achieved_per_s,
                 probe.met ? "holds" : "does not hold");
  }
  Json out = peak_json("--search", search, found);
  generator.rate_per_s = found.low_per_s;
  const Measured measured = play(generator, options.warmup_s, options.seconds);
  say(unanswered_note(measured));
  tables(options) << table_header() << table_rows(measured, options.from_send)
                  << table_footer(measured, options.from_send, false) << std::fixed
                  << std::setprecision(1) << "\nPeak QPS  = " << found.low_per_s << " (it holds; ";
  if (found.high_per_s > 0) {
    tables(options) << found.high_per_s << " does not";
  } else {
    tables(options) << "no rate was found that does not";
  }
  tables(options) << (found.is_confirmed ? ")\n" : "; neither was confirmed)\n") << std::flush;
  if (files.save) files.save->write(distribution(measured, options.from_send));
  out["at_peak"] = summary(measured);
  return out;
}

}  // namespace

int run_command_line(int argc, char** argv) {
  ParsedOptions parsed = parse_options(argc, argv);
  if (parsed.status) return *parsed.status;
  Options& options = parsed.options;
  for (const std::string& note : options.notes) std::fprintf(stderr, "mcload: %s\n", note.c_str());
  std::signal(SIGTERM, cancel);
  std::signal(SIGINT, cancel);
  if (options.is_agent) return serve_as_agent(options, cancelled);
  Files files(options);
  options.generator.content = std::make_shared<const Content>(options.content);
  say(options.generator.content->note());
  KeyValueStatistics all;
  // Before the records are stored, which may take long: it refuses agents and secrets that are
  // none.
  const Play play =
      adding_up(options.agents.empty() ? play_here("--server", cancelled, options.drain_s)
                                       : play_with_agents(options, cancelled),
                all);
  if (options.load) populate_all(options);
  if (options.only_load) return 0;
  const Json out = options.search ? run_search(options, files, play)
                   : options.scan ? run_scan(options, play)
                                  : run_once(options, files, play);
  if (files.json) files.json->write(out.dump(1) + "\n");
  if (!std::cout.flush())
    throw std::runtime_error("standard output: cannot be written; the tables are incomplete");
  const std::string faults = fault_note(all);
  say(faults);
  return faults.empty() ? 0 : kFaultyStatus;
}

}  // namespace turntable::mcload
