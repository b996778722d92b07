// Lines over a stream socket: the framing of the control protocol (docs/architecture.md §2).
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "common/deadline.h"
#include "common/unique_fd.h"

namespace turntable::node {

inline constexpr std::size_t kMaxLineBytes = 64U << 20U;

// Not thread-safe. The socket is made non-blocking; all waiting is done here, with deadlines.
class LineChannel {
 public:
  enum class Status { kOk, kClosed, kTimeout, kInterrupted };

  explicit LineChannel(UniqueFd socket, std::size_t max_line_bytes = kMaxLineBytes);

  // Reads one line without its newline. kInterrupted: `interrupt_fd` became readable before a whole
  // line was there. Throws CommandError (bad_argument) when the line is longer than the limit; the
  // channel is then out of step and has to be closed. A last line without newline is not a line:
  // kClosed.
  Status read_line(std::string& line, Deadline deadline, int interrupt_fd = -1);

  // Sends the line and a newline.
  Status write_line(std::string_view line, Deadline deadline);

  // The same, however long it takes. kTimeout: the other side read nothing for `patience`.
  Status write_line(std::string_view line, std::chrono::nanoseconds patience);

  int fd() const { return socket_.get(); }

 private:
  bool take_line(std::string& line);
  Status write(std::string_view line, const std::function<Deadline()>& deadline_of_wait);

  UniqueFd socket_;
  std::size_t max_line_bytes_;
  std::string buffer_;       // received and not yet returned
  std::size_t scanned_ = 0;  // bytes of buffer_ known to hold no newline
};

}  // namespace turntable::node
