// Epoch protection with trigger actions (Chandramouli et al., "FASTER", SIGMOD 2018, §2.3): a
// thread that looks at shared memory is protected by the epoch in which it began, and what is done
// "once nobody can still see it" is an action that waits for all threads to have moved on.
//
//   Epoch::Thread thread(epoch);   // once per thread
//   thread.protect();              // what is visible from here on stays valid
//   thread.refresh();              // often; what was looked at before is not valid any more
//   thread.unprotect();
//   epoch.bump([] { … });          // by any thread; the action runs once, on some thread
//
// Why an action cannot run too early: it belongs to the epoch e that ended with its bump. A thread
// publishes the epoch that it has read and only then reads markers; both are sequentially
// consistent, as are the bump and the scan of the threads' epochs. So either the scan sees the
// thread in epoch e or before, and waits for it, or the thread sees what was written before the
// bump.
//
// Atomic is std::atomic; tests replace it by one that tries every order of steps.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace turntable::hybridlog {

// Places: for actions that wait at the same time.
template <template <typename> class Atomic, std::size_t Places = 64>
class BasicEpoch {
 public:
  class Thread;

  // threads: how many there may be at once.
  explicit BasicEpoch(std::size_t threads) : slots_(threads) {}

  // Ends the current epoch; the action runs once every thread that is protected now has refreshed
  // or has ended its protection. Runs what is due; waits for a place where very many actions wait,
  // so it must not be called by a protected thread that others wait for: bump(action, thread) may.
  void bump(std::function<void()> action) {
    bump(std::move(action), [] {});
  }
  // For a protected thread, which is refreshed while there is no place.
  void bump(std::function<void()> action, Thread& thread) {
    bump(std::move(action), [&] { thread.refresh(); });
  }

  // Runs the actions that nobody can be hindered by.
  void drain() {
    if (waiting_.load() == 0) return;
    const std::uint64_t safe = safe_epoch();
    for (Action& action : actions_) {
      std::uint64_t epoch = action.epoch.load();
      if (epoch > safe) continue;  // also: none here
      if (!action.epoch.compare_exchange_strong(epoch, kClaimed)) continue;
      const std::function<void()> run = std::exchange(action.run, nullptr);
      action.epoch.store(kNone);
      waiting_.fetch_sub(1);
      run();
    }
  }

 private:
  static constexpr std::uint64_t kUnprotected = 0;
  static constexpr std::uint64_t kClaimed = UINT64_MAX - 1;
  static constexpr std::uint64_t kNone = UINT64_MAX;

  struct alignas(64) Slot {
    Atomic<std::uint64_t> epoch{kUnprotected};
    Atomic<bool> taken{false};
  };
  struct Action {
    Atomic<std::uint64_t> epoch{kNone};  // that has to be over
    std::function<void()> run;
  };

  template <typename WhileFull>
  void bump(std::function<void()>&& action, WhileFull&& while_full) {
    Action& place = claim(while_full);
    place.run = std::move(action);
    waiting_.fetch_add(1);
    const std::uint64_t ended = current_.fetch_add(1);
    place.epoch.store(ended);
    drain();
  }

  template <typename WhileFull>
  Action& claim(WhileFull&& while_full) {
    for (;;) {
      for (Action& action : actions_) {
        std::uint64_t none = kNone;
        if (action.epoch.compare_exchange_strong(none, kClaimed)) return action;
      }
      while_full();
      drain();
    }
  }

  // The newest epoch that is over for every protected thread.
  std::uint64_t safe_epoch() const noexcept {
    std::uint64_t oldest = current_.load();
    for (const Slot& slot : slots_) {
      const std::uint64_t epoch = slot.epoch.load();
      if (epoch != kUnprotected) oldest = std::min(oldest, epoch);
    }
    return oldest - 1;
  }

  Atomic<std::uint64_t> current_{1};
  Atomic<std::uint64_t> waiting_{0};
  std::vector<Slot> slots_;
  std::array<Action, Places> actions_;
};

// Of one thread at a time. Throws std::length_error where all places are taken.
template <template <typename> class Atomic, std::size_t Places>
class BasicEpoch<Atomic, Places>::Thread {
 public:
  explicit Thread(BasicEpoch& epoch) : epoch_(epoch), slot_(take(epoch)) {}
  ~Thread() {
    unprotect();
    slot_.taken.store(false);
  }
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  void protect() noexcept { slot_.epoch.store(epoch_.current_.load()); }
  // Runs what is due: an action may have waited for this thread alone.
  void unprotect() {
    slot_.epoch.store(kUnprotected);
    epoch_.drain();
  }

  // Stays protected. Runs what is due.
  void refresh() {
    const std::uint64_t now = epoch_.current_.load();
    if (slot_.epoch.load(std::memory_order_relaxed) != now) slot_.epoch.store(now);
    epoch_.drain();
  }

 private:
  static Slot& take(BasicEpoch& epoch) {
    for (Slot& slot : epoch.slots_) {
      bool taken = false;
      if (slot.taken.compare_exchange_strong(taken, true)) return slot;
    }
    throw std::length_error("hybridlog epoch: all places are taken; expected fewer threads");
  }

  BasicEpoch& epoch_;
  Slot& slot_;
};

using Epoch = BasicEpoch<std::atomic>;

}  // namespace turntable::hybridlog
