#include "dataplane/meter.h"

#include "dataplane/bits.h"
#include "dataplane/packet_clock.h"

namespace turntable::dataplane {
namespace {

constexpr std::uint64_t kUnit = 1'000'000'000;  // tokens of one packet or byte

std::uint64_t filled(std::uint64_t tokens, std::uint64_t rate, std::uint64_t burst,
                     std::uint64_t elapsed_ns) {
  const uint128 full = uint128{burst} * kUnit;
  return static_cast<std::uint64_t>(std::min(full, tokens + uint128{rate} * elapsed_ns));
}

}  // namespace

MeterCell MeterCell::limited_to(const MeterLimits& limits) {
  MeterCell cell;
  cell.limits = limits;
  cell.committed = limits.committed_burst * kUnit;
  cell.peak = limits.peak_burst * kUnit;
  cell.is_limited = kNoPacketYet;
  return cell;
}

void MeterCell::fill(std::uint64_t now_ns) noexcept {
  const std::uint64_t elapsed_ns = elapsed_since(filled_at_ns, now_ns);
  committed = filled(committed, limits.committed_rate, limits.committed_burst, elapsed_ns);
  peak = filled(peak, limits.peak_rate, limits.peak_burst, elapsed_ns);
  filled_at_ns += elapsed_ns;
}

// RFC 2698, section 3, colour-aware; with green packets it is the colour-blind mode.
std::uint8_t MeterCell::execute(MeterUnit unit, std::int64_t bytes, std::uint64_t now_ns,
                                std::uint8_t color) noexcept {
  if (is_limited == 0) return color;
  // Any instant would do but for the clock, which begins again: half of all lie before it.
  if (is_limited == kNoPacketYet) filled_at_ns = now_ns;
  is_limited = 1;
  fill(now_ns);
  const std::int64_t units = unit == MeterUnit::kBytes ? std::max<std::int64_t>(bytes, 0) : 1;
  const std::uint64_t cost = static_cast<std::uint64_t>(units) * kUnit;
  if (color == kRed || peak < cost) return kRed;
  peak -= cost;
  if (color == kYellow || committed < cost) return kYellow;
  committed -= cost;
  return kGreen;
}

}  // namespace turntable::dataplane
