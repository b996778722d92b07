// Where a store's chains go on in the logs of others: which indirection records
// (hybridlog/indirection.h) still count, and who asks for what they point to.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "hybridlog/indirection.h"
#include "hybridlog/value.h"

namespace turntable::hybridlog {

// Asks for keys' records. Thread-safe.
class OtherLogs {
 public:
  enum class Found : std::uint8_t {
    kValue,
    kNothing,  // the key is not there, or deleted
    kGone,     // the other log has begun behind it: this store was told what lay there
    kError,    // the other store's device does not give it, or it is dead
  };
  struct Ticket {
    Ticket(const Indirection& at, std::uint64_t of_key) : indirection(at), key(of_key) {}

    bool is_done() const noexcept { return done.load(std::memory_order_acquire); }
    void finish(Found what) noexcept {
      found = what;
      done.store(true, std::memory_order_release);
    }

    const Indirection indirection;
    const std::uint64_t key;
    std::atomic<bool> done{false};
    // Once it is done.
    Found found = Found::kError;
    Value value;  // of kValue
  };

  virtual ~OtherLogs() = default;
  // While the other store is not there it is not done, until that is given up.
  virtual std::shared_ptr<Ticket> read(const Indirection& at, std::uint64_t key) = 0;
};

class Elsewhere {
 public:
  // Null: nobody. Outlives the store, or is taken away first.
  void read_by(OtherLogs* logs) noexcept { logs_.store(logs); }
  OtherLogs* logs() const noexcept { return logs_.load(); }

  // From now on indirection records of the migration count.
  void begin(std::uint64_t migration, Address floor) {
    change([&](Floors& floors) { floors[migration] = floor; });
  }
  // ... do not count any more: whatever they cover has a record above the floor.
  void end(std::uint64_t migration) {
    change([&](Floors& floors) { floors.erase(migration); });
  }
  // Changes with which records count.
  const void* state() const noexcept { return floors_.load(); }
  // Of a migration whose records count.
  std::optional<Address> floor_of(std::uint64_t migration) const noexcept {
    const Floors* const floors = floors_.load(std::memory_order_acquire);
    const auto found = floors->find(migration);
    return found == floors->end() ? std::nullopt : std::optional(found->second);
  }
  // The log must not begin above it: records that count are there, or above. kAddressMask: none do.
  Address lowest_floor() const noexcept {
    Address lowest = kAddressMask;
    for (const auto& [migration, floor] : *floors_.load(std::memory_order_acquire))
      lowest = std::min(lowest, floor);
    return lowest;
  }

 private:
  using Floors = std::map<std::uint64_t, Address>;  // by migration

  template <typename Change>
  void change(const Change& change) {
    const std::lock_guard lock(mutex_);
    Floors next = all_.back();
    change(next);
    all_.push_back(std::move(next));
    floors_.store(&all_.back(), std::memory_order_release);
  }

  std::mutex mutex_;
  // Somebody may still look at an old one: they stay, two of a migration.
  std::deque<Floors> all_ = std::deque<Floors>(1);
  std::atomic<const Floors*> floors_{&all_.back()};
  std::atomic<OtherLogs*> logs_{nullptr};
};

}  // namespace turntable::hybridlog
