#include "farreach/kv/client_copies.h"

#include <algorithm>
#include <bit>

namespace turntable::kv {
namespace {

// How many places are looked at before the thread that keeps gets its turn.
constexpr std::size_t kPlacesAtOnce = 512;

}  // namespace

ClientCopies::ClientCopies(std::size_t max)
    : max_(max), table_(max == 0 ? 0 : std::bit_ceil(2 * max)) {}

// Fibonacci hashing: the upper bits of a product depend on all bits of the key.
std::size_t ClientCopies::home(workload::KeyId key) const noexcept {
  return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15) >> 32) & (table_.size() - 1);
}

// Where the key's copy is, or the free place where it belongs.
std::size_t ClientCopies::place_of(workload::KeyId key) const noexcept {
  std::size_t place = home(key);
  while (table_[place].list != 0 && table_[place].key != key) place = next(place);
  return place;
}

void ClientCopies::keep(Copy copy) {
  if (!keeps()) return;
  const std::lock_guard lock(mutex_);
  Copy& place = table_[place_of(copy.key)];
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

// Copies behind the freed place move up, so that each is still found from its home.
void ClientCopies::erase(std::size_t place) noexcept {
  const std::size_t mask = table_.size() - 1;
  std::size_t free = place;
  for (std::size_t at = next(place); table_[at].list != 0; at = next(at)) {
    const std::size_t from_home = (at - home(table_[at].key)) & mask;
    if (from_home < ((at - free) & mask)) continue;  // its home lies behind the free place
    table_[free] = table_[at];
    free = at;
  }
  table_[free] = {};
  --size_;
}

bool ClientCopies::may_drop(const Copy& copy, std::span<const Listed> list, bool confirmed) const {
  const auto listed =
      std::lower_bound(list.begin(), list.end(), copy.key,
                       [](const Listed& entry, workload::KeyId key) { return entry.key < key; });
  if (listed != list.end() && listed->key == copy.key) return copy.number <= listed->number;
  // lists_ counts the arriving one. copy.list - 1 lists had arrived before the copy was kept; the
  // previous list was not among them if that is less than lists_ - 1.
  return confirmed && copy.list < lists_;
}

std::size_t ClientCopies::release(std::span<const Listed> list, bool confirmed) {
  const std::lock_guard visit_lock(visit_mutex_);
  {
    const std::lock_guard lock(mutex_);
    ++lists_;
  }
  std::size_t released = 0;
  for (std::size_t begin = 0; begin < table_.size(); begin += kPlacesAtOnce) {
    const std::lock_guard lock(mutex_);
    const std::size_t end = std::min(begin + kPlacesAtOnce, table_.size());
    for (std::size_t place = begin; place < end;) {
      if (table_[place].list != 0 && may_drop(table_[place], list, confirmed)) {
        erase(place);  // another may have moved here
        ++released;
      } else {
        ++place;
      }
    }
  }
  return released;
}

void ClientCopies::for_each(const std::function<void(const Copy&)>& visit) const {
  const std::lock_guard visit_lock(visit_mutex_);
  for (std::size_t begin = 0; begin < table_.size(); begin += kPlacesAtOnce) {
    const std::lock_guard lock(mutex_);
    const std::size_t end = std::min(begin + kPlacesAtOnce, table_.size());
    for (std::size_t place = begin; place < end; ++place) {
      if (table_[place].list != 0) visit(table_[place]);
    }
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
