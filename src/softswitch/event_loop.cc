#include "softswitch/event_loop.h"

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
      events_(ports.all().size() + 2) {
  if (!epoll_) throw errno_error("cannot create an epoll instance");
  receive_frames_.reserve(kBatch);
  watch(tasks_.fd(), nullptr);
  watch(lateness_.fd(), &lateness_);
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
      } else if (source != nullptr) {
        receive_from(*static_cast<Port*>(source));
      }
    }
    pipeline_.flush();
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
  const auto poll = [this](int timeout_ms) {
    const int ready =
        ::epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), timeout_ms);
    if (ready < 0 && errno != EINTR) throw errno_error("epoll_wait failed");
    return std::max(ready, 0);
  };
  if (busy_poll_ns_ == 0) return poll(-1);

  const std::uint64_t begin = now();
  const bool worth_polling = average_idle_ns_ < busy_poll_ns_;
  int ready = 0;
  do {
    ready = poll(0);
  } while (ready == 0 && worth_polling && now() - begin < busy_poll_ns_);
  if (ready == 0) ready = poll(-1);
  // Exponential average with weight 1/8; long pauses are cut so that a burst after one is noticed
  // soon.
  const std::uint64_t idle = std::min(now() - begin, 4 * busy_poll_ns_);
  average_idle_ns_ = (7 * average_idle_ns_ + idle) / 8;
  return ready;
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
