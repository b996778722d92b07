// Which batches a server's workers serve now: those of its view, unless they have to wait.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

namespace turntable::shadowfax {

// Thread-safe.
class Serving {
 public:
  struct Now {
    std::uint64_t view;
    bool waits;  // every batch is refused, and may come again: a range is just leaving
  };

  // newer_seen: a batch of a newer view has come; by a worker, which it must not hold up.
  explicit Serving(
      std::uint64_t view = 1, std::function<void()> newer_seen = [] {})
      : word_(view << 1U), newer_seen_(std::move(newer_seen)) {}

  Now now() const noexcept {
    const std::uint64_t word = word_.load();
    return {.view = word >> 1U, .waits = (word & 1U) != 0};
  }
  void wait() noexcept { word_.fetch_or(1); }
  void go_on(std::uint64_t view) noexcept { word_.store(view << 1U); }

  void newer_seen() const { newer_seen_(); }

 private:
  std::atomic<std::uint64_t> word_;
  const std::function<void()> newer_seen_;
};

}  // namespace turntable::shadowfax
