// Several coroutines at the same time.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "net/task.h"
#include "net/timers.h"

namespace turntable::net {

// Done when all parts are. What the first fails with is thrown at once, or at `deadline_ns` what
// `on_deadline` returns; the parts that are left are given up where they wait.
inline Task<void> all_of(Timers& timers, std::vector<Task<void>> parts, std::int64_t deadline_ns,
                         std::function<std::exception_ptr()> on_deadline) {
  if (parts.empty()) co_return;
  Completion<std::exception_ptr> ended;
  const auto alive = std::make_shared<char>();
  const auto end = [&ended, alive = std::weak_ptr<char>(alive)](const std::exception_ptr& why) {
    if (!alive.expired() && !ended.is_complete()) ended.complete(why);
  };
  // Not from within a part, since whoever goes on destroys it.
  const auto end_soon = [&timers, end](const std::exception_ptr& why) {
    timers.call_soon([end, why] { end(why); });
  };
  struct Timer {
    Timers& timers;
    Timers::TimerId id;
    ~Timer() { timers.cancel(id); }
  };
  const Timer timer{timers,
                    timers.call_at(deadline_ns, [end, on_deadline] { end(on_deadline()); })};

  std::size_t left = parts.size();
  const auto run = [](Task<void> part, std::size_t& running, auto when_last) -> Task<void> {
    co_await part;
    if (--running == 0) when_last(nullptr);
  };
  Tasks tasks(timers, end_soon);
  for (Task<void>& part : parts) tasks.spawn(run(std::move(part), left, end_soon));
  const std::exception_ptr failure = co_await ended;
  if (failure) std::rethrow_exception(failure);
}

}  // namespace turntable::net
