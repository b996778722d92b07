#include "node/line_channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>

#include "common/command_error.h"
#include "common/errno_error.h"

namespace turntable::node {
namespace {

using Status = LineChannel::Status;

// Waits until `fd` is ready for `events`. An interrupt wins over readiness.
Status wait_for(int fd, short events, Deadline deadline, int interrupt_fd) {
  std::array<pollfd, 2> polled = {{{fd, events, 0}, {interrupt_fd, POLLIN, 0}}};
  while (true) {
    const int ready = ::poll(polled.data(), polled.size(), deadline.poll_timeout_ms());
    if (ready > 0) return polled[1].revents != 0 ? Status::kInterrupted : Status::kOk;
    if (ready == 0) return Status::kTimeout;
    if (errno != EINTR) throw errno_error("poll of a control connection failed");
  }
}

bool is_disconnect(int error) {
  return error == ECONNRESET || error == EPIPE;
}

}  // namespace

LineChannel::LineChannel(UniqueFd socket, std::size_t max_line_bytes)
    : socket_(std::move(socket)), max_line_bytes_(max_line_bytes) {
  const int flags = ::fcntl(socket_.get(), F_GETFL);
  if (flags < 0 || ::fcntl(socket_.get(), F_SETFL, flags | O_NONBLOCK) < 0)
    throw errno_error("cannot make a control connection non-blocking");
}

bool LineChannel::take_line(std::string& line) {
  const std::size_t newline = buffer_.find('\n', scanned_);
  const std::size_t length = newline == std::string::npos ? buffer_.size() : newline;
  if (length > max_line_bytes_) {
    throw bad_argument("control connection: a line is longer than " +
                       std::to_string(max_line_bytes_) +
                       " bytes; split the request into several smaller ones");
  }
  if (newline == std::string::npos) {
    scanned_ = buffer_.size();
    return false;
  }
  line.assign(buffer_, 0, newline);
  buffer_.erase(0, newline + 1);
  scanned_ = 0;
  return true;
}

Status LineChannel::read_line(std::string& line, Deadline deadline, int interrupt_fd) {
  while (!take_line(line)) {
    const Status status = receive(deadline, interrupt_fd);
    if (status != Status::kOk) return status;
  }
  return Status::kOk;
}

Status LineChannel::read_bytes(std::string& bytes, std::size_t size, Deadline deadline,
                               int interrupt_fd) {
  while (buffer_.size() < size) {
    const Status status = receive(deadline, interrupt_fd);
    if (status != Status::kOk) return status;
  }
  bytes.assign(buffer_, 0, size);
  buffer_.erase(0, size);
  return Status::kOk;
}

// Waits for bytes, and adds some that are there to the buffer.
Status LineChannel::receive(Deadline deadline, int interrupt_fd) {
  std::array<char, 64U << 10U> chunk;
  const Status ready = wait_for(socket_.get(), POLLIN, deadline, interrupt_fd);
  if (ready != Status::kOk) return ready;
  const ssize_t received = ::recv(socket_.get(), chunk.data(), chunk.size(), 0);
  if (received == 0) return Status::kClosed;
  if (received > 0) {
    buffer_.append(chunk.data(), static_cast<std::size_t>(received));
  } else if (is_disconnect(errno)) {
    return Status::kClosed;
  } else if (errno != EAGAIN && errno != EINTR) {
    throw errno_error("cannot read from a control connection");
  }
  return Status::kOk;
}

Status LineChannel::write_line(std::string_view line, Deadline deadline, std::string_view raw) {
  return write(line, raw, [deadline] { return deadline; });
}

Status LineChannel::write_line(std::string_view line, std::chrono::nanoseconds patience,
                               std::string_view raw) {
  return write(line, raw, [patience] { return Deadline::after(patience); });
}

Status LineChannel::write(std::string_view line, std::string_view raw,
                          const std::function<Deadline()>& deadline_of_wait) {
  std::string framed;
  framed.reserve(line.size() + 1 + raw.size());
  framed.append(line).append(1, '\n').append(raw);
  std::string_view bytes = framed;
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (is_disconnect(errno)) {
      return Status::kClosed;
    } else if (errno == EAGAIN) {
      const Status ready = wait_for(socket_.get(), POLLOUT, deadline_of_wait(), -1);
      if (ready != Status::kOk) return ready;
    } else if (errno != EINTR) {
      throw errno_error("cannot write to a control connection");
    }
  }
  return Status::kOk;
}

}  // namespace turntable::node
