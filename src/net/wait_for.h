// Time that a coroutine lets pass.
#pragma once

#include <cstdint>
#include <memory>

#include "net/task.h"
#include "net/timers.h"

namespace turntable::net {

inline Task<void> wait_for(Timers& timers, std::int64_t for_ns) {
  Completion<bool> over;
  const auto alive = std::make_shared<char>();  // the timer may ring when nobody waits any more
  timers.call_at(timers.now_ns() + for_ns, [&over, alive = std::weak_ptr<char>(alive)] {
    if (!alive.expired()) over.complete(true);
  });
  co_await over;
}

}  // namespace turntable::net
