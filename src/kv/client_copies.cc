#include "kv/client_copies.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace turntable::kv {

ClientCopies::ClientCopies(std::size_t max)
    : max_(max), table_(max == 0 ? 0 : std::bit_ceil(2 * max)), spare_(table_.size()) {}

// Fibonacci hashing: the upper bits of a product depend on all bits of the key.
std::size_t ClientCopies::home(workload::KeyId key, std::size_t mask) noexcept {
  return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15) >> 32) & mask;
}

// The key's copy, or the free place where it belongs.
ClientCopies::Copy& ClientCopies::place_of(std::vector<Copy>& table, workload::KeyId key) noexcept {
  const std::size_t mask = table.size() - 1;
  std::size_t i = home(key, mask);
  while (table[i].list != 0 && table[i].key != key) i = (i + 1) & mask;
  return table[i];
}

void ClientCopies::keep(Copy copy) {
  if (!keeps()) return;
  const std::lock_guard lock(mutex_);
  Copy& place = place_of(table_, copy.key);
  if (place.list != 0 && place.number >= copy.number) return;
  if (place.list == 0) {
    if (size_ == max_) {
      ++dropped_;
      return;
    }
    ++size_;
  }
  copy.list = lists_ + 1;
  place = copy;
}

bool ClientCopies::may_drop(const Copy& copy, std::span<const Listed> list) const {
  const auto listed =
      std::lower_bound(list.begin(), list.end(), copy.key,
                       [](const Listed& entry, workload::KeyId key) { return entry.key < key; });
  if (listed != list.end() && listed->key == copy.key) return copy.number <= listed->number;
  // lists_ counts the arriving one. copy.list - 1 lists had arrived before the copy was kept; the
  // previous list was not among them if that is less than lists_ - 1.
  return copy.list < lists_;
}

std::size_t ClientCopies::release(std::span<const Listed> list) {
  const std::lock_guard lock(mutex_);
  ++lists_;
  std::fill(spare_.begin(), spare_.end(), Copy{});
  std::size_t kept = 0;
  for (const Copy& copy : table_) {
    if (copy.list == 0 || may_drop(copy, list)) continue;
    place_of(spare_, copy.key) = copy;
    ++kept;
  }
  table_.swap(spare_);
  return std::exchange(size_, kept) - kept;
}

void ClientCopies::for_each(const std::function<void(const Copy&)>& visit) const {
  const std::lock_guard lock(mutex_);
  for (const Copy& copy : table_) {
    if (copy.list != 0) visit(copy);
  }
}

std::size_t ClientCopies::size() const {
  const std::lock_guard lock(mutex_);
  return size_;
}

std::uint64_t ClientCopies::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

}  // namespace turntable::kv
