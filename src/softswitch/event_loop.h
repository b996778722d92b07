// The pipeline thread's loop: waits for frames and for control tasks.
#pragma once

#include <sys/epoll.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "common/task_queue.h"
#include "common/unique_fd.h"
#include "softswitch/frame_pool.h"
#include "softswitch/lateness_probe.h"
#include "softswitch/pipeline.h"
#include "softswitch/port.h"

namespace turntable::softswitch {

// How long the loop polls for the next frame before it sleeps. Polling saves the wake-up (several
// µs) but takes the processor from the hosts of an embedded testbed, so it is done only while
// frames have come within this time.
inline constexpr std::uint64_t kDefaultBusyPollNs = 0;

class EventLoop {
 public:
  // `ports` must not change afterwards. The pool needs at least kBatch frames.
  EventLoop(const PortTable& ports, FramePool& pool, Pipeline& pipeline);

  // Runs on the calling thread until stop(). Then tasks() is closed.
  void run();

  // Any thread.
  void stop();
  TaskQueue& tasks() { return tasks_; }

  // Before run(). Called on the pipeline thread after every batch.
  void after_batch(std::function<void()> hook) { after_batch_ = std::move(hook); }

  // The pipeline thread, so through tasks().
  void set_busy_poll_ns(std::uint64_t busy_poll_ns) { busy_poll_ns_ = busy_poll_ns; }
  std::uint64_t busy_poll_ns() const { return busy_poll_ns_; }
  LatenessProbe& lateness() { return lateness_; }

 private:
  void watch(int fd, void* source);
  int wait();
  int poll(int timeout_ms);
  int poll_busily(int timeout_ms);
  void arm_timer(std::uint64_t due_ns);
  void receive_from(Port& port);
  void refill();

  const PortTable& ports_;
  FramePool& pool_;
  Pipeline& pipeline_;
  TaskQueue tasks_;
  LatenessProbe lateness_;
  UniqueFd epoll_;
  UniqueFd timer_;  // wakes the loop for the next frame that is due
  std::uint64_t armed_ns_ = kNever;
  std::function<void()> after_batch_ = [] {};
  std::atomic<bool> stopping_{false};
  std::uint64_t busy_poll_ns_ = kDefaultBusyPollNs;
  std::uint64_t average_idle_ns_ = 0;  // of the recent gaps between two arrivals
  std::vector<epoll_event> events_;
  std::vector<Frame*> receive_frames_;  // free frames for the next receive call
};

}  // namespace turntable::softswitch
