// Runs a coroutine on the loop's thread for a control command, which waits for it on its own
// thread.
#pragma once

#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "common/command_error.h"
#include "common/deadline.h"
#include "net/event_loop.h"
#include "net/task.h"

namespace turntable::net {

// `make` is called on the loop's thread and makes the task; `spawn` gives it an owner there. Throws
// what either throws, and CommandError "timeout" when the task has not ended at the deadline; it
// may still go on then.
template <typename Spawn, typename Make>
nlohmann::json run_on_loop(EventLoop& loop, const std::string& what, Deadline deadline,
                           const Spawn& spawn, Make make) {
  using Json = nlohmann::json;
  auto ended = std::make_shared<std::promise<Json>>();
  std::future<Json> result = ended->get_future();
  const auto drive = [](Make start, std::shared_ptr<std::promise<Json>> promise) -> Task<void> {
    try {
      Task<Json> task = start();
      promise->set_value(co_await task);
    } catch (...) {
      promise->set_exception(std::current_exception());
    }
  };
  loop.tasks().call([&] { spawn(drive(std::move(make), std::move(ended))); }, deadline);
  if (result.wait_until(deadline.time_point()) != std::future_status::ready) {
    throw CommandError("timeout", what +
                                      ": not done before the deadline; `stats` says what it "
                                      "waits for");
  }
  try {
    return result.get();
  } catch (const std::future_error&) {
    throw CommandError("unavailable", what + ": it was stopped before it was done");
  }
}

}  // namespace turntable::net
