// Runs tasks of other threads on one thread that is busy with an event loop of its own.
//
// The loop polls fd() and calls run_pending() when it is readable, or simply between two pieces of
// its work.
#pragma once

#include <sys/eventfd.h>

#include <atomic>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include "common/command_error.h"
#include "common/deadline.h"
#include "common/errno_error.h"
#include "common/unique_fd.h"

namespace turntable {

class TaskQueue {
 public:
  TaskQueue() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!event_) throw errno_error("cannot create an eventfd");
  }

  // Any thread but the loop's: runs `task` on the loop's thread and returns its result, or throws
  // what it threw. Throws CommandError "timeout" if the loop has not begun it at the deadline (it
  // will not run then), and "unavailable" if the loop has ended. A task that has begun is waited
  // for, so it may use the caller's locals.
  template <typename Task>
  auto call(Task task, Deadline deadline) -> std::invoke_result_t<Task> {
    using Result = std::invoke_result_t<Task>;
    auto work = std::make_shared<std::packaged_task<Result()>>(std::move(task));
    auto entry = std::make_shared<Entry>();
    entry->run = [work] { (*work)(); };
    std::future<Result> result = work->get_future();
    work.reset();
    post(entry);
    if (!wait(result, deadline) && entry->claim()) {
      throw CommandError(
          "timeout",
          "the node's main loop did not take the command in time; it is overloaded or stuck");
    }
    try {
      return result.get();
    } catch (const std::future_error&) {
      throw CommandError("unavailable", "the node is ending and takes no more commands");
    }
  }

  int fd() const { return event_.get(); }

  // Any thread: makes fd() readable although there may be no task.
  void wake() {
    pending_.store(true, std::memory_order_release);
    ::eventfd_write(event_.get(), 1);
  }

  // The loop's thread. Cheap when there is nothing to do.
  void run_pending() {
    if (!pending_.exchange(false, std::memory_order_acquire)) return;
    eventfd_t ignored = 0;
    ::eventfd_read(event_.get(), &ignored);
    for (const auto& entry : take_all()) {
      if (entry->claim()) entry->run();
    }
  }

  // The loop's thread, at its end: callers waiting now or later get "unavailable".
  void close() {
    std::deque<std::shared_ptr<Entry>> abandoned;
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      abandoned.swap(entries_);
    }
    for (const auto& entry : abandoned) {
      if (entry->claim()) entry->run = nullptr;  // breaks the promise the caller waits for
    }
  }

 private:
  struct Entry {
    std::function<void()> run;
    std::atomic<bool> claimed{false};  // by the loop that runs it or by the caller that gave up
    bool claim() { return !claimed.exchange(true); }
  };

  template <typename Result>
  static bool wait(const std::future<Result>& result, Deadline deadline) {
    if (deadline.is_never()) {
      result.wait();
      return true;
    }
    return result.wait_until(deadline.time_point()) == std::future_status::ready;
  }

  void post(const std::shared_ptr<Entry>& entry) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_)
        throw CommandError("unavailable", "the node is ending and takes no more commands");
      entries_.push_back(entry);
    }
    wake();
  }

  std::deque<std::shared_ptr<Entry>> take_all() {
    const std::lock_guard lock(mutex_);
    return std::exchange(entries_, {});
  }

  UniqueFd event_;
  std::atomic<bool> pending_{false};
  std::mutex mutex_;
  std::deque<std::shared_ptr<Entry>> entries_;
  bool closed_ = false;
};

}  // namespace turntable
