// Whether a history of a key-value store is linearizable, each key being a register of its own.
//
// Writes are at least once (docs/kvcache.md §1): every transmission of a request is a write with a
// sequence number of its own and may take effect until its last copy is gone. The number in an
// answer says which of these effects was acknowledged, or read; an effect that nobody saw may or
// may not have happened and constrains nothing. So each effect that somebody saw is one write:
//
//   acknowledged               begins with the request, ends with the answer
//   only read by somebody      begins with the request, ends when its last copy is gone
//
// The record before the run has number 0 and was written before everything. Values are unique;
// deletes are told apart by number.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "history/operation.h"

namespace turntable::history {

struct Violation {
  workload::KeyId key;
  std::string what;                     // one sentence
  std::vector<std::size_t> operations;  // what contradicts itself, as indexes into the history
};

struct Verdict {
  std::size_t operations = 0;  // answered ones
  std::size_t unanswered = 0;
  std::size_t keys = 0;
  std::vector<Violation> violations;  // at most one per key
};

// O(n log n). Times must be of one clock.
Verdict check(std::span<const Operation> history);

// A violation with its operations, a line each, for people; `note` is put behind an operation.
std::string describe(
    const Violation& violation, std::span<const Operation> history,
    const std::function<std::string(std::size_t)>& note = [](std::size_t) { return ""; });

}  // namespace turntable::history
