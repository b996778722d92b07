#include "farreach/kv/cached_keys.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <utility>

#include "common/errno_error.h"

namespace turntable::kv {

CachedKeys::CachedKeys(const Settings& settings, std::function<void()> wake)
    : settings_(settings),
      wake_(std::move(wake)),
      event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      is_synchronized_(!settings.holds_writes || !settings.is_controlled) {
  if (!event_) throw errno_error("cannot create an eventfd");
}

// ---------------------------------------------------------------------------------------------
// The worker

void CachedKeys::report(KeyId key) {
  {
    const std::lock_guard lock(mutex_);
    if (keys_.contains(key)) return;
    if (keys_.size() >= kMaxKeys) {
      ++dropped_;
      return;
    }
    keys_.emplace(key, Entry{.state = State::kReported});
    reports_.push_back(key);
  }
  wake_();
}

bool CachedKeys::enter(KeyId key, std::uint32_t number, bool passed_as_cached) {
  bool asks = false;
  {
    const std::lock_guard lock(mutex_);
    if (lets_in(key, number, passed_as_cached)) {
      is_inside_ = true;
      inside_ = key;
      return true;
    }
    asks = ask_eviction(key);
  }
  if (asks) wake_();
  return false;
}

bool CachedKeys::lets_in(KeyId key, std::uint32_t number, bool passed_as_cached) const {
  if (!is_synchronized_) return false;
  const auto found = keys_.find(key);
  if (found == keys_.end()) return true;
  const Entry& entry = found->second;
  return entry.state != State::kMarked && passed_as_cached && number > entry.admission.number;
}

// Whether there is an eviction to take now.
bool CachedKeys::ask_eviction(KeyId key) {
  const auto found = keys_.find(key);
  if (!is_synchronized_ || found->second.state != State::kCached) return false;
  found->second.state = State::kEvicting;
  evictions_.push_back({key, found->second.admission.id});
  return true;
}

void CachedKeys::leave() {
  {
    const std::lock_guard lock(mutex_);
    is_inside_ = false;
  }
  left_.notify_all();
}

void CachedKeys::clear_event() noexcept {
  eventfd_t ignored;
  ::eventfd_read(event_.get(), &ignored);
}

void CachedKeys::changed() noexcept {
  ::eventfd_write(event_.get(), 1);
}

// ---------------------------------------------------------------------------------------------
// Towards the controller

std::vector<CachedKeys::KeyId> CachedKeys::take_reports(std::size_t max) {
  const std::lock_guard lock(mutex_);
  const auto end = reports_.begin() + static_cast<std::ptrdiff_t>(std::min(max, reports_.size()));
  std::vector<KeyId> taken(reports_.begin(), end);
  reports_.erase(reports_.begin(), end);
  for (const KeyId key : taken) keys_.at(key).state = State::kAsked;
  return taken;
}

std::vector<CachedKeys::Eviction> CachedKeys::take_evictions() {
  const std::lock_guard lock(mutex_);
  return std::exchange(evictions_, {});
}

void CachedKeys::mark(std::span<const KeyId> keys) {
  std::unique_lock lock(mutex_);
  for (const KeyId key : keys) {
    Entry& entry = keys_.try_emplace(key, Entry{.state = State::kMarked}).first->second;
    if (entry.state != State::kMarked) entry = {.state = State::kMarked};
  }
  left_.wait(lock, [&] {
    return !is_inside_ || std::find(keys.begin(), keys.end(), inside_) == keys.end();
  });
}

void CachedKeys::settle(KeyId key, const Admission& admission) {
  const std::lock_guard lock(mutex_);
  const auto found = keys_.find(key);
  if (found == keys_.end()) return;
  Entry& entry = found->second;
  if (entry.state != State::kAsked && entry.state != State::kMarked) return;
  const bool has_ended = entry.gone != 0 && cache::is_same_or_later(entry.gone, admission.id);
  if (admission.id == 0 || has_ended) {
    keys_.erase(found);
  } else {
    entry = {.state = State::kCached, .admission = admission};
  }
  changed();
}

void CachedKeys::evicted(KeyId key, std::uint32_t admission) {
  const std::lock_guard lock(mutex_);
  const auto found = keys_.find(key);
  if (found == keys_.end()) return;
  Entry& entry = found->second;
  const bool is_there = entry.state == State::kCached || entry.state == State::kEvicting;
  const std::uint32_t known = is_there ? entry.admission.id : entry.gone;
  if (known != 0 && !cache::is_same_or_later(admission, known)) return;
  if (!is_there) {
    entry.gone = admission;  // before it was known to be there
    return;
  }
  keys_.erase(found);
  changed();
}

void CachedKeys::eviction_answered(const Eviction& eviction) {
  const std::lock_guard lock(mutex_);
  const auto found = keys_.find(eviction.key);
  if (found == keys_.end() || found->second.state != State::kEvicting ||
      found->second.admission.id != eviction.admission) {
    return;
  }
  keys_.erase(found);
  changed();
}

bool CachedKeys::waits_for(const Eviction& eviction) const {
  const std::lock_guard lock(mutex_);
  const auto found = keys_.find(eviction.key);
  return found != keys_.end() && found->second.state == State::kEvicting &&
         found->second.admission.id == eviction.admission;
}

void CachedKeys::synchronize(std::span<const Listed> cached) {
  const std::lock_guard lock(mutex_);
  if (!settings_.holds_writes) {
    std::erase_if(keys_, [](const auto& key) { return key.second.state == State::kCached; });
    return;
  }
  std::unordered_map<KeyId, Entry> now;
  for (const auto& [key, admission] : cached) {
    const auto known = keys_.find(key);
    const bool is_leaving = known != keys_.end() && known->second.state == State::kEvicting &&
                            known->second.admission.id == admission.id;
    now.insert_or_assign(key, Entry{.state = is_leaving ? State::kEvicting : State::kCached,
                                    .admission = admission});
  }
  keys_ = std::move(now);
  is_synchronized_ = true;
  changed();
}

std::size_t CachedKeys::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

}  // namespace turntable::kv
