// NetCache's blocking admission (docs/kvcache.md §7, src/cache/messages.h): while a key is being
// admitted the switch gets a copy of its record, so its writes wait at the server.
//
//   marked   from the reading of the record to the end of the admission: no write enters
//   cached   a write that passed the switch as one of a cached key enters. One that did not passed
//            it before the key was there; it enters only when the key has been evicted again, or
//            the switch would go on to serve the older record.
//
// The worker enters and leaves; all else is for the thread that talks to the controller.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/unique_fd.h"
#include "workload/key.h"

namespace turntable::kv {

class WriteGate {
 public:
  // `wake` is called, on the worker's thread, when there are evictions to ask for. Throws
  // std::system_error.
  explicit WriteGate(std::function<void()> wake = [] {});

  // Whether a write of `key` may be executed now; if so, leave() must follow.
  bool enter(workload::KeyId key, bool passed_as_cached);
  void leave();
  // Readable after something that could let a write in has changed; until the next clear_event().
  int event_fd() const noexcept { return event_.get(); }
  void clear_event() noexcept;

  // Returns when no write of these keys is being executed and none will be.
  void mark(std::span<const workload::KeyId> keys);
  void settle(workload::KeyId key, bool cached);
  void evicted(workload::KeyId key);
  // Who marked is gone and will settle nothing: marked keys may be cached, now or soon, so they are
  // held to be.
  void marker_gone();
  // Keys that have to be evicted for a write that waits, each once.
  std::vector<workload::KeyId> take_evictions();

 private:
  struct KeyState {
    bool marked = false;
    bool cached = false;
    bool evicting = false;
  };
  void changed() noexcept;

  std::function<void()> wake_;
  UniqueFd event_;
  std::mutex mutex_;
  std::condition_variable left_;
  std::unordered_map<workload::KeyId, KeyState> keys_;
  std::vector<workload::KeyId> evictions_;
  bool inside_ = false;
  workload::KeyId inside_key_ = 0;
};

}  // namespace turntable::kv
