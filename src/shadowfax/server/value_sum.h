// What is in a store, added up: for checks against what clients have added.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "hybridlog/store.h"

namespace turntable::shadowfax {

// Those that have a record in the log, also deleted ones, each once. Nobody may write meanwhile.
// Throws std::system_error where the device does not give the log.
std::vector<std::uint64_t> keys_of(hybridlog::Store& store);

// Of keys' values, of longer ones the first 8 bytes, read by a session of its own.
class ValueSum {
 public:
  // deadline_ns: CLOCK_MONOTONIC.
  ValueSum(hybridlog::Store& store, std::int64_t deadline_ns);

  // Both throw CommandError at the deadline, and where a record cannot be read.
  void add(std::uint64_t key);
  // {"sum", "found": keys that have a value}
  nlohmann::json result();

 private:
  void go_on();
  void take(hybridlog::Session::Answer answer);
  void require_before_the_deadline() const;

  hybridlog::Epoch::Thread thread_;
  hybridlog::Session session_;
  const std::int64_t deadline_ns_;
  std::uint64_t asked_ = 0, sum_ = 0, found_ = 0;
};

}  // namespace turntable::shadowfax
