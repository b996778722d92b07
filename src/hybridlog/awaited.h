// Records of a range of hashes that another store has, and sends (Shadowfax §3.3). What this store
// has of the range below an address is of an earlier time, and counts for nothing. So until all
// have come, of a key that has no record at or above it nothing is known: reads and additions wait.
// Where nothing has come for long they have an error, until something does.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "hybridlog/address.h"
#include "hybridlog/hash_range.h"

namespace turntable::hybridlog {

class Awaited {
 public:
  // Of a session that ended while its addition waited: its serial number counts it, and no record
  // has it yet.
  struct Addition {
    std::uint64_t key, delta;
    std::vector<std::byte> begins_as = {};  // Session::add_to_value()'s value

    std::size_t bytes() const noexcept { return sizeof(Addition) + begins_as.size(); }
    bool operator==(const Addition&) const = default;
  };
  // Every checkpoint writes all additions that are left: with more bytes of them none is made.
  static constexpr std::size_t kMostLeftBytes = std::size_t{4} << 20U;

  Awaited() = default;
  // left: of an earlier store, by its checkpoint.
  explicit Awaited(std::vector<Addition> left) {
    for (Addition& each : left) keep(std::move(each));
  }

  bool is_any() const noexcept { return is_any_.load(std::memory_order_acquire); }
  bool covers(std::uint64_t hash) const noexcept {
    return is_any() &&
           HashRange{first_.load(std::memory_order_relaxed), last_.load(std::memory_order_relaxed)}
               .contains(hash);
  }
  // Whether a record at the address, or a chain that goes on there, says nothing of the key.
  bool hides(std::uint64_t hash, Address address) const noexcept {
    return covers(hash) && address < from_.load(std::memory_order_relaxed);
  }

  // From the next begin() on; else never.
  void give_up_after(std::chrono::nanoseconds silence) noexcept { patience_ns_ = silence.count(); }
  // Something has come.
  void heard() noexcept { heard_ns_.store(monotonic_ns(), std::memory_order_relaxed); }
  bool is_given_up() const noexcept {
    return monotonic_ns() - heard_ns_.load(std::memory_order_relaxed) > patience_ns_.load();
  }
  // For records that are awaited: they are given up, so a checkpoint would not wait either. Nor
  // would it be longer than kMostLeftBytes allows.
  bool nobody_waits() const noexcept {
    return is_any() && is_given_up() && left_bytes_.load() <= kMostLeftBytes;
  }

  // No record of the range is changed from here on: sessions have seen a checkpoint since whose
  // end `from` is, and nobody has asked for the range. Not while a checkpoint is made.
  void begin(HashRange range, Address from) {
    first_.store(range.first, std::memory_order_relaxed);
    last_.store(range.last, std::memory_order_relaxed);
    from_.store(from, std::memory_order_relaxed);
    heard();
    is_any_.store(true, std::memory_order_release);
  }
  // All have come. Returns the additions that were left, which are to be made now. Not while a
  // checkpoint is made, and none may be begun before they are: it would lack them.
  std::vector<Addition> end() {
    const std::lock_guard lock(mutex_);
    is_any_.store(false, std::memory_order_release);
    left_bytes_ = 0;
    return std::exchange(left_, {});
  }

  // An addition that nobody waits for any more, and that counts all the same. False: nothing is
  // awaited any more, it can be made.
  bool leave(Addition addition) {
    const std::lock_guard lock(mutex_);
    if (!is_any()) return false;
    keep(std::move(addition));
    return true;
  }
  // Of now.
  std::vector<Addition> left() const {
    const std::lock_guard lock(mutex_);
    return left_;
  }

 private:
  void keep(Addition addition) {
    left_bytes_ += addition.bytes();
    left_.push_back(std::move(addition));
  }

  std::atomic<bool> is_any_{false};
  std::atomic<std::size_t> left_bytes_{0};
  std::atomic<std::uint64_t> first_{0}, last_{0};
  std::atomic<Address> from_{0};
  std::atomic<std::int64_t> patience_ns_{INT64_MAX}, heard_ns_{0};
  mutable std::mutex mutex_;  // of the additions
  std::vector<Addition> left_;
};

}  // namespace turntable::hybridlog
