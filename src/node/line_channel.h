// Lines, and raw bytes behind them, over a stream socket: the framing of the control protocol
// (docs/architecture.md §2).
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

  // Reads the bytes that follow the line before. What has been read when it ends early, kTimeout or
  // kInterrupted, is read again by the next call; kClosed: they were not all there.
  Status read_bytes(std::string& bytes, std::size_t size, Deadline deadline, int interrupt_fd = -1);

  // Sends the line, a newline and the raw bytes behind it.
  Status write_line(std::string_view line, Deadline deadline, std::string_view raw = {});

  // The same, however long it takes. kTimeout: the other side read nothing for `patience`.
  Status write_line(std::string_view line, std::chrono::nanoseconds patience,
                    std::string_view raw = {});

  int fd() const { return socket_.get(); }

 private:
  bool take_line(std::string& line);
  Status receive(Deadline deadline, int interrupt_fd);
  Status write(std::string_view line, std::string_view raw,
               const std::function<Deadline()>& deadline_of_wait);

  UniqueFd socket_;
  std::size_t max_line_bytes_;
  std::string buffer_;       // received and not yet returned
  std::size_t scanned_ = 0;  // bytes of buffer_ known to hold no newline
};

}  // namespace turntable::node
