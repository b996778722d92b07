// Compacts a store's log again and again (hybridlog/compaction.h), so that what it takes on the
// device stays bounded.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "hybridlog/compaction.h"
#include "shadowfax/server/compaction_gate.h"

namespace turntable::shadowfax {

class Compactor {
 public:
  struct Settings {
    // What the log may take on the device before it is compacted; at least a page. Where more than
    // half of it is live, twice what is live.
    std::uint64_t above_bytes = 0;
    // No checkpoint needs what lies before the log's begin: there are none.
    bool gives_back = false;
    // How to compact now. Nothing: not now. What it throws is counted as a failure.
    std::function<std::optional<hybridlog::CompactionSettings>()> how = [] {
      return hybridlog::CompactionSettings();
    };
  };

  // The store has a thread for it.
  Compactor(hybridlog::Store& store, CompactionGate& gate, Settings settings);
  // Stops what is under way. The workers must still run.
  ~Compactor();
  Compactor(const Compactor&) = delete;
  Compactor& operator=(const Compactor&) = delete;

  struct Counts {
    std::uint64_t made = 0, failed = 0;
    std::uint64_t kept_records = 0, freed_bytes = 0;
    std::string why;  // the last one failed; empty: it did not
  };
  Counts counts() const;

 private:
  void work(const std::stop_token& stop);
  bool compact();
  void note(const hybridlog::Compacted& done);
  std::uint64_t bytes_on_device() const;

  hybridlog::Store& store_;
  CompactionGate& gate_;
  const Settings settings_;
  std::uint64_t live_bytes_ = 0;  // that the last one has kept
  mutable std::mutex mutex_;      // of the counts
  Counts counts_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace turntable::shadowfax
