#include "load/arrivals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "workload/random.h"

namespace turntable::load {
namespace {

// The published client draws -ln(1 - u) milliseconds, u uniform in [0, 2000 / rate). It was meant
// for u in [0, 1) and a mean of 1 ms.
constexpr double kLegacyUnitS = 1e-3;
constexpr double kLegacyLeastRate = 2000;
constexpr double kRounding = 1e-9;

constexpr std::array<std::pair<std::string_view, Process>, 5> kNames = {
    {{"exponential", Process::kExponential},
     {"uniform", Process::kUniform},
     {"periodic", Process::kPeriodic},
     {"legacy", Process::kLegacy},
     {"trace", Process::kTrace}}};

std::string number_text(double number) {
  std::string text = std::to_string(number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

// Mean of -ln(1 - u) for u uniform in [0, end).
double legacy_mean(double end) {
  if (end >= 1) return 1;
  return ((1 - end) * std::log1p(-end) + end) / end;
}

double legacy_end(double rate_per_s, double dilation) {
  const double undilated = rate_per_s * dilation;
  // What was divided by the dilation and by the clients may be a little less after that.
  if (undilated < kLegacyLeastRate * (1 - kRounding)) {
    throw std::invalid_argument(
        "process \"legacy\" at " + number_text(undilated) +
        "/s per client: the published client sends nothing below 2000/s (it takes the logarithm of "
        "a negative number); expected at least 2000/s per client, or process \"exponential\"");
  }
  return std::min(1.0, kLegacyLeastRate / undilated);
}

double checked_mean(const std::optional<Variate>& variate) {
  const double mean = variate ? variate->mean() : 0;
  if (mean > 0 && std::isfinite(mean)) return mean;
  throw std::invalid_argument("arrivals \"" + (variate ? variate->text() : std::string()) +
                              "\": their mean distance is " + number_text(mean) +
                              "; expected one above 0 that is finite");
}

std::vector<double> stretched(std::span<const double> trace, double rate_per_s) {
  const double sum = std::accumulate(trace.begin(), trace.end(), 0.0);
  if (!(sum > 0)) {
    throw std::invalid_argument(
        "process \"trace\": its distances add up to nothing; expected at "
        "least one, none negative, not all 0");
  }
  const double mean = sum / static_cast<double>(trace.size());
  std::vector<double> seconds(trace.begin(), trace.end());
  for (double& gap : seconds) gap /= mean * rate_per_s;
  return seconds;
}

}  // namespace

Process process_of(std::string_view name) {
  for (const auto& [known, process] : kNames)
    if (known == name) return process;
  throw std::invalid_argument("process \"" + std::string(name) +
                              "\": expected exponential, uniform, periodic, legacy or trace");
}

Arrivals::Arrivals(const Settings& settings)
    : settings_(settings),
      scale_s_(1 / settings.rate_per_s),
      mean_rate_per_s_(settings.rate_per_s) {
  if (!(settings.rate_per_s > 0)) {
    throw std::invalid_argument("a rate of " + number_text(settings.rate_per_s) +
                                "/s; expected more than 0");
  }
  if (settings.process == Process::kLegacy) {
    legacy_end_ = legacy_end(settings.rate_per_s, settings.dilation);
    scale_s_ = kLegacyUnitS * settings.dilation;
    mean_rate_per_s_ = 1 / (scale_s_ * legacy_mean(legacy_end_));
  }
  if (settings.process == Process::kTrace)
    trace_s_ = stretched(settings.trace, settings.rate_per_s);
  if (settings.process == Process::kVariate) scale_s_ /= checked_mean(settings.variate);
  settings_.trace = {};  // may end before this object
}

double Arrivals::gap_s(std::uint64_t number, double uniform) const noexcept {
  switch (settings_.process) {
    case Process::kUniform:
      return 2 * uniform * scale_s_;
    case Process::kPeriodic:
      return number == 0 ? uniform * scale_s_ : scale_s_;
    case Process::kLegacy:
      return -std::log1p(-uniform * legacy_end_) * scale_s_;
    case Process::kTrace:
      return trace_s_[(settings_.trace_begin + number) % trace_s_.size()];
    case Process::kVariate:
      return settings_.variate->value(uniform) * scale_s_;
    default:
      return -std::log1p(-uniform) * scale_s_;
  }
}

Arrivals::Settings arrivals_of(std::string_view text, double rate_per_s) {
  const std::string_view name = text.substr(0, text.find(':'));
  Arrivals::Settings settings{.rate_per_s = rate_per_s};
  if (name == "exponential" || name == "uniform" || name == "periodic" || name == "fixed") {
    const bool has_range = name == "uniform" && text.find(',') != std::string_view::npos;
    settings.process =
        has_range ? Process::kVariate : process_of(name == "fixed" ? "periodic" : name);
    if (text != name) settings.variate = Variate::parse(text);  // refuses what is wrong
    return settings;
  }
  settings.process = Process::kVariate;
  settings.variate = Variate::parse(text == "normal" ? "normal:4,1" : text);
  return settings;
}

Gap drawn_gaps(const Arrivals& arrivals, std::uint64_t seed, std::uint64_t client) {
  const std::uint64_t of_client = workload::stream_before_client(seed, client);
  return [=](std::uint64_t number) {
    const std::uint64_t bits = workload::stream_seed_of(of_client, number);
    return arrivals.gap_s(number, workload::unit_interval(bits));
  };
}

std::vector<std::int64_t> instants(const Gap& gap, std::int64_t start_ns, std::int64_t until_ns,
                                   std::size_t most) {
  std::vector<std::int64_t> instants;
  double after_s = 0;
  for (std::uint64_t number = 0;; ++number) {
    after_s += gap(number);
    const std::int64_t at_ns = start_ns + std::llround(after_s * 1e9);
    if (at_ns >= until_ns) return instants;
    if (instants.size() == most) {
      throw std::length_error("more than " + std::to_string(most) +
                              " requests of one client; expected a lower rate, a shorter window "
                              "or more clients");
    }
    instants.push_back(at_ns);
  }
}

std::vector<double> read_trace(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::invalid_argument("trace " + path + ": cannot be read");
  std::vector<double> gaps;
  for (std::string line; std::getline(file, line);) {
    char* end = nullptr;
    const double gap = std::strtod(line.c_str(), &end);
    if (end == line.c_str() || *end != '\0' || !(gap >= 0) || !std::isfinite(gap)) {
      std::string message = "trace " + path;
      message.append(", line ").append(std::to_string(gaps.size() + 1));
      message.append(": \"").append(line);
      throw std::invalid_argument(message + "\"; expected a distance, a number from 0 on");
    }
    gaps.push_back(gap);
  }
  return gaps;
}

}  // namespace turntable::load
