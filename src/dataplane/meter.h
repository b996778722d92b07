// An indexed meter (TNA's Meter extern): two rates, three colours, as in RFC 2698.
#pragma once

#include <cstdint>
#include <vector>

namespace turntable::dataplane {

// Values of MeterColor_t.
enum MeterColor : std::uint8_t { kGreen = 0, kYellow = 1, kRed = 3 };

// What a program that chose values of its own for the colours gets for one.
constexpr std::uint8_t color_value(std::uint8_t color, std::uint8_t red, std::uint8_t yellow,
                                   std::uint8_t green) {
  if (color == kGreen) return green;
  return color == kYellow ? yellow : red;
}

class Meter {
 public:
  enum class Unit : std::uint8_t { kPackets, kBytes };

  // Rates in units per second, bursts in units.
  struct Limits {
    std::uint64_t committed_rate = 0;   // CIR
    std::uint64_t peak_rate = 0;        // PIR
    std::uint64_t committed_burst = 0;  // CBS
    std::uint64_t peak_burst = 0;       // PBS
  };

  Meter(std::uint32_t size, Unit unit) : unit_(unit), cells_(size) {}

  // The colour of a packet of `bytes` that comes at `now_ns` with `color`. A cell without limits,
  // or outside the meter, leaves the colour as it is. Less than no bytes cost nothing.
  std::uint8_t execute(std::uint64_t index, std::int64_t bytes, std::uint64_t now_ns,
                       std::uint8_t color = kGreen) noexcept;

  Unit unit() const noexcept { return unit_; }
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(cells_.size()); }
  bool is_limited(std::uint32_t index) const { return cells_.at(index).limited; }
  const Limits& limits(std::uint32_t index) const { return cells_.at(index).limits; }
  // Both buckets begin full.
  void set_limits(std::uint32_t index, const Limits& limits);
  void remove_limits(std::uint32_t index) { cells_.at(index) = {}; }

 private:
  // Tokens are counted in units / 10^9, so that a nanosecond of any rate is a whole number.
  struct Cell {
    Limits limits;
    std::uint64_t committed = 0;
    std::uint64_t peak = 0;
    std::uint64_t filled_at_ns = 0;
    bool limited = false;
  };
  static void fill(Cell& cell, std::uint64_t now_ns) noexcept;

  Unit unit_;
  std::vector<Cell> cells_;
};

}  // namespace turntable::dataplane
