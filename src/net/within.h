// A coroutine with a deadline.
#pragma once

#include <optional>
#include <vector>

#include "net/all_of.h"

namespace turntable::net {

// What `work` returns or throws; or throws, at `deadline_ns`, what `on_deadline` returns. `work` is
// given up then, where it waits.
template <typename T>
Task<T> within(Timers& timers, std::int64_t deadline_ns, Task<T> work,
               std::function<std::exception_ptr()> on_deadline) {
  std::optional<T> result;
  const auto keep = [](Task<T> inner, std::optional<T>& kept) -> Task<void> {
    kept = co_await inner;
  };
  std::vector<Task<void>> parts;
  parts.push_back(keep(std::move(work), result));
  Task<void> done = all_of(timers, std::move(parts), deadline_ns, std::move(on_deadline));
  co_await done;
  co_return std::move(*result);
}

}  // namespace turntable::net
