// Finds the keys of a range that are hot, before the range leaves (Shadowfax §3.3): while it
// samples, a read whose key's newest record lies below an address copies that record to the tail.
// Changes do so anyway, because all below has been made read-only. So what lies at or above the
// address, the first part most of all, is what is used.
#pragma once

#include <atomic>
#include <cstdint>

#include "hybridlog/address.h"
#include "hybridlog/hash_range.h"

namespace turntable::hybridlog {

// Thread-safe. Whoever sees an old range copies a record in vain: it is as good as the one before.
class Sampling {
 public:
  // below: a checkpoint's cut, so records below it are of an older version than any session's.
  void begin(HashRange range, Address below) noexcept {
    first_.store(range.first, std::memory_order_relaxed);
    last_.store(range.last, std::memory_order_relaxed);
    below_.store(below, std::memory_order_release);
  }
  void end() noexcept { below_.store(0, std::memory_order_relaxed); }

  // Whether a record of the key at the address is to be copied.
  bool wants(std::uint64_t hash, Address address) const noexcept {
    return address < below_.load(std::memory_order_acquire) &&
           HashRange{first_.load(std::memory_order_relaxed), last_.load(std::memory_order_relaxed)}
               .contains(hash);
  }

 private:
  std::atomic<std::uint64_t> first_{0}, last_{0};
  std::atomic<Address> below_{0};
};

}  // namespace turntable::hybridlog
