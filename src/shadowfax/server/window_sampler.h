// Reads counters at the two ends of a window, by a thread of its own: those who count know nothing
// of it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "shadowfax/server/store_server.h"

namespace turntable::shadowfax {

class WindowSampler {
 public:
  using Read = std::function<StoreServer::Readings()>;  // by its thread

  // CLOCK_MONOTONIC.
  WindowSampler(std::int64_t from_ns, std::int64_t until_ns, Read read);

  struct Result {
    StoreServer::Readings begin, end;
    std::int64_t window_ns = 0;  // between the two readings
  };
  // Nothing: the window is not over.
  std::optional<Result> result() const;

 private:
  // False: this object ends.
  bool wait_until(std::int64_t at_ns, const std::stop_token& stop);
  void work(std::int64_t from_ns, std::int64_t until_ns, const std::stop_token& stop);

  const Read read_;
  mutable std::mutex mutex_;  // of the result
  std::condition_variable_any ends_;
  std::optional<Result> result_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace turntable::shadowfax
