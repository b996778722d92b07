// Up to which request of each session a checkpoint covers all.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "hybridlog/versions.h"

namespace turntable::shadowfax {

// Thread-safe.
class Commits {
 public:
  explicit Commits(hybridlog::Serials recovered = {}) : serials_(std::move(recovered)) {}

  void publish(hybridlog::Serials serials) {
    const std::lock_guard lock(mutex_);
    serials_ = std::move(serials);
    generation_.fetch_add(1, std::memory_order_release);
  }
  // Changes with every checkpoint; cheap.
  std::uint64_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }
  // 0: none of its requests.
  std::uint64_t of(hybridlog::SessionId id) const {
    const std::lock_guard lock(mutex_);
    const auto found = serials_.find(id);
    return found == serials_.end() ? 0 : found->second;
  }

 private:
  mutable std::mutex mutex_;
  hybridlog::Serials serials_;
  std::atomic<std::uint64_t> generation_{1};
};

}  // namespace turntable::shadowfax
