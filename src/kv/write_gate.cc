#include "kv/write_gate.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <utility>

#include "common/errno_error.h"

namespace turntable::kv {

WriteGate::WriteGate(std::function<void()> wake)
    : wake_(std::move(wake)), event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!event_) throw errno_error("cannot create an eventfd");
}

bool WriteGate::enter(workload::KeyId key, bool passed_as_cached) {
  bool asks = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = keys_.find(key);
    const bool open = found == keys_.end() ||
                      (!found->second.marked && (passed_as_cached || !found->second.cached));
    if (open) {
      inside_ = true;
      inside_key_ = key;
      return true;
    }
    KeyState& state = found->second;
    if (!state.marked && !state.evicting) {
      state.evicting = asks = true;
      evictions_.push_back(key);
    }
  }
  if (asks) wake_();
  return false;
}

void WriteGate::leave() {
  {
    const std::lock_guard lock(mutex_);
    inside_ = false;
  }
  left_.notify_all();
}

void WriteGate::clear_event() noexcept {
  eventfd_t ignored;
  ::eventfd_read(event_.get(), &ignored);
}

void WriteGate::changed() noexcept {
  ::eventfd_write(event_.get(), 1);
}

void WriteGate::mark(std::span<const workload::KeyId> keys) {
  std::unique_lock lock(mutex_);
  for (const workload::KeyId key : keys) keys_[key].marked = true;
  left_.wait(lock, [&] {
    return !inside_ || std::find(keys.begin(), keys.end(), inside_key_) == keys.end();
  });
}

void WriteGate::settle(workload::KeyId key, bool cached) {
  const std::lock_guard lock(mutex_);
  if (cached) {
    keys_[key] = {.cached = true};
  } else {
    keys_.erase(key);
  }
  changed();
}

void WriteGate::evicted(workload::KeyId key) {
  const std::lock_guard lock(mutex_);
  const auto found = keys_.find(key);
  if (found == keys_.end()) return;
  found->second.cached = found->second.evicting = false;
  if (!found->second.marked) keys_.erase(found);
  changed();
}

void WriteGate::marker_gone() {
  const std::lock_guard lock(mutex_);
  for (auto& [key, state] : keys_) {
    if (!state.marked) continue;
    state.marked = false;
    state.cached = true;
  }
  changed();
}

std::vector<workload::KeyId> WriteGate::take_evictions() {
  const std::lock_guard lock(mutex_);
  return std::exchange(evictions_, {});
}

}  // namespace turntable::kv
