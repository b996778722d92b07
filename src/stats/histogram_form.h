// What writing and reading of HdrHistogram's V2 text form share.
#pragma once

#include <cstdint>

namespace turntable::stats {

// What plain and compressed forms begin with; the low byte's 0x10 says "words of up to 8 bytes".
inline constexpr std::uint32_t kV2Cookie = 0x1c849313;
inline constexpr std::uint32_t kV2CompressedCookie = 0x1c849314;

}  // namespace turntable::stats
