#include "softswitch/event_loop.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>

#include "common/clock.h"
#include "common/errno_error.h"

namespace turntable::softswitch {
namespace {

std::uint64_t now() {
  return static_cast<std::uint64_t>(monotonic_ns());
}

}  // namespace

EventLoop::EventLoop(const PortTable& ports, FramePool& pool, Pipeline& pipeline)
    : ports_(ports),
      pool_(pool),
      pipeline_(pipeline),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)),
      events_(ports.all().size() + 3) {
  if (!epoll_) throw errno_error("cannot create an epoll instance");
  if (!timer_) throw errno_error("cannot create a timer");
  receive_frames_.reserve(kBatch);
  watch(tasks_.fd(), nullptr);
  watch(lateness_.fd(), &lateness_);
  watch(timer_.get(), &timer_);
  for (const auto& port : ports_.all()) watch(port->fd(), port.get());
}

void EventLoop::watch(int fd, void* source) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = source;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    throw errno_error("cannot watch a port");
}

void EventLoop::run() {
  while (!stopping_) {
    const int ready = wait();
    for (int i = 0; i < ready; ++i) {
      void* const source = events_[static_cast<std::size_t>(i)].data.ptr;
      if (source == &lateness_) {
        lateness_.tick();
      } else if (source == &timer_) {
        std::uint64_t expirations = 0;
        if (::read(timer_.get(), &expirations, sizeof(expirations)) > 0) armed_ns_ = kNever;
      } else if (source != nullptr) {
        receive_from(*static_cast<Port*>(source));
      }
    }
    pipeline_.flush();
    after_batch_();
    tasks_.run_pending();
  }
  tasks_.close();
}

void EventLoop::stop() {
  stopping_ = true;
  tasks_.wake();
}

// Returns the number of ready descriptors in events_.
int EventLoop::wait() {
  const std::uint64_t due_ns = pipeline_.next_due_ns();
  if (due_ns != armed_ns_) arm_timer(due_ns);
  const int timeout_ms = due_ns == 0 ? 0 : -1;
  return busy_poll_ns_ == 0 ? poll(timeout_ms) : poll_busily(timeout_ms);
}

int EventLoop::poll(int timeout_ms) {
  const int ready =
      ::epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), timeout_ms);
  if (ready < 0 && errno != EINTR) throw errno_error("epoll_wait failed");
  return std::max(ready, 0);
}

int EventLoop::poll_busily(int timeout_ms) {
  const std::uint64_t begin = now();
  const bool worth_polling = average_idle_ns_ < busy_poll_ns_;
  int ready = 0;
  do {
    ready = poll(0);
  } while (ready == 0 && worth_polling && timeout_ms != 0 && now() - begin < busy_poll_ns_);
  if (ready == 0) ready = poll(timeout_ms);
  // Exponential average with weight 1/8; long pauses are cut so that a burst after one is noticed
  // soon.
  const std::uint64_t idle = std::min(now() - begin, 4 * busy_poll_ns_);
  average_idle_ns_ = (7 * average_idle_ns_ + idle) / 8;
  return ready;
}

// For kNever, and where no waiting is needed (0), the timer is disarmed.
void EventLoop::arm_timer(std::uint64_t due_ns) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  itimerspec when{};
  if (due_ns != kNever) {
    when.it_value.tv_sec = static_cast<time_t>(due_ns / kSecond);
    when.it_value.tv_nsec = static_cast<long>(due_ns % kSecond);
  }
  if (::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr) != 0)
    throw errno_error("cannot set the timer of the next frame");
  armed_ns_ = due_ns;
}

// One batch only, so that a busy port does not keep the others waiting; epoll reports it again.
void EventLoop::receive_from(Port& port) {
  refill();
  const std::size_t received = port.receive(receive_frames_);
  if (received == 0) return;
  pipeline_.process(std::span(receive_frames_.data(), received), port);
  receive_frames_.erase(receive_frames_.begin(),
                        receive_frames_.begin() + static_cast<std::ptrdiff_t>(received));
}

// New frames go to the front: those released last are used first, while they are in the cache. With
// no frame free nothing is received, and the kernel queues, until flush() has released some.
void EventLoop::refill() {
  const std::size_t wanted = std::min(kBatch - receive_frames_.size(), pool_.available());
  receive_frames_.insert(receive_frames_.begin(), wanted, nullptr);
  for (std::size_t i = 0; i < wanted; ++i) receive_frames_[i] = pool_.acquire();
}

}  // namespace turntable::softswitch
