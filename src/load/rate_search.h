// The highest rate at which a measurement holds, found although single measurements are noisy.
//
// Each rate is probed several times and judged by the majority of the probes. Where their median
// lies close to the limit, they are doubled first: a rate that just holds or just fails must not be
// decided by luck. Rates go down until one holds, then they are bisected (geometrically) between
// the highest that held and the lowest that did not. In the end both are judged once more; one that
// was judged wrongly moves, and the search goes on from there. So the lower end of the answer held
// twice, and the upper one did not twice.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

namespace turntable::load {

class RateSearch {
 public:
  struct Settings {
    double first_per_s = 0;    // the first guess: about what can be reached at all
    double least_per_s = 1;    // given up below it
    double limit = 0;          // what is measured is to be at most this
    double resolution = 0.02;  // the search ends when the two ends are so close, as a share
    int repeats = 3;           // probes of a rate
    double close = 0.1;        // a median so close to the limit (as a share) is looked at again
    // Then neither end is looked at again, nor are they brought closer together; only where nothing
    // holds, lower rates are still probed.
    int max_probes = 100;
  };

  // Of one measurement.
  struct Outcome {
    double value = 0;  // as the limit; negative: there is none, and it is above every limit
    double achieved_per_s = 0;
    bool reached = true;  // the rate was offered and answered at all
    double late = 0;      // how late the generator itself was, as the limit; it decides nothing
  };

  struct Probe {
    double rate_per_s;
    Outcome outcome;
    int repeat;  // of this rate, from 0
    bool met;
  };

  struct Result {
    double low_per_s = 0;       // the highest that held, as it was judged last; 0: none
    double high_per_s = 0;      // the lowest that did not; 0: all did
    double achieved_per_s = 0;  // median of the probes at low_per_s
    bool is_confirmed = false;
    bool is_cut_short = false;  // there was no time for another probe
    std::vector<Probe> probes;
  };

  // Nothing: there is no time for another one. The search ends with what held until then.
  using Measure = std::function<std::optional<Outcome>(double rate_per_s)>;

  static Result run(const Settings& settings, const Measure& measure);

 private:
  RateSearch(const Settings& settings, const Measure& measure)
      : settings_(settings), measure_(measure) {}

  struct OutOfTime {};

  void search();
  bool holds(double rate_per_s);
  bool judge(double rate_per_s);
  void bracket(double rate_per_s);
  bool confirm();
  void bisect();
  bool met(const Outcome& outcome) const;
  bool is_close(const std::vector<Outcome>& outcomes) const;
  bool has_probes_left() const;
  void finish();

  const Settings settings_;
  const Measure& measure_;
  Result result_;
  std::set<double> held_;
};

}  // namespace turntable::load
