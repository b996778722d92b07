#include "shadowfax/client/sessions.h"

#include <poll.h>

#include "common/clock.h"

namespace turntable::shadowfax {

std::string why_lost(ReplyStatus status) {
  const char* const why = status == ReplyStatus::kNoSpace   ? "the store's device is full"
                          : status == ReplyStatus::kIoError ? "the store's device fails"
                                                            : "its key has another value by now";
  return std::string(
             "an acknowledged request was lost with a killed server, and could not be done "
             "again: ") +
         why;
}

void Sessions::wait(Replies& replies, int wait_ms) {
  pollfd polled{.fd = fd(), .events = POLLIN, .revents = 0};
  ::poll(&polled, 1, wait_ms);
  look();
  receive(replies);
  go_on(replies, monotonic_ns());
}

}  // namespace turntable::shadowfax
