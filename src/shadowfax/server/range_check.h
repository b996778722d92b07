// How a server makes sure that it owns the keys of a batch: by the batch's view alone, as Shadowfax
// does (§3.2.1), or beside it in one of the ways that its prototype compares that with.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "hybridlog/hash_range.h"

namespace turntable::shadowfax {

enum class RangeCheckKind : std::uint8_t {
  kView,  // one comparison for a batch
  kLock,  // a batch holds a lock that it shares with others, and that a change of owner takes alone
  kSplits  // every operation's hash is looked up among so many ranges
};

// view, lock or splits. Nothing: another word.
inline std::optional<RangeCheckKind> range_check_of(const std::string& word) {
  if (word == "view") return RangeCheckKind::kView;
  if (word == "lock") return RangeCheckKind::kLock;
  if (word == "splits") return RangeCheckKind::kSplits;
  return std::nullopt;
}

struct RangeCheckSettings {
  RangeCheckKind kind = RangeCheckKind::kView;
  std::size_t splits = 64;
};

// Thread-safe.
class RangeCheck {
  // Up to the next one's first.
  struct Piece {
    std::uint64_t first;
    bool is_owned;
  };
  using Pieces = std::vector<Piece>;  // ascending, from hash 0 on

 public:
  explicit RangeCheck(const RangeCheckSettings& settings) : settings_(settings) {
    own({hybridlog::HashRange{}});
  }

  // From now on these are owned, and nothing else: once no batch is served by the old ones.
  void own(const std::vector<hybridlog::HashRange>& ranges) {
    const std::unique_lock lock(mutex_);
    if (settings_.kind == RangeCheckKind::kSplits)
      pieces_.store(std::make_shared<const Pieces>(pieces_of(ranges, settings_.splits)));
  }

  // For a batch; it must end before the thread waits for anything.
  class Batch {
   public:
    explicit Batch(const RangeCheck& check) {
      if (check.settings_.kind == RangeCheckKind::kLock) lock_.emplace(check.mutex_);
      if (check.settings_.kind == RangeCheckKind::kSplits) pieces_ = check.pieces_.load();
    }
    bool looks_keys_up() const noexcept { return pieces_ != nullptr; }
    bool owns(std::uint64_t hash) const noexcept {
      const auto next = std::ranges::upper_bound(*pieces_, hash, {}, &Piece::first);
      return (next - 1)->is_owned;
    }

   private:
    std::optional<std::shared_lock<std::shared_mutex>> lock_;
    std::shared_ptr<const Pieces> pieces_;
  };

 private:
  // As many equal pieces as there are splits, cut where an owner ends.
  static Pieces pieces_of(const std::vector<hybridlog::HashRange>& owned, std::size_t splits) {
    std::vector<std::uint64_t> firsts;
    const std::uint64_t step = splits > 1 ? UINT64_MAX / splits + 1 : 0;
    for (std::size_t i = 0; i < std::max<std::size_t>(splits, 1); ++i) firsts.push_back(i * step);
    for (const hybridlog::HashRange& range : owned) {
      firsts.push_back(range.first);
      if (range.last < UINT64_MAX) firsts.push_back(range.last + 1);
    }
    std::sort(firsts.begin(), firsts.end());
    firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
    Pieces pieces;
    for (const std::uint64_t first : firsts) {
      const auto has_it = [&](const hybridlog::HashRange& range) { return range.contains(first); };
      pieces.push_back({first, std::ranges::any_of(owned, has_it)});
    }
    return pieces;
  }

  const RangeCheckSettings settings_;
  mutable std::shared_mutex mutex_;
  std::atomic<std::shared_ptr<const Pieces>> pieces_;
};

}  // namespace turntable::shadowfax
