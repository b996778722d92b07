#include "dataplane/filter.h"

#include <cmath>

#include "dataplane/packet_clock.h"

namespace turntable::dataplane {
namespace {

// The average after an input, at a distance that `remains` says.
void follow(Average& average, double input, double remains, std::uint64_t now_ns) {
  average.value = average.has_begun == 0 ? input : input + (average.value - input) * remains;
  average.since_ns = now_ns;
  average.has_begun = 1;
}

}  // namespace

double Average::remains(double time_constant_ns, std::uint64_t now_ns) const noexcept {
  if (time_constant_ns <= 0) return 0;
  const auto elapsed_ns = static_cast<double>(elapsed_since(since_ns, now_ns));
  return std::exp(-elapsed_ns / time_constant_ns);
}

std::uint64_t LpfCell::execute(std::uint64_t value, std::uint64_t now_ns) noexcept {
  const auto input = static_cast<double>(value);
  if (is_rate != 0) {
    const double before = average.value * average.remains(decay_time_ns, now_ns);
    average = {before + input, now_ns, 1};
  } else {
    const double time = input > average.value ? gain_time_ns : decay_time_ns;
    follow(average, input, average.remains(time, now_ns), now_ns);
  }
  return static_cast<std::uint64_t>(std::llround(average.value)) >> scale_down;
}

bool WredCell::execute(std::uint64_t value, std::uint64_t now_ns, Random& random) noexcept {
  const auto input = static_cast<double>(value);
  follow(average, input, average.remains(time_constant_ns, now_ns), now_ns);
  const auto low = static_cast<double>(min_threshold);
  const auto high = static_cast<double>(max_threshold);
  if (average.value < low) return false;
  if (average.value >= high) return true;
  const double probability = max_probability * (average.value - low) / (high - low);
  constexpr double kRange = 4294967296.0;  // of 32 random bits
  return static_cast<double>(random.get<32>()) < probability * kRange;
}

}  // namespace turntable::dataplane
