// A FIFO in one piece of memory, which doubles when it is full.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace turntable {

template <typename Item>
class Ring {
 public:
  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }

  // Allocates only when it has never been so long.
  void push(Item item) {
    if (size_ == items_.size()) grow();
    items_[(first_ + size_++) & (items_.size() - 1)] = std::move(item);
  }

  const Item& front() const noexcept { return items_[first_]; }  // not of an empty one

  Item pop() noexcept {
    Item item = std::move(items_[first_]);
    first_ = (first_ + 1) & (items_.size() - 1);
    --size_;
    return item;
  }

 private:
  void grow() {
    std::vector<Item> larger(items_.empty() ? 64 : 2 * items_.size());
    for (std::size_t i = 0; i < size_; ++i)
      larger[i] = std::move(items_[(first_ + i) & (items_.size() - 1)]);
    items_ = std::move(larger);
    first_ = 0;
  }

  std::vector<Item> items_;  // a power of two, or none
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace turntable
