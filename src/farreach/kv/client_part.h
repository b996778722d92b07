// One thread of kvclient, whatever decides when it sends: closed loops (client_thread.h) or an open
// one (open_client.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "farreach/kv/client_copies.h"
#include "farreach/kv/client_statistics.h"
#include "load/client_life.h"
#include "load/thread_frame.h"

namespace turntable::kv {

class ClientPart : public load::Part {
 public:
  // Returns once run() has handled all answers that had reached the socket before, or does not run.
  // For one other thread at a time.
  virtual void read_waiting() noexcept = 0;

  // Thread-safe.
  virtual ClientCopies& copies() noexcept = 0;
  virtual std::int64_t answers() const noexcept = 0;
  virtual std::uint32_t drops() const = 0;
  virtual std::size_t buffer_bytes() const = 0;

  // After run().
  virtual const ClientStatistics& statistics() const = 0;
  virtual const load::ThreadTiming& timing() const = 0;
};

}  // namespace turntable::kv
