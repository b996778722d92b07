// A session with a thread of its own (for tests).
#pragma once

#include <thread>

#include "hybridlog/store.h"

namespace turntable::hybridlog::testing {

class OwnThread {
 protected:
  explicit OwnThread(Store& store) : own_(store.epoch()) { own_.protect(); }
  Epoch::Thread own_;
};

// Whether operations know their keys' places, as those of a batch do.
enum class Places : std::uint8_t { kNever, kAlways, kAlternating };

class Client : OwnThread, public Session {
 public:
  explicit Client(Store& store, SessionId id = {}, Places places = Places::kAlternating)
      : OwnThread(store), Session(store, own_, id), places_(places) {}
  void refresh() { own_.refresh(); }

  Answer read(std::uint64_t key, std::uint64_t context = 0) {
    return Session::read(key, context, next_place(key));
  }
  Status upsert(std::uint64_t key, std::uint64_t value) {
    return Session::upsert(key, value, next_place(key));
  }
  Status add(std::uint64_t key, std::uint64_t delta, std::uint64_t context = 0) {
    return Session::add(key, delta, context, next_place(key));
  }
  Answer read_value(std::uint64_t key, std::uint64_t context = 0) {
    return Session::read_value(key, context, next_place(key));
  }
  Status upsert_value(std::uint64_t key, Bytes value) {
    return Session::upsert_value(key, value, next_place(key));
  }
  Status add_to_value(std::uint64_t key, Bytes value, std::uint64_t context = 0) {
    return Session::add_to_value(key, value, context, next_place(key));
  }

 private:
  Place next_place(std::uint64_t key) {
    knows_place_ = places_ == Places::kAlternating ? !knows_place_ : places_ == Places::kAlways;
    return knows_place_ ? prefetch_record(key) : nullptr;
  }

  const Places places_;
  bool knows_place_ = false;
};

// The answer of an operation, waited for: the only one of its client that is pending.
inline Session::Answer settled(Client& client, Session::Answer first) {
  while (first.status == Status::kPending) {
    std::this_thread::yield();
    client.complete_pending([&](std::uint64_t, Session::Answer answer) { first = answer; });
  }
  return first;
}

}  // namespace turntable::hybridlog::testing
