// An indexed counter (TNA's Counter extern). A count outside the array is lost, as on the ASIC.
#pragma once

#include <cstdint>
#include <vector>

namespace turntable::dataplane {

class Counter {
 public:
  struct Cell {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
  };

  explicit Counter(std::uint32_t size) : cells_(size) {}

  // Bytes are less than nothing where more is taken off a frame than it has.
  void count(std::uint64_t index, std::int64_t bytes) noexcept {
    if (index >= cells_.size()) return;
    cells_[index].packets += 1;
    cells_[index].bytes += static_cast<std::uint64_t>(bytes);
  }

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(cells_.size()); }
  Cell& cell(std::uint32_t index) { return cells_.at(index); }

 private:
  std::vector<Cell> cells_;
};

}  // namespace turntable::dataplane
