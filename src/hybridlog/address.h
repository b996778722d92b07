// Logical addresses of the log: bytes from its beginning, 48 bits.
#pragma once

#include <cstdint>

namespace turntable::hybridlog {

using Address = std::uint64_t;

inline constexpr unsigned kAddressBits = 48;
inline constexpr Address kAddressMask = (Address{1} << kAddressBits) - 1;
// No record is there. Not 0, so that an entry of the index that has none differs from a free one.
inline constexpr Address kNoAddress = 1;
// The first record's.
inline constexpr Address kFirstAddress = 64;

}  // namespace turntable::hybridlog
