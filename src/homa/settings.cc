#include "homa/settings.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "common/command_error.h"

namespace turntable::homa {
namespace {

void expect(bool holds, const std::string& name, std::uint64_t is, const std::string& expected) {
  if (holds) return;
  throw bad_argument(name + " is " + std::to_string(is) + "; expected " + expected);
}

void check_levels(const Settings& settings) {
  expect(settings.levels >= 1 && settings.levels <= 8, "levels", settings.levels,
         "1 to 8, one for each queue of a switch's port");
  // A single level serves both kinds.
  const std::uint32_t most = std::max(settings.levels, 2U) - 1;
  expect(settings.unscheduled_levels >= 1 && settings.unscheduled_levels <= most,
         "unscheduled_levels", settings.unscheduled_levels,
         "1 to " + std::to_string(most) + " of " + std::to_string(settings.levels) + " levels");
  expect(settings.cutoffs.size() + 1 == settings.unscheduled_levels, "the number of cutoffs",
         settings.cutoffs.size(),
         std::to_string(settings.unscheduled_levels - 1) + ", one below each unscheduled level");
  for (std::size_t i = 1; i < settings.cutoffs.size(); ++i)
    expect(settings.cutoffs[i - 1] < settings.cutoffs[i], "cutoff number " + std::to_string(i + 1),
           settings.cutoffs[i], "more than the one before");
}

}  // namespace

void check(const Settings& settings) {
  expect(settings.payload_bytes >= 64 && settings.payload_bytes <= 8900, "payload_bytes",
         settings.payload_bytes, "64 to 8,900: packets are not fragmented");
  expect(settings.rtt_bytes > 0 && settings.rtt_bytes % settings.payload_bytes == 0, "rtt_bytes",
         settings.rtt_bytes,
         "whole packets of " + std::to_string(settings.payload_bytes) + " bytes");
  check_levels(settings);
  expect(settings.degree >= 1, "degree", settings.degree, "at least 1");
  expect(settings.max_message_bytes >= 1 && settings.max_message_bytes <= 1U << 30U,
         "max_message_bytes", settings.max_message_bytes, "1 to 2^30");
  expect(settings.resend_after_ticks >= 1, "resend_after_ticks", settings.resend_after_ticks,
         "at least 1");
  expect(settings.ask_every_ticks >= 1, "ask_every_ticks", settings.ask_every_ticks, "at least 1");
  expect(settings.abort_after_ticks > settings.resend_after_ticks, "abort_after_ticks",
         settings.abort_after_ticks, "more than resend_after_ticks");
}

std::uint32_t rtt_bytes(double link_bits_per_s, double round_trip_us, std::uint32_t payload_bytes) {
  const double packets = link_bits_per_s * round_trip_us / 8e6 / payload_bytes;
  // A product that is whole but for rounding is not one packet more.
  return static_cast<std::uint32_t>(std::ceil(packets - 1e-9)) * payload_bytes;
}

std::uint8_t highest_priority(const Settings& settings) noexcept {
  return static_cast<std::uint8_t>(settings.levels - 1);
}

std::uint8_t unscheduled_priority(const Settings& settings, std::uint32_t message_bytes) noexcept {
  const auto level =
      std::upper_bound(settings.cutoffs.begin(), settings.cutoffs.end(), message_bytes) -
      settings.cutoffs.begin();
  return static_cast<std::uint8_t>(settings.levels - 1 - static_cast<std::uint32_t>(level));
}

std::uint8_t highest_scheduled_priority(const Settings& settings) noexcept {
  return static_cast<std::uint8_t>(settings.levels > settings.unscheduled_levels
                                       ? settings.levels - settings.unscheduled_levels - 1
                                       : 0);
}

}  // namespace turntable::homa
