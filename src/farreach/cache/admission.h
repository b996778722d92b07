// One stay of a key in the switch, from its admission to its eviction (docs/kvcache.md §7).
#pragma once

#include <cstdint>

namespace turntable::cache {

struct Admission {
  // Given by the agent; those of one key follow each other. 0: there is none, it was refused.
  std::uint32_t id = 0;
  // NetCache: a write of the key with a larger number, in a form that says "cached", has passed the
  // switch in this admission; one with a smaller number was on its way to the server before.
  std::uint32_t number = 0;

  bool operator==(const Admission&) const = default;
};

// Ids begin again at 1 after 2^30 - 1, which takes 19 hours at least.
inline constexpr std::uint32_t kLargestAdmission = (std::uint32_t{1} << 30) - 1;

inline std::uint32_t admission_after(std::uint32_t id) {
  return id == kLargestAdmission ? 1 : id + 1;
}

// Of the same key. What is known of an admission holds for all before it, too.
inline bool is_same_or_later(std::uint32_t id, std::uint32_t other) {
  return ((id - other) & kLargestAdmission) <= kLargestAdmission / 2;
}

}  // namespace turntable::cache
