// The event loop of a control-plane node: file descriptors, timers, and tasks of other threads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "common/task_queue.h"
#include "common/unique_fd.h"
#include "net/timers.h"

namespace turntable::net {

class EventLoop final : public Timers {
 public:
  using OnReady = std::function<void(short events)>;

  EventLoop() = default;
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Runs on the calling thread until stop(); then tasks() is closed.
  void run();

  // Any thread.
  void stop();
  TaskQueue& tasks() { return tasks_; }   // runs something on the loop and waits for it
  void post(std::function<void()> call);  // ... and does not wait

  // The loop's thread, or before run(). `events` as of poll(2). A callback may watch and unwatch
  // anything, also its own descriptor; unwatch before closing.
  void watch(int fd, short events, OnReady on_ready);
  void change(int fd, short events);
  void unwatch(int fd);

  std::int64_t now_ns() const override;
  TimerId call_at(std::int64_t at_ns, std::function<void()> call) override;
  void cancel(TimerId id) override;

 private:
  struct Watched {
    short events;
    std::shared_ptr<OnReady> on_ready;
  };

  void wait_and_dispatch();
  void run_timers();
  void run_posted();
  int timeout_ms() const;

  TaskQueue tasks_;
  bool stopping_ = false;
  std::map<int, Watched> watched_;
  std::map<std::pair<std::int64_t, TimerId>, std::function<void()>> timers_;  // by time
  std::map<TimerId, std::int64_t> timer_times_;
  TimerId next_timer_ = 1;
  std::mutex posted_mutex_;
  std::vector<std::function<void()>> posted_;
};

}  // namespace turntable::net
