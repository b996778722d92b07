// Operations of a batch, one after the other, while what later ones will touch is fetched from
// memory: a miss of the cache takes as long as some operations.
#pragma once

#include <array>
#include <cstddef>

#include "hybridlog/store.h"

namespace turntable::hybridlog {

// Calls operate(i, place) for i from 0 to count - 1. key_at(i): the key of operation i.
template <typename KeyAt, typename Operate>
void for_each_of_batch(Session& session, std::size_t count, const KeyAt& key_at,
                       const Operate& operate) {
  constexpr std::size_t kBucketAhead = 24, kRecordAhead = 12, kRing = 16;
  static_assert(kRing > kRecordAhead && (kRing & (kRing - 1)) == 0);
  std::array<Session::Place, kRing> places{};
  for (std::size_t step = 0; step < count + kBucketAhead; ++step) {
    if (step < count) session.prefetch_bucket(key_at(step));
    const std::size_t next = step - (kBucketAhead - kRecordAhead);  // wraps around before 0
    if (next < count) places[next % kRing] = session.prefetch_record(key_at(next));
    const std::size_t now = step - kBucketAhead;
    if (now < count) operate(now, places[now % kRing]);
  }
}

}  // namespace turntable::hybridlog
