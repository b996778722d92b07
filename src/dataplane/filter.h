// Filters (TNA's Lpf and Wred): a cell follows the values that packets give it, as an average over
// time.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/random.h"

namespace turntable::dataplane {

enum class FilterKind : std::uint8_t { kLpf, kWred };

// A value that a first-order low-pass filter of time constant t follows: the distance to a constant
// input falls by the factor e each t. Without one (0) it is the input.
struct Average {
  double value = 0;
  std::uint64_t since_ns = 0;
  std::uint64_t has_begun = 0;  // 1: the other two are valid; the first input is taken as it is

  // The share of the past that is still there at `now_ns`.
  double remains(double time_constant_ns, std::uint64_t now_ns) const noexcept;
};

// A low-pass filter: of the values themselves, or of their sum.
struct LpfCell {
  std::uint64_t is_rate = 0;     // 1: the sum; 0: samples
  double gain_time_ns = 0;       // while a sample is above the average
  double decay_time_ns = 0;      // while it is below; of the sum
  std::uint64_t scale_down = 0;  // bits that the result is shifted right by
  Average average;

  std::uint64_t execute(std::uint64_t value, std::uint64_t now_ns) noexcept;
};

// Weighted random early detection: drops none below the lower threshold of the average, all above
// the upper one, and between them with a probability that grows to its maximum.
struct WredCell {
  static constexpr std::uint64_t kNever = 0xFF000000;  // the thresholds at first

  double time_constant_ns = 0;
  std::uint64_t min_threshold = kNever;
  std::uint64_t max_threshold = kNever;
  double max_probability = 0;  // 0 to 1
  Average average;

  // Whether to drop.
  bool execute(std::uint64_t value, std::uint64_t now_ns, Random& random) noexcept;
};

// So many words of an entry have a cell of either kind; p4soft's elaborate.py has the number too.
inline constexpr std::size_t kFilterWords = 7;
static_assert(sizeof(LpfCell) == 8 * kFilterWords && sizeof(WredCell) == 8 * kFilterWords);
using FilterWords = std::array<std::uint64_t, kFilterWords>;

template <class Cell>
Cell load_filter(const std::uint64_t* words) noexcept {
  FilterWords copied;
  std::copy_n(words, kFilterWords, copied.begin());
  return std::bit_cast<Cell>(copied);
}
template <class Cell>
void store_filter(const Cell& cell, std::uint64_t* words) noexcept {
  const auto copied = std::bit_cast<FilterWords>(cell);
  std::copy_n(copied.begin(), kFilterWords, words);
}

// An indexed filter without its kind, for the control plane: cells as words.
class FilterArray {
 public:
  FilterArray(FilterKind kind, std::uint32_t size) : kind_(kind), size_(size) {}
  virtual ~FilterArray() = default;
  FilterArray(const FilterArray&) = delete;
  FilterArray& operator=(const FilterArray&) = delete;

  FilterKind kind() const noexcept { return kind_; }
  std::uint32_t size() const noexcept { return size_; }
  virtual std::uint64_t* words(std::uint32_t index) = 0;

 private:
  FilterKind kind_;
  std::uint32_t size_;
};

// At first no cell has a time constant or threshold. An index outside finds such a cell.
template <class Cell, FilterKind Kind>
class Filter final : public FilterArray {
 public:
  explicit Filter(std::uint32_t size) : FilterArray(Kind, size), cells_(size) {
    for (FilterWords& words : cells_) store_filter(Cell{}, words.data());
  }

  template <class... More>
  auto execute(std::uint64_t index, std::uint64_t value, std::uint64_t now_ns,
               More&... more) noexcept {
    if (index >= cells_.size()) return Cell{}.execute(value, now_ns, more...);
    Cell cell = load_filter<Cell>(cells_[index].data());
    const auto result = cell.execute(value, now_ns, more...);
    store_filter(cell, cells_[index].data());
    return result;
  }
  std::uint64_t* words(std::uint32_t index) override { return cells_.at(index).data(); }

 private:
  std::vector<FilterWords> cells_;
};

using Lpf = Filter<LpfCell, FilterKind::kLpf>;
using Wred = Filter<WredCell, FilterKind::kWred>;

}  // namespace turntable::dataplane
