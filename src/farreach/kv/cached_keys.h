// What a server knows of the keys that the switch has, gets or loses: one state of each key
// (docs/kvcache.md §6).
//
//   FarReach's server reports hot keys, each once:
//
//     (none) --report()--> reported --take_reports()--> asked --settle()--> cached
//
//   NetCache's holds writes back, since the switch gets a copy of a record and serves it:
//
//     (none) --mark()--> marked --settle()--> cached --enter() of an early write--> evicting
//
//   settle() with a refusal, evicted() and eviction_answered() lead back to (none).
//
// A write is *early* if it passed the switch before its key was there: the switch serves an older
// record. It has a form that says "not cached", or a number of before the admission. It is executed
// when the key has been evicted. While a key is marked no write of it is executed at all, nor is
// any of any key until synchronize() says what the switch has, if that is not known.
//
// Messages about an admission name it, and change nothing of a later one.
//
// Thread-safe: the worker reports, enters and leaves; all else is for the thread that talks to the
// controller.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/unique_fd.h"
#include "farreach/cache/server_hello.h"
#include "workload/key.h"

namespace turntable::kv {

class CachedKeys {
 public:
  using KeyId = workload::KeyId;
  using Admission = cache::Admission;

  // More are not reported, and counted: a switch holds fewer.
  static constexpr std::size_t kMaxKeys = 65'536;

  struct Settings {
    bool holds_writes = false;   // NetCache
    bool is_controlled = false;  // a controller knows what the switch has; else the switch is empty
  };
  struct Eviction {  // that a write waits for
    KeyId key;
    std::uint32_t admission;

    bool operator==(const Eviction&) const = default;
  };
  struct Listed {
    KeyId key;
    Admission admission;
  };

  // `wake` is called, on the worker's thread, when there is something to take. Throws
  // std::system_error.
  explicit CachedKeys(
      const Settings& settings, std::function<void()> wake = [] {});

  bool holds_writes() const { return settings_.holds_writes; }

  // The worker.
  void report(KeyId key);
  // Whether this write of `key` may be executed now; if so, leave() must follow.
  bool enter(KeyId key, std::uint32_t number, bool passed_as_cached);
  void leave();
  // Readable after something that could let a write in has changed; until the next clear_event().
  int event_fd() const noexcept { return event_.get(); }
  void clear_event() noexcept;

  // Each once, at most `max`.
  std::vector<KeyId> take_reports(std::size_t max);
  std::vector<Eviction> take_evictions();

  // Returns when no write of these keys is being executed and none will be.
  void mark(std::span<const KeyId> keys);
  // How the admission of a key that is asked for, or marked, has ended; id 0: it was refused.
  void settle(KeyId key, const Admission& admission);
  void evicted(KeyId key, std::uint32_t admission);
  void eviction_answered(const Eviction& eviction);
  bool waits_for(const Eviction& eviction) const;

  // The controller was reached anew: `cached` is all that the switch has, or may soon have. A
  // server that only reports forgets what is cached: the switch may have been emptied.
  void synchronize(std::span<const Listed> cached);

  std::size_t dropped() const;

 private:
  enum class State : std::uint8_t { kReported, kAsked, kMarked, kCached, kEvicting };
  struct Entry {
    State state;
    Admission admission{};   // kCached, kEvicting
    std::uint32_t gone = 0;  // kAsked, kMarked: the last admission that is known to have ended
  };

  bool lets_in(KeyId key, std::uint32_t number, bool passed_as_cached) const;
  bool ask_eviction(KeyId key);
  void changed() noexcept;

  const Settings settings_;
  std::function<void()> wake_;
  UniqueFd event_;
  mutable std::mutex mutex_;
  std::condition_variable left_;
  bool is_synchronized_;
  std::unordered_map<KeyId, Entry> keys_;
  std::vector<KeyId> reports_;
  std::vector<Eviction> evictions_;
  std::size_t dropped_ = 0;
  bool is_inside_ = false;
  KeyId inside_ = 0;
};

}  // namespace turntable::kv
