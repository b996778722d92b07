// Hot keys on their way to the cache-controller, each reported once (docs/kvcache.md §7).
//
//   report() --> waiting --take()--> asked --settle()--> cached, or forgotten if it was refused
//
// A cached key is not reported again until it is evicted, or until the controller was reached anew:
// the switch may have been emptied meanwhile.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "kv/counter.h"
#include "kv/packet.h"
#include "workload/key.h"

namespace turntable::kv {

class HotKeys {
 public:
  // More are dropped and counted: a switch holds fewer.
  static constexpr std::size_t kMaxKeys = 65'536;

  // `wake` is called when there is something to take, on the thread that reports.
  explicit HotKeys(std::function<void()> wake = [] {}) : wake_(std::move(wake)) {}

  void report(const PacketKey& key);

  // At most `max` of those that wait.
  std::vector<PacketKey> take(std::size_t max);
  void settle(const PacketKey& key, bool cached);
  void evicted(const PacketKey& key);
  void forget_cached();

  std::size_t dropped() const;

 private:
  enum class State : std::uint8_t { kWaiting, kAsked, kCached };

  struct Hash {
    std::size_t operator()(const PacketKey& key) const noexcept {
      return workload::key_id_from_wire(key).value_or(0);  // ids are hashes
    }
  };

  mutable std::mutex mutex_;
  std::function<void()> wake_;
  std::unordered_map<PacketKey, State, Hash> keys_;
  std::vector<PacketKey> waiting_;
  std::size_t dropped_ = 0;
};

}  // namespace turntable::kv
