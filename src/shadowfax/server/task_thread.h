// A thread that runs tasks one after the other: what waits for others must not hold up a loop.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace turntable::shadowfax {

class TaskThread {
 public:
  TaskThread() : thread_([this](const std::stop_token& stop) { work(stop); }) {}
  ~TaskThread() = default;  // what has begun is ended, the others are dropped
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  // Throws nothing. stop: is asked for when the thread is to end.
  using Task = std::function<void(const std::stop_token& stop)>;

  // Any thread.
  void post(Task task) {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    changed_.notify_one();
  }

 private:
  void work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return !tasks_.empty(); }) &&
           !stop.stop_requested()) {
      const Task task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task(stop);
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Task> tasks_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace turntable::shadowfax
