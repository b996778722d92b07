#include "load/thread_frame.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>

#include "common/clock.h"
#include "common/data_path_thread.h"
#include "common/errno_error.h"

namespace turntable::load {

ThreadFrame::ThreadFrame(Loop& loop, const Settings& settings)
    : loop_(loop), settings_(settings), wake_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_event_) throw errno_error("cannot create an eventfd");
}

void ThreadFrame::stop() noexcept {
  stopping_ = true;
  ::eventfd_write(wake_event_.get(), 1);
}

void ThreadFrame::read_waiting() noexcept {
  if (reads_done_ == kNotReading) return;
  const std::uint64_t asked = ++reads_asked_;
  ::eventfd_write(wake_event_.get(), 1);
  for (std::uint64_t done = reads_done_; done < asked; done = reads_done_) reads_done_.wait(done);
}

void ThreadFrame::note_reads(std::uint64_t done) noexcept {
  if (done == reads_done_.load(std::memory_order_relaxed)) return;
  reads_done_ = done;
  reads_done_.notify_all();
}

void ThreadFrame::run() {
  use_precise_timers();
  timing_.realtime = settings_.realtime && use_realtime_priority();
  wait_for_start();
  if (stopping()) return;
  reads_done_ = 0;
  std::int64_t now = monotonic_ns();
  timing_.start_lateness_ns = now - schedule_.start_ns;
  loop_.begin(now);
  while (!finished() && !stopping()) {
    const std::uint64_t reads_asked = reads_asked_;
    const int count = loop_.receive();
    now = monotonic_ns();
    advance_phase(now);
    if (count < 0) loop_.count_receive_error();
    if (count > 0 && phase_ == Phase::kMeasure) note_lateness();
    if (count > 0) loop_.handle_batch(now);
    loop_.act(now);
    if (count == 0) note_reads(reads_asked);
    if (count == 0 && !finished()) wait_until(next_event_ns());
  }
  loop_.end();
  note_reads(kNotReading);
}

bool ThreadFrame::finished() const noexcept {
  return phase_ == Phase::kDrain &&
         (loop_.outstanding() == 0 || monotonic_ns() >= schedule_.drain_until_ns);
}

void ThreadFrame::advance_phase(std::int64_t now_ns) {
  if (phase_ == Phase::kWarmUp && now_ns >= schedule_.window_from_ns) {
    phase_ = Phase::kMeasure;
    loop_.enter(phase_);
    window_opened_ns_ = now_ns;
    scheduling_before_ = scheduling_of_this_thread();
  }
  if (phase_ == Phase::kMeasure && now_ns >= schedule_.window_until_ns) {
    phase_ = Phase::kDrain;
    timing_.measured_ns = now_ns - window_opened_ns_;
    timing_.window_lateness_ns = now_ns - schedule_.window_until_ns;
    if (const auto scheduling = scheduling_of_this_thread(); scheduling && scheduling_before_)
      timing_.scheduling = *scheduling - *scheduling_before_;
    loop_.enter(phase_);
  }
}

void ThreadFrame::note_lateness() noexcept {
  if (const auto arrival_ns = loop_.oldest_arrival_ns()) {
    timing_.read_lateness_max_ns =
        std::max(timing_.read_lateness_max_ns, realtime_ns() - *arrival_ns);
  }
}

std::int64_t ThreadFrame::next_event_ns() const noexcept {
  const std::int64_t next = phase_ == Phase::kWarmUp    ? schedule_.window_from_ns
                            : phase_ == Phase::kMeasure ? schedule_.window_until_ns
                                                        : schedule_.drain_until_ns;
  const std::int64_t due = loop_.next_due_ns();
  return std::min(next, due == INT64_MAX ? due : due - settings_.spin_ns);
}

Loop::Woke Loop::wait(int wake, const timespec& left) noexcept {
  std::array<pollfd, 2> polled = {{{wake, POLLIN, 0}, {fd(), POLLIN, 0}}};
  const int ready = ::ppoll(polled.data(), polled.size(), &left, nullptr);
  if (ready <= 0) return ready == 0 ? Woke::kTimeOver : Woke::kOther;
  return polled[1].revents != 0 ? Woke::kAnswers : Woke::kOther;
}

void ThreadFrame::wait_for_start() noexcept {
  pollfd polled{wake_event_.get(), POLLIN, 0};
  while (!stopping()) {
    const std::int64_t left_ns = schedule_.start_ns - monotonic_ns();
    if (left_ns <= 0) return;
    const timespec left = to_timespec(left_ns);
    ::ppoll(&polled, 1, &left, nullptr);
  }
}

void ThreadFrame::wait_until(std::int64_t at_ns) noexcept {
  for (;;) {
    const std::int64_t left_ns = at_ns - monotonic_ns();
    if (left_ns <= 0) return;
    const Loop::Woke woke = loop_.wait(wake_event_.get(), to_timespec(left_ns));
    if (woke == Loop::Woke::kTimeOver) continue;
    eventfd_t ignored = 0;
    if (woke == Loop::Woke::kOther) ::eventfd_read(wake_event_.get(), &ignored);
    return;
  }
}

}  // namespace turntable::load
