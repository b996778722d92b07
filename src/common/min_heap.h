// A priority queue: a heap of four children per node, so that few cache lines are touched.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace turntable {

// The first is the least by `<`. Allocates only when it has never been so long.
template <typename Item>
class MinHeap {
 public:
  bool empty() const noexcept { return items_.empty(); }
  std::size_t size() const noexcept { return items_.size(); }
  const Item& first() const noexcept { return items_.front(); }
  void reserve(std::size_t count) { items_.reserve(count); }

  void push(const Item& item) {
    items_.push_back(item);
    rise(items_.size() - 1, item);
  }

  void pop() noexcept {
    const Item last = items_.back();
    items_.pop_back();
    if (!items_.empty()) sink(last);
  }

  // pop() and push() in one.
  void replace_first(const Item& item) noexcept { sink(item); }

 private:
  static constexpr std::size_t kChildren = 4;

  void rise(std::size_t at, const Item& item) noexcept {
    while (at > 0) {
      const std::size_t parent = (at - 1) / kChildren;
      if (!(item < items_[parent])) break;
      items_[at] = items_[parent];
      at = parent;
    }
    items_[at] = item;
  }

  void sink(const Item& item) noexcept {
    const std::size_t count = items_.size();
    std::size_t at = 0;
    for (;;) {
      const std::size_t begin = kChildren * at + 1;
      if (begin >= count) break;
      const std::size_t end = std::min(begin + kChildren, count);
      std::size_t least = begin;
      for (std::size_t child = begin + 1; child < end; ++child)
        if (items_[child] < items_[least]) least = child;
      if (!(items_[least] < item)) break;
      items_[at] = items_[least];
      at = least;
    }
    items_[at] = item;
  }

  std::vector<Item> items_;
};

}  // namespace turntable
