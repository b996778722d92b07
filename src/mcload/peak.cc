#include "mcload/peak.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/clock.h"
#include "common/command_error.h"
#include "node/arguments.h"

namespace turntable::mcload {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kAheadNs = 20'000'000;  // for the threads to begin
constexpr double kReached = 0.95;              // of the rate is answered in the window
constexpr int kMaxProbes = 60;                 // then the interval is not confirmed
constexpr double kClosedLoopShare = 0.5;       // of a probe's time
constexpr double kLeastShare = 0.005;
constexpr double kMostMisses = 0.01;  // of the GETs
// The generator's own lateness (99th percentile), as a share of the limit: a probe with more is
// made again, so often at most.
constexpr double kMostLate = 0.1;
constexpr int kTries = 3;

std::int64_t ns_of(double seconds) {
  return static_cast<std::int64_t>(seconds * 1e9);
}

// A rate of errors, or of answers without a value, is no peak of what is to be measured.
void require_service(const std::string& where, const KeyValueStatistics& answers) {
  if (answers.errors.of_requests() > 0) {
    throw CommandError("unavailable", where + ": " + std::to_string(answers.errors.of_requests()) +
                                          " requests of a probe were answered with an error; "
                                          "expected a memcached with room for what is stored");
  }
  if (static_cast<double>(answers.misses) > kMostMisses * static_cast<double>(answers.gets)) {
    throw CommandError("unavailable",
                       where + ": " + std::to_string(answers.misses) + " of " +
                           std::to_string(answers.gets) +
                           " GETs of a probe missed; expected a memcached that holds all keys: "
                           "store them first, and give it enough memory");
  }
}

load::RateSearch::Outcome outcome_of(const std::string& where, const PeakSettings& settings,
                                     const Measured& measured) {
  require_service(where, measured.key_value);
  const std::int64_t ns = measured.percentile_ns(settings.percentile);
  const auto offered = static_cast<double>(measured.loop.offered);
  return {.value = ns < 0 ? -1 : static_cast<double>(ns) / 1e3,
          .achieved_per_s = measured.achieved_per_s(),
          .reached = static_cast<double>(measured.loop.delivered) >= kReached * offered,
          .late = static_cast<double>(measured.loop.send_late_ns.value_at_percentile(99)) / 1e3};
}

}  // namespace

PeakSettings PeakSettings::from_json(const std::string& where, const Json& search) {
  const node::Arguments fields(
      where + ", search", search,
      {"percentile", "limit_us", "seconds", "warmup_s", "drain_s", "repeats", "resolution"});
  PeakSettings settings;
  const auto number = [&](const char* name, double low, double high, double& value) {
    if (search.contains(name)) value = fields.number(name, low, high);
  };
  number("percentile", PeakSettings::kLeastPercentile, PeakSettings::kMostPercentile,
         settings.percentile);
  number("limit_us", PeakSettings::kLeastLimitUs, PeakSettings::kMostLimitUs, settings.limit_us);
  number("seconds", 0.01, 3600, settings.seconds);
  number("warmup_s", 0, 3600, settings.warmup_s);
  number("drain_s", 0, 3600, settings.drain_s);
  number("resolution", PeakSettings::kFinest, PeakSettings::kCoarsest, settings.resolution);
  settings.repeats = static_cast<int>(
      fields.integer_or("repeats", 1, PeakSettings::kMostRepeats, settings.repeats));
  return settings;
}

Play play_here(const std::string& where, const std::atomic<bool>& cancelled, double drain_s) {
  return [where, &cancelled, drain_s](const GeneratorSettings& settings, double warmup_s,
                                      double seconds) {
    Generator generator(where, settings);
    const std::int64_t before_ns = monotonic_ns();
    generator.draw(ns_of(warmup_s), ns_of(seconds), ns_of(drain_s));
    const std::int64_t drawn_ns = monotonic_ns();
    // To move what was drawn takes a small part of the time.
    generator.play(drawn_ns + kAheadNs + (drawn_ns - before_ns) / 4, cancelled);
    if (cancelled) throw CommandError("unavailable", where + ": ended by a signal or `shutdown`");
    return generator.measured();
  };
}

load::RateSearch::Result find_peak(const std::string& where, const GeneratorSettings& generator,
                                   const PeakSettings& settings, std::int64_t deadline_ns,
                                   const Play& play) {
  const auto is_time_for = [&](double seconds) {
    const std::int64_t longest = kAheadNs + ns_of(settings.warmup_s + seconds + settings.drain_s);
    return monotonic_ns() + longest <= deadline_ns;
  };
  const auto too_short = [&] {
    return CommandError("timeout", where +
                                       ": no rate has held at the deadline; expected a longer "
                                       "\"deadline_s\", fewer repeats or shorter probes");
  };
  GeneratorSettings closed = generator;
  closed.is_closed_loop = true;
  const double closed_s = std::max(0.01, settings.seconds * kClosedLoopShare);
  if (!is_time_for(closed_s)) throw too_short();
  const double reached = play(closed, settings.warmup_s, closed_s).achieved_per_s();
  if (reached <= 0) {
    throw CommandError("unavailable", where +
                                          ": nothing is answered; expected a memcached that "
                                          "serves at " +
                                          generator.servers.front().text());
  }
  if (reached < settings.least_per_s) {
    throw CommandError("unavailable",
                       where + ": a closed loop reaches " + std::to_string(std::llround(reached)) +
                           "/s, and no rate below " +
                           std::to_string(std::llround(settings.least_per_s)) +
                           "/s may be probed, of which -Q is a part; expected a lower -Q");
  }
  std::uint64_t run = 0;
  const auto probe = [&](double rate_per_s) -> std::optional<load::RateSearch::Outcome> {
    std::optional<load::RateSearch::Outcome> outcome;
    for (int tries = 0; tries < kTries && is_time_for(settings.seconds); ++tries) {
      GeneratorSettings open = generator;
      open.rate_per_s = rate_per_s;
      open.seed = generator.seed + ++run;  // other arrivals in each
      outcome = outcome_of(where, settings, play(open, settings.warmup_s, settings.seconds));
      if (outcome->late <= kMostLate * settings.limit_us) break;
    }
    return outcome;
  };
  auto found =
      load::RateSearch::run({.first_per_s = reached,
                             .least_per_s = std::max(reached * kLeastShare, settings.least_per_s),
                             .limit = settings.limit_us,
                             .resolution = settings.resolution,
                             .repeats = settings.repeats,
                             .max_probes = kMaxProbes},
                            probe);
  if (found.is_cut_short && found.low_per_s <= 0) throw too_short();
  return found;
}

Json peak_json(const std::string& where, const PeakSettings& settings,
               const load::RateSearch::Result& result) {
  if (result.low_per_s <= 0) {
    throw CommandError("unavailable",
                       where + ": no rate down to " +
                           std::to_string(std::llround(result.high_per_s)) +
                           "/s holds percentile " + Json(settings.percentile).dump() + " within " +
                           Json(settings.limit_us).dump() +
                           " us; expected a longer limit, or a memcached and a machine that are "
                           "less busy");
  }
  Json probes = Json::array();
  for (const auto& probe : result.probes) {
    probes.push_back(
        {{"rate_per_s", probe.rate_per_s},
         {"achieved_per_s", probe.outcome.achieved_per_s},
         {"percentile_us", probe.outcome.value < 0 ? Json() : Json(probe.outcome.value)},
         {"send_late_us", probe.outcome.late},
         {"repeat", probe.repeat},
         {"met", probe.met}});
  }
  return {{"peak_per_s", result.low_per_s},
          {"low_per_s", result.low_per_s},
          {"high_per_s", result.high_per_s > 0 ? Json(result.high_per_s) : Json()},
          {"achieved_per_s", result.achieved_per_s},
          {"confirmed", result.is_confirmed},
          {"probes", probes}};
}

Json read_peak(const node::Kept& kept) {
  Json found = kept.read();
  if (found.is_null()) return found;
  const bool is_peak = found.contains("peak_per_s") && found["peak_per_s"].is_number() &&
                       found["peak_per_s"].get<double>() > 0;
  if (!is_peak) {
    throw CommandError("unavailable", kept.path() +
                                          " holds no peak; remove it, or tune with \"forget\": "
                                          "true");
  }
  return found;
}

}  // namespace turntable::mcload
