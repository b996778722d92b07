// The content of the stores before a measurement.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "shadowfax/client/load_settings.h"

namespace turntable::shadowfax {

// Where nobody says anything else.
inline constexpr std::size_t kFillBatchBytes = std::size_t{32} << 10U, kFillPipeline = 2;

struct FillSettings {
  Servers servers{};
  std::size_t threads = 1;                // of this client: thread t has sessions with workers t
  std::uint64_t keys = 1;                 // 0 to keys - 1, or ...
  std::shared_ptr<const KeyFile> file{};  // ... so many of a file, ...
  std::uint64_t client = 0, clients = 1;  // ... of which this one stores its part
  std::size_t value_bytes = 8;
  // Of requests of Shadowfax's; the other stores get as many in a batch.
  std::size_t batch_bytes = kFillBatchBytes;
  std::size_t pipeline = kFillPipeline;  // batches under way of a session
};

// Stores 0 under each key (client/value_pattern.h has what is behind it in longer values). Returns
// how many were stored. Throws SessionError; std::runtime_error where the deadline
// (CLOCK_MONOTONIC) has passed, it was cancelled, or a server did not store what it was given.
std::uint64_t fill(const FillSettings& settings, std::int64_t deadline_ns,
                   const std::atomic<bool>& cancelled);

}  // namespace turntable::shadowfax
