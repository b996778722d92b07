// Which key is in which slot, and how far each slot is. The agent's memory of the switch; nothing
// here talks to it.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <set>
#include <unordered_map>
#include <vector>

#include "farreach/cache/admission.h"
#include "farreach/cache/set_digest.h"
#include "p4/control_plane.h"
#include "workload/key.h"

namespace turntable::cache {

inline constexpr std::uint32_t kSlotsOfSwitch = p4::kSlots;  // also the cells of `seq`
static_assert(kSlotsOfSwitch == workload::kSlots, "a key's number is in the cell of its hash");

using Slot = std::uint16_t;

class Slots {
 public:
  enum class State : std::uint8_t { kFree, kEntering, kCached, kLeaving };

  // Throws bad_argument unless 1 <= capacity <= kSlotsOfSwitch.
  explicit Slots(std::uint32_t capacity);

  // A smaller capacity frees nothing: beyond() says which keys have to leave.
  void set_capacity(std::uint32_t capacity);
  std::uint32_t capacity() const { return capacity_; }
  std::vector<Slot> beyond() const;  // cached slots that the capacity no longer has

  std::optional<Slot> find(const Key& key) const;  // in any state but kFree
  State state(Slot slot) const { return slots_[slot].state; }
  const Key& key(Slot slot) const { return slots_[slot].key; }
  const Admission& admission(Slot slot) const { return slots_[slot].admission; }
  void set_admission(Slot slot, const Admission& admission) { slots_[slot].admission = admission; }

  // The lowest free slot becomes kEntering for `key`, which is in none. Nothing if none is free.
  std::optional<Slot> enter(const Key& key);
  // A certain slot, found in use when the agent starts: kEntering.
  void occupy(Slot slot, const Key& key);
  void entered(Slot slot);                    // kEntering -> kCached
  void leave(Slot slot);                      // kEntering or kCached -> kLeaving
  void release(Slot slot);                    // kLeaving -> kFree
  void hand_over(Slot slot, const Key& key);  // kLeaving -> kEntering for another key

  // Up to `count` different cached slots, at random.
  std::vector<Slot> sample(std::uint32_t count, std::mt19937& random) const;

  std::size_t cached() const { return cached_.size(); }
  std::size_t used() const { return by_key_.size(); }
  std::vector<Slot> cached_slots() const { return cached_; }
  std::vector<Slot> used_slots() const;                     // in any state but kFree
  std::uint64_t digest() const { return digest_.value(); }  // of the cached keys

 private:
  struct Entry {
    State state = State::kFree;
    Key key{};
    Admission admission;    // of that key
    std::size_t place = 0;  // in cached_
  };

  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept {
      std::uint64_t id;  // the keys of servers begin with eight zero bytes; the rest is a hash
      std::memcpy(&id, key.data() + key.size() - sizeof id, sizeof id);
      return id;
    }
  };

  void uncache(Entry& entry);

  std::uint32_t capacity_;
  std::vector<Entry> slots_;
  std::set<Slot> free_;
  std::unordered_map<Key, Slot, KeyHash> by_key_;
  std::vector<Slot> cached_;
  SetDigest digest_;
};

}  // namespace turntable::cache
