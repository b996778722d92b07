// What a client knows of one operation on one key: the material of the history checker.
#pragma once

#include <cstdint>
#include <limits>

#include "workload/key.h"

namespace turntable::history {

inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
// As the version of a GET: the value is none that anybody wrote under this key.
inline constexpr std::uint64_t kForeignValue = std::numeric_limits<std::uint64_t>::max();

enum class OperationType : std::uint8_t { kGet, kPut, kDelete };

struct Operation {
  OperationType type{};
  workload::KeyId key = 0;
  std::uint32_t client = 0;
  std::int64_t invoke_ns = 0;            // before the first transmission
  std::int64_t response_ns = kNever;     // after the first answer; kNever if there was none
  std::int64_t copies_gone_ns = kNever;  // from here on no copy of a write can take effect any more
  std::uint64_t version = 0;             // PUT: the value written; GET: the value read, if `found`
  bool found = false;                    // GET: whether the key had a value
  std::uint32_t number = 0;  // the answer's sequence number; 0: the record before the run

  bool answered() const { return response_ns != kNever; }
  bool is_foreign() const { return found && version == kForeignValue; }
};

}  // namespace turntable::history
