#include "softswitch/lateness_probe.h"

#include <sys/timerfd.h>

#include <algorithm>

#include "common/clock.h"
#include "common/errno_error.h"

namespace turntable::softswitch {
namespace {

timespec to_timespec(std::int64_t ns) {
  return {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
}

}  // namespace

LatenessProbe::LatenessProbe()
    : timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)),
      due_ns_(monotonic_ns() + kPeriodNs) {
  if (!timer_) throw errno_error("cannot create a timer");
  const itimerspec ticks{.it_interval = to_timespec(kPeriodNs), .it_value = to_timespec(due_ns_)};
  if (::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &ticks, nullptr) != 0)
    throw errno_error("cannot start a timer");
}

void LatenessProbe::tick() {
  std::uint64_t ticks = 0;
  if (::read(timer_.get(), &ticks, sizeof ticks) != sizeof ticks) return;
  largest_ns_ = std::max(largest_ns_, monotonic_ns() - due_ns_);
  due_ns_ += static_cast<std::int64_t>(ticks) * kPeriodNs;
}

}  // namespace turntable::softswitch
