// Meters (TNA's Meter and DirectMeter): two rates, three colours, as in RFC 2698.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
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

enum class MeterUnit : std::uint8_t { kPackets, kBytes };

// Rates in units per second, bursts in units.
struct MeterLimits {
  std::uint64_t committed_rate = 0;   // CIR
  std::uint64_t peak_rate = 0;        // PIR
  std::uint64_t committed_burst = 0;  // CBS
  std::uint64_t peak_burst = 0;       // PBS
};

// What a meter adds to the bytes of each frame, as the chip's register for it can hold.
inline constexpr std::int32_t kLeastByteCountAdjust = -8192;
inline constexpr std::int32_t kMostByteCountAdjust = 8191;

// One meter: of 64-bit words alone, so that an entry of a table can hold it (table.h). Tokens are
// counted in units / 10^9, so that a nanosecond of any rate is a whole number.
struct MeterCell {
  MeterLimits limits;
  std::uint64_t committed = 0;
  std::uint64_t peak = 0;
  std::uint64_t filled_at_ns = 0;
  std::uint64_t is_limited = 0;  // 1: it has limits; kNoPacketYet

  // Of is_limited: it has limits, and filled_at_ns begins with the first packet.
  static constexpr std::uint64_t kNoPacketYet = 2;

  // Both buckets are full.
  static MeterCell limited_to(const MeterLimits& limits);

  // The colour of a packet of `bytes` that comes at `now_ns` with `color`. A cell without limits
  // leaves the colour as it is. Less than no bytes cost nothing.
  std::uint8_t execute(MeterUnit unit, std::int64_t bytes, std::uint64_t now_ns,
                       std::uint8_t color) noexcept;

 private:
  void fill(std::uint64_t now_ns) noexcept;
};

// So many words of an entry; p4soft's elaborate.py has the number too.
inline constexpr std::size_t kMeterWords = 8;
using MeterWords = std::array<std::uint64_t, kMeterWords>;

inline MeterCell load_meter(const std::uint64_t* words) noexcept {
  MeterWords copied;
  std::copy_n(words, kMeterWords, copied.begin());
  return std::bit_cast<MeterCell>(copied);
}
inline void store_meter(const MeterCell& cell, std::uint64_t* words) noexcept {
  const auto copied = std::bit_cast<MeterWords>(cell);
  std::copy_n(copied.begin(), kMeterWords, words);
}

// An indexed meter.
class Meter {
 public:
  Meter(std::uint32_t size, MeterUnit unit, std::int32_t byte_count_adjust = 0)
      : unit_(unit),
        own_byte_count_adjust_(byte_count_adjust),
        byte_count_adjust_(byte_count_adjust),
        cells_(size) {}

  // As MeterCell's. An index outside of the meter leaves the colour as it is.
  std::uint8_t execute(std::uint64_t index, std::int64_t bytes, std::uint64_t now_ns,
                       std::uint8_t color = kGreen) noexcept {
    if (index >= cells_.size()) return color;
    return cells_[index].execute(unit_, bytes + byte_count_adjust_, now_ns, color);
  }

  // What is added to the bytes of each frame.
  std::int32_t byte_count_adjust() const noexcept { return byte_count_adjust_; }
  void set_byte_count_adjust(std::int32_t bytes) noexcept { byte_count_adjust_ = bytes; }
  void reset_byte_count_adjust() noexcept { byte_count_adjust_ = own_byte_count_adjust_; }
  // Whether it is another than the program's own.
  bool sets_byte_count_adjust() const noexcept {
    return byte_count_adjust_ != own_byte_count_adjust_;
  }
  MeterUnit unit() const noexcept { return unit_; }
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(cells_.size()); }
  const MeterCell& cell(std::uint32_t index) const { return cells_.at(index); }
  void set_limits(std::uint32_t index, const MeterLimits& limits) {
    cells_.at(index) = MeterCell::limited_to(limits);
  }
  void remove_limits(std::uint32_t index) { cells_.at(index) = {}; }
  void put_back(std::uint32_t index, const MeterCell& cell) { cells_.at(index) = cell; }

 private:
  MeterUnit unit_;
  std::int32_t own_byte_count_adjust_;
  std::int32_t byte_count_adjust_;
  std::vector<MeterCell> cells_;
};

}  // namespace turntable::dataplane
