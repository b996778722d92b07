// Containers of a model's state: a few elements in place. An element that is not there is zero, so
// that equal contents are equal bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

namespace turntable::model {

template <typename T, std::size_t N>
struct Few {
  std::array<T, N> items;

  static bool is_there(const T& item) {
    const T none{};
    return std::memcmp(&item, &none, sizeof(T)) != 0;
  }
  std::size_t size() const {
    std::size_t count = 0;
    while (count < N && is_there(items[count])) ++count;
    return count;
  }
  bool empty() const { return !is_there(items[0]); }
  const T& front() const { return items[0]; }
  const T* begin() const { return items.data(); }
  const T* end() const { return items.data() + size(); }
  T* begin() { return items.data(); }
  T* end() { return items.data() + size(); }

  void push(const T& item) {
    const std::size_t count = size();
    if (count == N) throw std::length_error("model: more is under way than its state has room for");
    items[count] = item;
  }
  void remove(std::size_t index) {
    for (std::size_t i = index; i + 1 < N; ++i) items[i] = items[i + 1];
    items[N - 1] = T{};
  }
  T pop() {
    const T first = items[0];
    remove(0);
    return first;
  }
  void clear() { items = {}; }

  // For one whose order means nothing.
  void sort() {
    std::sort(begin(), end(), [](const T& one, const T& other) {
      return std::memcmp(&one, &other, sizeof(T)) < 0;
    });
  }
};

}  // namespace turntable::model
