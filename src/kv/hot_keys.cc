#include "kv/hot_keys.h"

#include <algorithm>

namespace turntable::kv {

void HotKeys::report(const PacketKey& key) {
  {
    const std::lock_guard lock(mutex_);
    if (keys_.contains(key)) return;
    if (keys_.size() >= kMaxKeys) {
      ++dropped_;
      return;
    }
    keys_.emplace(key, State::kWaiting);
    waiting_.push_back(key);
  }
  wake_();
}

std::vector<PacketKey> HotKeys::take(std::size_t max) {
  const std::lock_guard lock(mutex_);
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(max, waiting_.size()));
  std::vector<PacketKey> taken(waiting_.begin(), end);
  waiting_.erase(waiting_.begin(), end);
  for (const PacketKey& key : taken) keys_[key] = State::kAsked;
  return taken;
}

void HotKeys::settle(const PacketKey& key, bool cached) {
  const std::lock_guard lock(mutex_);
  const auto found = keys_.find(key);
  if (found == keys_.end() || found->second != State::kAsked) return;
  if (cached) {
    found->second = State::kCached;
  } else {
    keys_.erase(found);
  }
}

void HotKeys::evicted(const PacketKey& key) {
  const std::lock_guard lock(mutex_);
  const auto found = keys_.find(key);
  if (found != keys_.end() && found->second == State::kCached) keys_.erase(found);
}

void HotKeys::forget_cached() {
  const std::lock_guard lock(mutex_);
  std::erase_if(keys_, [](const auto& entry) { return entry.second == State::kCached; });
}

std::size_t HotKeys::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

}  // namespace turntable::kv
