// Who a session is, also after the store or the client was ended and begun again.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace turntable::hybridlog {

struct SessionId {
  std::uint64_t high = 0, low = 0;  // drawn at random by who opens the first session

  auto operator<=>(const SessionId&) const = default;
  bool is_nobody() const noexcept { return *this == SessionId(); }  // not remembered
};

// How long a store remembers a session that has ended, at least: of the time in which it runs.
inline constexpr std::chrono::hours kRemembered{24};

}  // namespace turntable::hybridlog
