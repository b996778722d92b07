#include "homa/nodes/tcp_connection.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

namespace turntable::homa {
namespace {

constexpr std::size_t kMessagesAtOnce = 64;  // handed to the kernel with one call

bool is_for_later(int error) noexcept {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

}  // namespace

// --- What goes out

void TcpConnection::add(std::uint64_t call, Content content) {
  waiting_.push_back({encode_frame({content.size, call}), std::move(content)});
}

TcpConnection::Stream TcpConnection::send() noexcept {
  while (!waiting_.empty()) {
    std::array<iovec, 2 * kMessagesAtOnce> parts;
    std::size_t count = 0;
    const std::size_t messages = std::min(waiting_.size(), kMessagesAtOnce);
    for (std::size_t i = 0; i < messages; ++i) {
      Outgoing& message = waiting_[i];
      const std::size_t sent = i == 0 ? first_sent_ : 0;
      const std::size_t of_header = std::min(sent, message.header.size());
      const std::size_t of_body = sent - of_header;
      parts[count++] = {message.header.data() + of_header, message.header.size() - of_header};
      parts[count++] = {message.content.bytes.data() + of_body,
                        message.content.bytes.size() - of_body};
    }
    msghdr all{};
    all.msg_iov = parts.data();
    all.msg_iovlen = count;
    const ssize_t taken = ::sendmsg(fd_.get(), &all, MSG_NOSIGNAL);
    if (taken < 0) return is_for_later(errno) ? Stream::kBlocked : Stream::kLost;
    count_sent(static_cast<std::size_t>(taken));
  }
  return Stream::kOpen;
}

void TcpConnection::count_sent(std::size_t bytes) noexcept {
  bytes_sent_ += bytes;
  first_sent_ += bytes;
  while (!waiting_.empty() && first_sent_ >= waiting_.front().bytes()) {
    first_sent_ -= waiting_.front().bytes();
    waiting_.pop_front();
    ++messages_sent_;
  }
}

// --- What comes in

std::size_t TcpConnection::body_left() const noexcept {
  return header_bytes_ == header_.size() ? incoming_.content.size - body_bytes_ : 0;
}

TcpConnection::Stream TcpConnection::read(std::span<std::uint8_t> buffer) noexcept {
  // A long message's bytes are not copied: they come to where they belong.
  const std::size_t left = body_left();
  std::array<iovec, 2> parts = {
      {{incoming_.content.bytes.data() + body_bytes_, left}, {buffer.data(), buffer.size()}}};
  const ssize_t got = ::readv(fd_.get(), parts.data(), parts.size());
  if (got == 0) return Stream::kLost;
  if (got < 0) return is_for_later(errno) ? Stream::kBlocked : Stream::kLost;
  const auto bytes = static_cast<std::size_t>(got);
  bytes_received_ += bytes;
  const std::size_t of_body = std::min(bytes, left);
  body_bytes_ += of_body;
  unparsed_ = buffer.first(bytes - of_body);
  return Stream::kOpen;
}

std::optional<TcpMessage> TcpConnection::next() {
  if (is_malformed_ || !take_header()) return std::nullopt;
  const std::size_t part = std::min(body_left(), unparsed_.size());
  std::copy_n(unparsed_.begin(), part, incoming_.content.bytes.data() + body_bytes_);
  body_bytes_ += part;
  unparsed_ = unparsed_.subspan(part);
  if (body_left() > 0) return std::nullopt;
  header_bytes_ = body_bytes_ = 0;
  return std::move(incoming_);
}

// False: there is none yet, or it is none.
bool TcpConnection::take_header() {
  if (header_bytes_ == header_.size()) return true;
  const std::size_t part = std::min(header_.size() - header_bytes_, unparsed_.size());
  std::copy_n(unparsed_.begin(), part,
              header_.begin() + static_cast<std::ptrdiff_t>(header_bytes_));
  header_bytes_ += part;
  unparsed_ = unparsed_.subspan(part);
  if (header_bytes_ < header_.size()) return false;
  const auto header = decode_frame(header_, max_message_bytes_);
  is_malformed_ = !header;
  if (is_malformed_) return false;
  incoming_ = {header->call, {header->length, std::vector<std::uint8_t>(header->length)}};
  return true;
}

}  // namespace turntable::homa
