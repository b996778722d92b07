// How a server asks another one, which may be gone or at another place.
#pragma once

#include <chrono>
#include <cstddef>

namespace turntable::shadowfax {

inline constexpr double kLookSeconds = 1;  // without an answer: then metadata is asked where it is
inline constexpr std::chrono::milliseconds kPause{100};
// For so long a server goes on with an answer that may be a part of what was asked for: others'
// questions wait behind it, and who has no answer for twice as long puts checkpoints off.
inline constexpr std::chrono::milliseconds kAnswerTime{50};
inline constexpr std::chrono::milliseconds kSilentTime{2 * kAnswerTime};
// Nobody is so slow: a checkpoint that has begun is given up then.
inline constexpr std::chrono::seconds kDeadTime{2};
// A source that has not been heard for so long is dead for good, as far as anybody knows: what
// needs it has an error. When it is there again all goes on.
inline constexpr std::chrono::seconds kGoneTime{30};
inline constexpr std::size_t kMessageBytes = std::size_t{256} << 10U;  // and a record's

}  // namespace turntable::shadowfax
