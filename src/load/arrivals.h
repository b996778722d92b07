// When an open loop sends: the distances between the instants of successive requests.
//
// A distance is a function of the request's number and of a number that the caller draws for it,
// uniform in [0, 1). So whoever draws as a function of (seed, client, number) has arrivals that are
// such a function too, on every machine and in a simulation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "load/variate.h"

namespace turntable::load {

enum class Process : std::uint8_t {
  kExponential,  // a Poisson process
  kUniform,      // distances uniform between 0 and twice the mean
  kPeriodic,     // all the same; the first is cut at random, so that clients are not in step
  kLegacy,       // that of the published NetClone client, whose rate is below the given one
  kTrace,        // recorded distances, stretched to the rate
  kVariate,      // independent draws of a distribution, stretched to the rate
};

// "exponential", …; throws std::invalid_argument for another name.
Process process_of(std::string_view name);

class Arrivals {
 public:
  struct Settings {
    Process process = Process::kExponential;
    double rate_per_s = 0;  // of this client
    // kLegacy: by how much the experiment is slower than the published one, whose times are fixed.
    double dilation = 1;
    // kTrace: distances in any unit; they begin at `trace_begin` and are repeated.
    std::span<const double> trace = {};
    std::size_t trace_begin = 0;
    // kVariate: the distances in any unit.
    std::optional<Variate> variate = {};
  };

  // Throws std::invalid_argument with the reason if the process cannot have this rate.
  explicit Arrivals(const Settings& settings);

  // From request `number` - 1 (0: from the start) to request `number`.
  double gap_s(std::uint64_t number, double uniform) const noexcept;

  // What the process has in the long run; that of kLegacy is not the given one.
  double mean_rate_per_s() const noexcept { return mean_rate_per_s_; }

 private:
  Settings settings_;
  std::vector<double> trace_s_;
  double scale_s_ = 0;     // what the drawn number is multiplied by
  double legacy_end_ = 0;  // kLegacy: numbers are drawn from [0, legacy_end_)
  double mean_rate_per_s_;
};

// Settings for a name of a process or a distribution in mutilate's notation (load/variate.h):
// "periodic" is also "fixed", "fb_ia" is Facebook's, "normal:4,1" has a standard deviation of a
// quarter of the mean at every rate, and so has "normal" alone. Throws std::invalid_argument.
Arrivals::Settings arrivals_of(std::string_view text, double rate_per_s);

// Seconds from the request before; of request 0, from the start.
using Gap = std::function<double(std::uint64_t number)>;

// With draws of its own, each a function of (seed, client, number): for systems that draw nothing
// else.
Gap drawn_gaps(const Arrivals& arrivals, std::uint64_t seed, std::uint64_t client);

// The instants before `until_ns` of a process that starts at `start_ns`. Throws std::length_error
// for more than `most`.
std::vector<std::int64_t> instants(const Gap& gap, std::int64_t start_ns, std::int64_t until_ns,
                                   std::size_t most);

// The distances of a file: one positive number per line. Throws std::invalid_argument that names
// file and line.
std::vector<double> read_trace(const std::string& path);

}  // namespace turntable::load
