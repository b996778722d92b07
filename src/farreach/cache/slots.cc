#include "farreach/cache/slots.h"

#include <algorithm>
#include <cassert>
#include <string>

#include "common/command_error.h"

namespace turntable::cache {
namespace {

void check(std::uint32_t capacity) {
  if (capacity >= 1 && capacity <= kSlotsOfSwitch) return;
  throw bad_argument("cache_size is " + std::to_string(capacity) + "; expected 1 to " +
                     std::to_string(kSlotsOfSwitch) + ", the slots of the switch");
}

}  // namespace

Slots::Slots(std::uint32_t capacity) : capacity_(0), slots_(kSlotsOfSwitch) {
  set_capacity(capacity);
}

void Slots::set_capacity(std::uint32_t capacity) {
  check(capacity);
  capacity_ = capacity;
  free_.clear();
  for (std::uint32_t slot = 0; slot < capacity_; ++slot) {
    if (slots_[slot].state == State::kFree) free_.insert(static_cast<Slot>(slot));
  }
}

std::vector<Slot> Slots::beyond() const {
  std::vector<Slot> slots;
  std::copy_if(cached_.begin(), cached_.end(), std::back_inserter(slots),
               [this](Slot slot) { return slot >= capacity_; });
  return slots;
}

std::optional<Slot> Slots::find(const Key& key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Slot> Slots::enter(const Key& key) {
  if (free_.empty()) return std::nullopt;
  const Slot slot = *free_.begin();
  occupy(slot, key);
  return slot;
}

void Slots::occupy(Slot slot, const Key& key) {
  Entry& entry = slots_[slot];
  assert(entry.state == State::kFree && !by_key_.contains(key));
  free_.erase(slot);
  entry.state = State::kEntering;
  entry.key = key;
  entry.admission = {};
  by_key_.emplace(key, slot);
}

void Slots::entered(Slot slot) {
  Entry& entry = slots_[slot];
  assert(entry.state == State::kEntering);
  entry.state = State::kCached;
  entry.place = cached_.size();
  cached_.push_back(slot);
  digest_.add(entry.key);
}

void Slots::uncache(Entry& entry) {
  cached_[entry.place] = cached_.back();
  slots_[cached_.back()].place = entry.place;
  cached_.pop_back();
  digest_.remove(entry.key);
}

void Slots::leave(Slot slot) {
  Entry& entry = slots_[slot];
  assert(entry.state == State::kCached || entry.state == State::kEntering);
  if (entry.state == State::kCached) uncache(entry);
  entry.state = State::kLeaving;
}

void Slots::release(Slot slot) {
  Entry& entry = slots_[slot];
  assert(entry.state == State::kLeaving);
  entry.state = State::kFree;
  by_key_.erase(entry.key);
  if (slot < capacity_) free_.insert(slot);
}

void Slots::hand_over(Slot slot, const Key& key) {
  release(slot);
  occupy(slot, key);
}

std::vector<Slot> Slots::used_slots() const {
  std::vector<Slot> used;
  used.reserve(by_key_.size());
  for (const auto& [key, slot] : by_key_) used.push_back(slot);
  return used;
}

std::vector<Slot> Slots::sample(std::uint32_t count, std::mt19937& random) const {
  std::vector<Slot> chosen;
  std::sample(cached_.begin(), cached_.end(), std::back_inserter(chosen), count, random);
  return chosen;
}

}  // namespace turntable::cache
