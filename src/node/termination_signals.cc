#include "node/termination_signals.h"

#include <sys/eventfd.h>

#include <atomic>
#include <csignal>
#include <mutex>

#include "common/errno_error.h"
#include "common/unique_fd.h"

namespace turntable::node {
namespace {

std::atomic<int> signal_event_fd{-1};
static_assert(std::atomic<int>::is_always_lock_free, "used in a signal handler");

void note_signal(int) {
  const int saved_errno = errno;
  ::eventfd_write(signal_event_fd.load(), 1);
  errno = saved_errno;
}

}  // namespace

struct TerminationSignals::Installed {
  UniqueFd event{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  struct sigaction previous_term {};
  struct sigaction previous_int {};

  Installed() {
    if (!event) throw errno_error("cannot create an eventfd");
    signal_event_fd = event.get();
    struct sigaction action {};
    action.sa_handler = note_signal;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGTERM, &action, &previous_term);
    ::sigaction(SIGINT, &action, &previous_int);
  }
  ~Installed() {
    ::sigaction(SIGTERM, &previous_term, nullptr);
    ::sigaction(SIGINT, &previous_int, nullptr);
    signal_event_fd = -1;
  }
  Installed(const Installed&) = delete;
  Installed& operator=(const Installed&) = delete;
};

TerminationSignals::TerminationSignals() {
  static std::mutex mutex;
  static std::weak_ptr<Installed> shared;
  const std::lock_guard lock(mutex);
  installed_ = shared.lock();
  if (!installed_) shared = installed_ = std::make_shared<Installed>();
}

TerminationSignals::~TerminationSignals() = default;

int TerminationSignals::fd() const {
  return installed_->event.get();
}

}  // namespace turntable::node
