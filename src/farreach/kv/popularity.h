// Which keys clients ask for, where a workload's hot keys change while they run
// (workload/popularity.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "workload/key.h"

namespace turntable::kv {

class Popularity {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Target {
    workload::KeyId key;
    std::uint16_t running;  // index of its partition
  };

  // lists: of every period, from workload::hot_lists. running_index: of a key's partition among
  // those that run. Throws bad_argument if one does not run.
  Popularity(const std::vector<std::vector<workload::KeyId>>& lists,
             const std::function<int(workload::KeyId)>& running_index);

  // The place that a key of the traces has in the first list; kNone: its requests never change.
  std::uint32_t position(workload::KeyId key) const;

  std::size_t periods() const { return periods_.size(); }
  std::size_t places() const { return positions_.size(); }

  // From now on; below periods(). Thread-safe, as target().
  void begin_period(std::size_t period) noexcept;

  // Whom requests for the key of this place are for now.
  const Target& target(std::uint32_t position) const noexcept {
    return current_.load(std::memory_order_acquire)[position];
  }

 private:
  std::unordered_map<workload::KeyId, std::uint32_t> positions_;
  std::vector<std::vector<Target>> periods_;
  std::atomic<const Target*> current_;
};

}  // namespace turntable::kv
