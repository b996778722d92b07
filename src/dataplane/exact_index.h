// A hash index from a packed key to an entry number: open addressing with linear probing, at most
// half full, keys inside the slots, so that a lookup touches one cache line in the common case.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "dataplane/packed_key.h"

namespace turntable::dataplane {

// Entry 0 of every table is its default entry; so 0 also means "no match".
inline constexpr std::uint32_t kNoEntry = 0;

template <int Words>
class ExactIndex {
 public:
  using Key = KeyWords<Words>;

  std::uint32_t lookup(const Key& key) const noexcept {
    if (slots_.empty()) return kNoEntry;
    for (std::size_t i = home(key);; i = (i + 1) & mask_) {
      const Slot& slot = slots_[i];
      if (slot.entry == kNoEntry || slot.holds(key)) return slot.entry;
    }
  }

  // Precondition: the key is not present, and entry is not kNoEntry.
  void insert(const Key& key, std::uint32_t entry) {
    if ((size_ + 1) * 2 > slots_.size()) grow();
    place(key, entry);
    ++size_;
  }

  // Precondition: the key is present. Later members of the probe sequence move up, so there are no
  // tombstones.
  void erase(const Key& key) noexcept {
    std::size_t hole = home(key);
    while (!slots_[hole].holds(key)) hole = (hole + 1) & mask_;
    for (std::size_t i = (hole + 1) & mask_; slots_[i].entry != kNoEntry; i = (i + 1) & mask_) {
      const std::size_t distance_to_home = (i - home(slots_[i].key)) & mask_;
      if (distance_to_home >= ((i - hole) & mask_)) {
        slots_[hole] = slots_[i];
        hole = i;
      }
    }
    slots_[hole] = Slot{};
    --size_;
  }

  void clear() noexcept {
    slots_.clear();
    size_ = 0;
  }

  std::size_t size() const noexcept { return size_; }

 private:
  struct Slot {
    Key key{};
    std::uint32_t entry = kNoEntry;

    // In registers; == of arrays may call memcmp.
    bool holds(const Key& other) const noexcept {
      std::uint64_t difference = 0;
      for (std::size_t i = 0; i < key.size(); ++i) difference |= key[i] ^ other[i];
      return difference == 0;
    }
  };

  // Multiply and fold, one step per word; the constants are odd fractions of the golden ratio.
  std::size_t home(const Key& key) const noexcept {
    std::uint64_t hash = 0x9E3779B97F4A7C15;
    for (const std::uint64_t word : key) {
      const uint128 product = static_cast<uint128>(hash ^ word) * 0xD6E8FEB86659FD93;
      hash = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    }
    return (hash ^ hash >> 29) & mask_;
  }

  void place(const Key& key, std::uint32_t entry) noexcept {
    std::size_t i = home(key);
    while (slots_[i].entry != kNoEntry) i = (i + 1) & mask_;
    slots_[i] = Slot{key, entry};
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.entry != kNoEntry) place(slot.key, slot.entry);
    }
  }

  std::vector<Slot> slots_;  // a power of two
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
};

}  // namespace turntable::dataplane
