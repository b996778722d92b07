// What the threads of all clients have in common: they wait for the common start, go through the
// phases of a schedule, read answers in batches, sleep until an answer comes or something is due,
// and note how late they were themselves. What is sent, and when, is the loop's business.
#pragma once

#include <time.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/schedstat.h"
#include "common/unique_fd.h"
#include "load/schedule.h"

namespace turntable::load {

// Of one thread; not added up.
struct ThreadTiming {
  std::int64_t start_lateness_ns = 0;  // of the thread, after the common start instant
  std::int64_t measured_ns = 0;  // between the clock readings that opened and closed the window
  std::int64_t window_lateness_ns = 0;        // of the reading that closed it
  std::int64_t read_lateness_max_ns = 0;      // an answer of the window lay in the socket so long
  std::optional<SchedulingTimes> scheduling;  // in the window; nothing where it is not counted
  bool realtime = false;                      // it ran before all ordinary threads
};

// A client in the frame: an open loop or closed ones. All is called by the frame's thread;
// `now_ns` is CLOCK_MONOTONIC.
class Loop {
 public:
  virtual int fd() const noexcept = 0;  // readable when there are answers
  virtual void begin(std::int64_t now_ns) noexcept = 0;
  virtual void enter(Phase phase) noexcept = 0;  // all but the warm-up
  // Reads a batch of answers without waiting: their number, 0, or -errno.
  virtual int receive() noexcept = 0;
  // When the oldest of the batch arrived, by the kernel's stamp: CLOCK_REALTIME.
  virtual std::optional<std::int64_t> oldest_arrival_ns() const noexcept = 0;
  virtual void handle_batch(std::int64_t now_ns) noexcept = 0;
  // Sends what is due.
  virtual void act(std::int64_t now_ns) noexcept = 0;
  virtual std::int64_t next_due_ns() const noexcept = 0;  // INT64_MAX: nothing
  virtual std::size_t outstanding() const noexcept = 0;   // requests without an answer
  virtual void count_receive_error() noexcept = 0;
  // Sleeps until answers have come, `wake` is readable or the time is over. The default polls fd();
  // a loop whose descriptor is an epoll can do it, and learn what is readable, in one call.
  enum class Woke : std::uint8_t { kTimeOver, kAnswers, kOther };
  virtual Woke wait(int wake, const timespec& left) noexcept;
  virtual void end() noexcept {}  // nothing is handled any more; not if it never began

 protected:
  ~Loop() = default;
};

class ThreadFrame {
 public:
  struct Settings {
    // Awake for so long before something is due: timers fire late, by some microseconds on an idle
    // processor and by more where it sleeps deeply.
    std::int64_t spin_ns = 0;
    // Before all ordinary threads, where the system allows it: for threads that mostly sleep.
    bool realtime = false;
  };

  // `loop` must outlive this object.
  explicit ThreadFrame(Loop& loop) : ThreadFrame(loop, Settings{}) {}
  ThreadFrame(Loop& loop, const Settings& settings);

  void set_schedule(const Schedule& schedule) { schedule_ = schedule; }  // before run()

  // Until nothing is outstanding in the drain, the drain is over, or stop(). Once.
  void run();
  void stop() noexcept;  // thread-safe

  // Returns once run() has handled all answers that had reached the socket before, or does not run.
  // For one other thread at a time.
  void read_waiting() noexcept;

  const ThreadTiming& timing() const { return timing_; }  // after run()

 private:
  static constexpr std::uint64_t kNotReading = UINT64_MAX;

  bool stopping() const noexcept { return stopping_.load(std::memory_order_relaxed); }
  bool finished() const noexcept;
  void note_lateness() noexcept;
  void advance_phase(std::int64_t now_ns);
  std::int64_t next_event_ns() const noexcept;
  void wait_for_start() noexcept;
  void wait_until(std::int64_t at_ns) noexcept;
  void note_reads(std::uint64_t done) noexcept;

  Loop& loop_;
  const Settings settings_;
  UniqueFd wake_event_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> reads_asked_{0};
  std::atomic<std::uint64_t> reads_done_{kNotReading};  // of those asked

  Schedule schedule_{};
  Phase phase_ = Phase::kWarmUp;
  std::int64_t window_opened_ns_ = 0;
  std::optional<SchedulingTimes> scheduling_before_;  // when the window opened
  ThreadTiming timing_;
};

}  // namespace turntable::load
