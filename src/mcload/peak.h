// The highest rate at which a percentile of the latencies holds a limit, and its file.
#pragma once

#include <atomic>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "load/rate_search.h"
#include "mcload/generator.h"
#include "node/kept.h"

namespace turntable::mcload {

struct PeakSettings {
  static constexpr double kLeastPercentile = 0.1, kMostPercentile = 99.999;
  static constexpr double kLeastLimitUs = 1, kMostLimitUs = 6e7;  // histograms end there
  static constexpr std::int64_t kMostRepeats = 99;
  static constexpr double kFinest = 0.001, kCoarsest = 0.2;  // resolution

  double percentile = 99;
  double limit_us = 5000;
  double seconds = 5;
  double warmup_s = 1;
  double drain_s = 1;  // of a probe, at most
  int repeats = 3;
  double resolution = 0.02;
  double least_per_s = 0;  // no rate below it is probed

  // {"percentile", "limit_us", "seconds", "warmup_s", "drain_s", "repeats", "resolution"}; throws
  // CommandError.
  static PeakSettings from_json(const std::string& where, const nlohmann::json& search);
};

// Plays one measurement of a generator with these settings; for a search, a scan and a single run.
// The drain ends early when all is answered.
using Play =
    std::function<Measured(const GeneratorSettings& settings, double warmup_s, double seconds)>;
Play play_here(const std::string& where, const std::atomic<bool>& cancelled, double drain_s = 1);

// Begins with what a closed loop reaches; ends at the deadline (CLOCK_MONOTONIC) with what held
// until then. A probe whose generator was late by more than a tenth of the limit (99th percentile)
// is made again, twice at most, and then counts as it is. Throws CommandError where nothing did,
// where the closed loop stays below the least rate, and for a server whose answers are errors or
// that misses keys.
load::RateSearch::Result find_peak(const std::string& where, const GeneratorSettings& generator,
                                   const PeakSettings& settings, std::int64_t deadline_ns,
                                   const Play& play);

// "peak_per_s", "low_per_s", "high_per_s", "confirmed", "probes": the answer of `tune`. Throws
// CommandError if no rate held.
nlohmann::json peak_json(const std::string& where, const PeakSettings& settings,
                         const load::RateSearch::Result& result);

// Null if there is none. Throws CommandError.
nlohmann::json read_peak(const node::Kept& kept);

}  // namespace turntable::mcload
