#include "netclone/server/calibrated_work.h"

#include <algorithm>
#include <array>

#include "common/clock.h"

namespace turntable::netclone {
namespace {

constexpr std::int64_t kIterations = 100'000;
constexpr std::int64_t kTriedNs = 10'000;

void loop(std::int64_t iterations) noexcept {
  for (std::int64_t i = 0; i < iterations; ++i) asm volatile("" ::: "memory");
}

std::int64_t duration_of(std::int64_t iterations) noexcept {
  const std::int64_t begin = monotonic_ns();
  loop(iterations);
  return monotonic_ns() - begin;
}

// The fastest of several: others had the processor in between.
double measured_pace() {
  std::int64_t least = INT64_MAX;
  for (int i = 0; i < 1000; ++i) least = std::min(least, duration_of(kIterations));
  return static_cast<double>(kIterations) / static_cast<double>(least);
}

// The median of many, for the same reason.
double tried_error(const CalibratedWork& work) {
  std::array<std::int64_t, 501> durations;
  for (std::int64_t& duration : durations) {
    const std::int64_t begin = monotonic_ns();
    work.run(kTriedNs);
    duration = monotonic_ns() - begin;
  }
  auto* const middle = durations.begin() + durations.size() / 2;
  std::nth_element(durations.begin(), middle, durations.end());
  return static_cast<double>(*middle - kTriedNs) / kTriedNs;
}

}  // namespace

CalibratedWork CalibratedWork::calibrated() {
  CalibratedWork work(measured_pace());
  work.calibration_.error = tried_error(work);
  return work;
}

void CalibratedWork::run(std::int64_t ns) const noexcept {
  loop(static_cast<std::int64_t>(static_cast<double>(ns) * calibration_.iterations_per_ns));
}

}  // namespace turntable::netclone
