// Memory that a device can be asked to fill.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "hybridlog/device.h"

namespace turntable::hybridlog {

struct FreeSectors {
  void operator()(std::byte* memory) const noexcept { std::free(memory); }
};
using SectorMemory = std::unique_ptr<std::byte, FreeSectors>;

constexpr std::size_t whole_sectors(std::size_t bytes) noexcept {
  return (bytes + Device::kSectorBytes - 1) / Device::kSectorBytes * Device::kSectorBytes;
}

// Null: there is none.
inline SectorMemory sector_memory(std::size_t bytes) noexcept {
  return SectorMemory(
      static_cast<std::byte*>(std::aligned_alloc(Device::kSectorBytes, whole_sectors(bytes))));
}

}  // namespace turntable::hybridlog
