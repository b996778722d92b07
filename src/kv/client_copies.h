// What a client keeps of records that only the switch may have (docs/kvcache.md §9): of every key
// that the switch answered for, the record with the largest number. Since a value is a function of
// key and version (kv/value.h), the version is kept for it.
//
// The controller tells from time to time what its snapshot holds, as a list of keys and numbers. Of
// a listed key a copy is dropped if it is not newer than the list. An unlisted key may have been
// admitted after the snapshot's point: its copy is dropped only if it was kept before the previous
// list arrived.
//
// Thread-safe: one thread keeps, at any time another may dump or release. Nothing allocates after
// construction.
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

  // `list`: ascending by key, each once. Answers how many copies were dropped.
  std::size_t release(std::span<const Listed> list);

  void for_each(const std::function<void(const Copy&)>& visit) const;
  std::size_t size() const;
  std::uint64_t dropped() const;  // for want of room: their records are at risk

 private:
  static std::size_t home(workload::KeyId key, std::size_t mask) noexcept;
  static Copy& place_of(std::vector<Copy>& table, workload::KeyId key) noexcept;
  bool may_drop(const Copy& copy, std::span<const Listed> list) const;

  std::size_t max_;
  mutable std::mutex mutex_;
  std::vector<Copy> table_;  // open addressing; at most half full
  std::vector<Copy> spare_;
  std::size_t size_ = 0;
  std::uint32_t lists_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace turntable::kv
