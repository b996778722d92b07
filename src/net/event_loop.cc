#include "net/event_loop.h"

#include <poll.h>

#include <algorithm>
#include <climits>

#include "common/clock.h"
#include "common/errno_error.h"

namespace turntable::net {

void EventLoop::run() {
  while (!stopping_) wait_and_dispatch();
  tasks_.close();
}

void EventLoop::stop() {
  post([this] { stopping_ = true; });
}

void EventLoop::post(std::function<void()> call) {
  {
    const std::lock_guard lock(posted_mutex_);
    posted_.push_back(std::move(call));
  }
  tasks_.wake();
}

void EventLoop::watch(int fd, short events, OnReady on_ready) {
  watched_.insert_or_assign(fd, Watched{events, std::make_shared<OnReady>(std::move(on_ready))});
}

void EventLoop::change(int fd, short events) {
  watched_.at(fd).events = events;
}

void EventLoop::unwatch(int fd) {
  watched_.erase(fd);
}

std::int64_t EventLoop::now_ns() const {
  return monotonic_ns();
}

Timers::TimerId EventLoop::call_at(std::int64_t at_ns, std::function<void()> call) {
  const TimerId id = next_timer_++;
  timers_.emplace(std::pair(at_ns, id), std::move(call));
  timer_times_.emplace(id, at_ns);
  return id;
}

void EventLoop::cancel(TimerId id) {
  const auto found = timer_times_.find(id);
  if (found == timer_times_.end()) return;
  timers_.erase({found->second, id});
  timer_times_.erase(found);
}

int EventLoop::timeout_ms() const {
  if (timers_.empty()) return -1;
  constexpr std::int64_t kNsPerMs = 1'000'000;
  const std::int64_t left = timers_.begin()->first.first - now_ns();
  const std::int64_t rounded_up = (left + kNsPerMs - 1) / kNsPerMs;
  return static_cast<int>(std::clamp<std::int64_t>(rounded_up, 0, INT_MAX));
}

void EventLoop::wait_and_dispatch() {
  std::vector<pollfd> polled = {{tasks_.fd(), POLLIN, 0}};
  for (const auto& [fd, watched] : watched_) polled.push_back({fd, watched.events, 0});
  if (::poll(polled.data(), polled.size(), timeout_ms()) < 0 && errno != EINTR) {
    throw errno_error("poll of the node's event loop failed");
  }
  if (polled[0].revents != 0) {
    tasks_.run_pending();
    run_posted();
  }
  for (std::size_t i = 1; i < polled.size(); ++i) {
    if (polled[i].revents == 0) continue;
    // An earlier callback may have unwatched it; one may also unwatch itself while it runs.
    const auto found = watched_.find(polled[i].fd);
    if (found == watched_.end()) continue;
    const std::shared_ptr<OnReady> on_ready = found->second.on_ready;
    (*on_ready)(polled[i].revents);
  }
  run_timers();
}

// Only those that are due now: one that sets itself again for at once must not starve descriptors.
void EventLoop::run_timers() {
  const std::int64_t now = now_ns();
  const TimerId first_new = next_timer_;
  for (auto timer = timers_.begin(); timer != timers_.end() && timer->first.first <= now;) {
    if (timer->first.second >= first_new) {
      ++timer;
      continue;
    }
    auto node = timers_.extract(timer);
    timer_times_.erase(node.key().second);
    node.mapped()();
    timer = timers_.begin();
  }
}

void EventLoop::run_posted() {
  std::vector<std::function<void()>> calls;
  {
    const std::lock_guard lock(posted_mutex_);
    calls.swap(posted_);
  }
  for (const auto& call : calls) call();
}

}  // namespace turntable::net
