// Which server owns a key: hashes are divided into as many equal ranges as there are servers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace turntable::shadowfax {

// Server i of n owns the hashes from ceil(i * 2^64 / n) up to that of i + 1: no hash has two owners
// or none.
constexpr std::size_t owner_of(std::uint64_t hash, std::size_t servers) noexcept {
  return static_cast<std::size_t>((__uint128_t{hash} * servers) >> 64U);
}

}  // namespace turntable::shadowfax
