// What a client keeps of records that only the switch may have (docs/kvcache.md §8): of every key
// that the switch answered for, the record with the largest number. Since a value is a function of
// key and version (kv/value.h), the version is kept for it.
//
// Thread-safe: one thread keeps, at any time another may visit or release, and holds the first up
// for some microseconds at a time only. Nothing allocates after construction.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "workload/key.h"

namespace turntable::kv {

class ClientCopies {
 public:
  struct Copy {
    workload::KeyId key = 0;
    std::uint64_t version = 0;
    std::uint32_t number = 0;
    std::uint32_t value_bytes = 0;
    std::uint32_t list = 0;  // 1 + lists that had arrived when it was kept; 0: no copy
    bool exists = false;     // false: a delete
  };
  struct Listed {
    workload::KeyId key;
    std::uint32_t number;
  };

  // Keeps at most `max` copies; what does not fit is dropped and counted. 0: keeps none, costs
  // none.
  explicit ClientCopies(std::size_t max);

  bool keeps() const noexcept { return max_ > 0; }
  void keep(Copy copy);

  // `list` is what a snapshot holds, ascending by key. Of a listed key the copy is dropped if it is
  // not newer. An unlisted key may have been admitted after the snapshot's point: its copy is
  // dropped only if it was kept before the previous list arrived, and only if `confirmed`: that
  // list had been answered before the snapshot began. Answers how many copies were dropped.
  std::size_t release(std::span<const Listed> list, bool confirmed);

  // Every copy that was there before the call and is not released meanwhile is visited; of one that
  // is kept meanwhile, the old or the new.
  void for_each(const std::function<void(const Copy&)>& visit) const;
  std::size_t size() const;
  std::uint64_t dropped() const;  // for want of room: their records are at risk

 private:
  std::size_t home(workload::KeyId key) const noexcept;
  std::size_t place_of(workload::KeyId key) const noexcept;
  std::size_t next(std::size_t place) const noexcept { return (place + 1) & (table_.size() - 1); }
  void erase(std::size_t place) noexcept;
  bool may_drop(const Copy& copy, std::span<const Listed> list, bool confirmed) const;

  std::size_t max_;
  mutable std::mutex visit_mutex_;  // before mutex_: copies move while they are released
  mutable std::mutex mutex_;
  std::vector<Copy> table_;  // open addressing with linear probing; at most half full
  std::size_t size_ = 0;
  std::uint32_t lists_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace turntable::kv
