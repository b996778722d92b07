// What setValid() does to a header that was invalid: nothing in programs that packets pass, but
// packet tests compile theirs with TURNTABLE_POISON, and then its fields hold a pattern. A program
// that reads, sends or relies on a field it has not written since is seen to be wrong.
#pragma once

#include "dataplane/bits.h"

#ifdef TURNTABLE_POISON
#define POISONED(...) __VA_ARGS__
#else
#define POISONED(...)
#endif

namespace turntable::dataplane {

// Ends in 1, so that even one bit differs from the zero that headers begin with.
template <int W>
constexpr Unsigned<W> poison() {
  return to_bit<W>(wide_constant(0xA5A5A5A5A5A5A5A5ULL, 0xA5A5A5A5A5A5A5A5ULL));
}

}  // namespace turntable::dataplane
