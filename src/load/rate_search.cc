#include "load/rate_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace turntable::load {
namespace {

constexpr double kDown = 0.8;      // steps until a rate holds, which become longer
constexpr double kDownLast = 0.1;  // the longest
constexpr double kUp = 1.15;       // steps until one does not

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

RateSearch::Result RateSearch::run(const Settings& settings, const Measure& measure) {
  RateSearch search(settings, measure);
  try {
    search.search();
  } catch (const OutOfTime&) {
    search.result_.is_cut_short = true;
  }
  search.finish();
  return std::move(search.result_);
}

void RateSearch::search() {
  bracket(settings_.first_per_s);
  do bisect();
  while (result_.low_per_s > 0 && has_probes_left() && !confirm());
}

// Both ends are judged once more; an end that was judged wrongly moves, and the search goes on.
bool RateSearch::confirm() {
  if (!holds(result_.low_per_s)) {
    result_.high_per_s = result_.low_per_s;
    result_.low_per_s = 0;
    bracket(result_.high_per_s * (1 - 2 * settings_.resolution));
    return false;
  }
  if (result_.high_per_s > 0 && holds(result_.high_per_s)) {
    result_.low_per_s = result_.high_per_s;
    result_.high_per_s = 0;
    bracket(result_.low_per_s * (1 + 2 * settings_.resolution));
    return false;
  }
  result_.is_confirmed = true;
  return true;
}

bool RateSearch::has_probes_left() const {
  return static_cast<int>(result_.probes.size()) < settings_.max_probes;
}

bool RateSearch::met(const Outcome& outcome) const {
  return outcome.reached && outcome.value >= 0 && outcome.value <= settings_.limit;
}

// Whether the median is so close to the limit that a repetition could decide otherwise.
bool RateSearch::is_close(const std::vector<Outcome>& outcomes) const {
  std::vector<double> values;
  values.reserve(outcomes.size());
  for (const Outcome& outcome : outcomes) {
    values.push_back(outcome.reached && outcome.value >= 0
                         ? outcome.value
                         : std::numeric_limits<double>::infinity());
  }
  return std::abs(median(std::move(values)) - settings_.limit) <= settings_.close * settings_.limit;
}

bool RateSearch::holds(double rate_per_s) {
  const bool held = judge(rate_per_s);
  if (held) {
    held_.insert(rate_per_s);
  } else {
    held_.erase(held_.lower_bound(rate_per_s), held_.end());
  }
  return held;
}

bool RateSearch::judge(double rate_per_s) {
  std::vector<Outcome> outcomes;
  int yes = 0, planned = settings_.repeats;
  bool was_doubled = false;
  for (;;) {
    const int no = static_cast<int>(outcomes.size()) - yes;
    if (2 * yes > planned || 2 * no >= planned) {  // the rest cannot change it
      if (was_doubled || settings_.repeats == 1 || !is_close(outcomes)) return 2 * yes > planned;
      was_doubled = true;
      planned *= 2;
      continue;
    }
    const std::optional<Outcome> outcome = measure_(rate_per_s);
    if (!outcome) throw OutOfTime();
    outcomes.push_back(*outcome);
    const bool is_met = met(outcomes.back());
    yes += is_met ? 1 : 0;
    result_.probes.push_back(
        {rate_per_s, outcomes.back(), static_cast<int>(outcomes.size()) - 1, is_met});
  }
}

// Finds a rate that holds and a higher one that does not, from `rate` on; an end that is known
// stays.
void RateSearch::bracket(double rate) {
  if (result_.high_per_s == 0 && holds(rate)) {
    for (; has_probes_left(); result_.low_per_s = rate) {
      result_.low_per_s = rate;
      rate *= kUp;
      if (holds(rate)) continue;
      result_.high_per_s = rate;
      return;
    }
    return;
  }
  if (result_.high_per_s == 0) {
    result_.high_per_s = rate;
    if (result_.low_per_s > 0) return;
    rate *= kDown;
  }
  // Even without probes left where nothing is known to hold: the steps become long, so there are
  // few.
  for (double down = kDown; rate >= settings_.least_per_s && (has_probes_left() || held_.empty());
       rate *= down, down = std::max(kDownLast, down * down)) {
    if (holds(rate)) {
      result_.low_per_s = rate;
      return;
    }
    result_.high_per_s = rate;
  }
}

void RateSearch::bisect() {
  while (result_.low_per_s > 0 && result_.high_per_s > 0 && has_probes_left() &&
         result_.high_per_s / result_.low_per_s > 1 + settings_.resolution) {
    const double rate = std::sqrt(result_.low_per_s * result_.high_per_s);
    (holds(rate) ? result_.low_per_s : result_.high_per_s) = rate;
  }
}

void RateSearch::finish() {
  // The last probe was of a low end that did not hold again, or the time was over before an end
  // was found: what held is known.
  if (result_.low_per_s == 0 && !held_.empty()) result_.low_per_s = *held_.rbegin();
  std::vector<double> achieved;
  for (const Probe& probe : result_.probes)
    if (probe.rate_per_s == result_.low_per_s) achieved.push_back(probe.outcome.achieved_per_s);
  result_.achieved_per_s = median(std::move(achieved));
}

}  // namespace turntable::load
