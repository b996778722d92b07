// Coroutines for the control plane: an admission or an eviction reads as the steps it is made of,
// although each step waits for an answer.
//
// A Task begins when it is awaited or given to Tasks::spawn, runs on the loop's thread only, and
// is owned by who awaits it: destroying a Tasks destroys everything under way at the point where
// it waits.
#pragma once

#include <coroutine>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "net/timers.h"

namespace turntable::net {

template <typename T>
class Task;

namespace detail {

struct PromiseBase {
  std::coroutine_handle<> awaiting = std::noop_coroutine();
  std::exception_ptr failure;

  std::suspend_always initial_suspend() noexcept { return {}; }
  auto final_suspend() noexcept {
    struct ResumeAwaiting {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<>) noexcept { return next; }
      void await_resume() noexcept {}
      std::coroutine_handle<> next;
    };
    return ResumeAwaiting{awaiting};
  }
  void unhandled_exception() noexcept { failure = std::current_exception(); }
};

template <typename T>
struct Promise : PromiseBase {
  std::optional<T> value;
  Task<T> get_return_object();
  void return_value(T result) { value.emplace(std::move(result)); }
  T take() { return std::move(*value); }
};

template <>
struct Promise<void> : PromiseBase {
  Task<void> get_return_object();
  void return_void() noexcept {}
  void take() noexcept {}
};

}  // namespace detail

template <typename T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::Promise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) noexcept {
    handle_.promise().awaiting = awaiting;
    return handle_;
  }
  T await_resume() {
    if (handle_.promise().failure) std::rethrow_exception(handle_.promise().failure);
    return handle_.promise().take();
  }

 private:
  Handle handle_;
};

template <typename T>
Task<T> detail::Promise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<Promise<T>>::from_promise(*this));
}
inline Task<void> detail::Promise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<Promise<void>>::from_promise(*this));
}

// A local variable of the coroutine that awaits it, completed by a callback. Who would complete it
// has to learn when it has been destroyed, as it is with the coroutine. (Not awaited through a
// pointer: GCC 12 awaits a copy of `*pointer`.)
template <typename T>
class Completion {
 public:
  Completion() = default;
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  void complete(T value) {
    value_.emplace(std::move(value));
    if (waiting_) std::exchange(waiting_, {}).resume();
  }
  bool is_complete() const { return value_.has_value(); }

  bool await_ready() const noexcept { return value_.has_value(); }
  void await_suspend(std::coroutine_handle<> waiting) noexcept { waiting_ = waiting; }
  T await_resume() { return std::move(*value_); }

 private:
  std::optional<T> value_;
  std::coroutine_handle<> waiting_;
};

// What a task has failed with, for people.
inline std::string message_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

// Owns tasks that nobody awaits.
class Tasks {
 public:
  // `on_failure` is told of an exception that a task did not handle.
  Tasks(Timers& timers, std::function<void(std::exception_ptr)> on_failure)
      : timers_(timers), on_failure_(std::move(on_failure)) {}
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;
  ~Tasks() {
    if (sweep_ != 0) timers_.cancel(sweep_);
  }

  void spawn(Task<void> task) {
    const auto place = running_.emplace(running_.end(), nullptr);
    *place = std::make_unique<Root>(drive(std::move(task), place));
    (*place)->handle.resume();
  }

  std::size_t size() const { return running_.size() - finished_.size(); }

 private:
  // The outermost frame of a spawned task.
  struct Root {
    // NOLINTNEXTLINE(readability-identifier-naming): the language looks for this name
    struct promise_type {
      Root get_return_object() {
        return Root(std::coroutine_handle<promise_type>::from_promise(*this));
      }
      std::suspend_always initial_suspend() noexcept { return {}; }
      std::suspend_always final_suspend() noexcept { return {}; }
      void return_void() noexcept {}
      void unhandled_exception() noexcept { std::terminate(); }
    };
    explicit Root(std::coroutine_handle<promise_type> coroutine) : handle(coroutine) {}
    Root(Root&& other) noexcept : handle(std::exchange(other.handle, {})) {}
    Root& operator=(Root&&) = delete;
    ~Root() {
      if (handle) handle.destroy();
    }
    std::coroutine_handle<promise_type> handle;
  };
  using Place = std::list<std::unique_ptr<Root>>::iterator;

  Root drive(Task<void> task, Place place) {
    try {
      co_await task;
    } catch (...) {
      on_failure_(std::current_exception());
    }
    finished_.push_back(place);
    if (sweep_ == 0) sweep_ = timers_.call_soon([this] { sweep(); });
  }

  // A frame cannot destroy itself while it runs.
  void sweep() {
    sweep_ = 0;
    for (const Place place : std::exchange(finished_, {})) running_.erase(place);
  }

  Timers& timers_;
  std::function<void(std::exception_ptr)> on_failure_;
  std::list<Place> finished_;
  Timers::TimerId sweep_ = 0;
  std::list<std::unique_ptr<Root>> running_;  // last: frames go while the rest is still there
};

}  // namespace turntable::net
