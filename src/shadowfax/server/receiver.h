// Records that come from another server, into a store: a session with what it needs.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "hybridlog/store.h"
#include "shadowfax/server/moved_record.h"

namespace turntable::shadowfax {

// Throws std::invalid_argument where they are none.
std::vector<MovedRecord> parsed(std::span<const std::uint8_t> records);

// Operations are waited for: its thread has no other sessions. All throw std::runtime_error where
// the store has no room, cannot read what it has, or has no values that are so long.
class Receiver {
 public:
  explicit Receiver(hybridlog::Store& store) : thread_(store.epoch()), session_(store, thread_) {
    thread_.protect();
  }

  // The newest record of a key comes first, and is there before an older one comes.
  void take(const MovedRecord& record);
  // Of a value that takes no addition, for it never will: nothing, as if its client were there.
  void add(const hybridlog::Awaited::Addition& addition);
  void wait_for_all();

 private:
  void settle(hybridlog::Status status);
  void go_on();

  hybridlog::Epoch::Thread thread_;
  hybridlog::Session session_;
  std::unordered_set<std::uint64_t> waiting_;  // keys whose records may be pending
};

}  // namespace turntable::shadowfax
