// Items in the order of what remains of them; equal ones in the order in which they came.
#pragma once

#include <cstdint>
#include <set>

namespace turntable::homa {

template <typename Item>
class ShortestFirst {
 public:
  struct Entry {
    std::uint32_t remaining;
    std::uint64_t number;  // of the item, ascending
    Item* item;

    friend bool operator<(const Entry& a, const Entry& b) noexcept {
      return a.remaining != b.remaining ? a.remaining < b.remaining : a.number < b.number;
    }
  };

  // Where an item is: kept by its owner; which may not move while it is in here.
  class Place {
   public:
    bool taken() const noexcept { return taken_; }

   private:
    friend class ShortestFirst;
    typename std::set<Entry>::iterator at_;
    bool taken_ = false;
  };

  // `place` must not be taken.
  void insert(Place& place, std::uint32_t remaining, std::uint64_t number, Item& item) {
    place.at_ = entries_.insert({remaining, number, &item}).first;
    place.taken_ = true;
  }

  // Does nothing where `place` is not taken.
  void erase(Place& place) noexcept {
    if (!place.taken_) return;
    entries_.erase(place.at_);
    place.taken_ = false;
  }

  // `place` must be taken.
  void update(Place& place, std::uint32_t remaining) noexcept {
    if (place.at_->remaining == remaining) return;
    auto node = entries_.extract(place.at_);
    node.value().remaining = remaining;
    place.at_ = entries_.insert(std::move(node)).position;
  }

  bool empty() const noexcept { return entries_.empty(); }
  Item& first() const noexcept { return *entries_.begin()->item; }
  auto begin() const noexcept { return entries_.begin(); }
  auto end() const noexcept { return entries_.end(); }

 private:
  std::set<Entry> entries_;
};

}  // namespace turntable::homa
