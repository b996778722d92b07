#include "shadowfax/client/sessions.h"

#include <poll.h>

#include "common/clock.h"

namespace turntable::shadowfax {

void Sessions::wait(Replies& replies, int wait_ms) {
  pollfd polled{.fd = fd(), .events = POLLIN, .revents = 0};
  ::poll(&polled, 1, wait_ms);
  look();
  receive(replies);
  go_on(replies, monotonic_ns());
}

}  // namespace turntable::shadowfax
