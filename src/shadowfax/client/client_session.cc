#include "shadowfax/client/client_session.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/clock.h"

namespace turntable::shadowfax {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} << 10U;

SessionError system_failure(const std::string& what) {
  return SessionError(what + ": " + std::strerror(errno));
}

UniqueFd connect_to(const ClientSession::Settings& settings) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(settings.port);
  if (::inet_pton(AF_INET, settings.address.c_str(), &address.sin_addr) != 1)
    throw SessionError("server " + settings.address + "; expected an IPv4 address");
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) throw system_failure("cannot open a socket");
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw system_failure("cannot connect to the server " + settings.address + ":" +
                         std::to_string(settings.port));
  }
  const int yes = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return socket;
}

}  // namespace

ClientSession::ClientSession(const Settings& settings)
    : batch_bytes_(std::max(settings.batch_bytes, RequestHeader::kBytes + Request::kBytes)),
      pipeline_(settings.pipeline),
      socket_(connect_to(settings)),
      in_(kReadBytes) {
  filling_.reserve(batch_bytes_);
  filling_.resize(RequestHeader::kBytes);
}

bool ClientSession::has_room() const noexcept {
  return under_way_.size() < pipeline_ && !(sent_ < out_.size());
}

void ClientSession::add(const Request& request) {
  const std::size_t end = filling_.size();
  filling_.resize(end + Request::kBytes);
  write(filling_.data() + end, request);
  if (filling_.size() + Request::kBytes > batch_bytes_) flush();
}

void ClientSession::flush() {
  const std::size_t bytes = filling_.size() - RequestHeader::kBytes;
  if (bytes == 0) return;
  write(filling_.data(), RequestHeader{.view = view_, .bytes = bytes});
  under_way_.push_back({.requests = bytes / Request::kBytes, .sent_ns = monotonic_ns()});
  out_.insert(out_.end(), filling_.begin(), filling_.end());
  filling_.resize(RequestHeader::kBytes);
  send();
}

void ClientSession::send() {
  while (sent_ < out_.size()) {
    const ssize_t bytes =
        ::send(fd(), out_.data() + sent_, out_.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0 && errno == EAGAIN) return;
    if (bytes < 0) throw system_failure("cannot send to the server");
    sent_ += static_cast<std::size_t>(bytes);
  }
  out_.clear();
  sent_ = 0;
}

void ClientSession::receive(Replies& replies) {
  send();
  const ssize_t bytes = ::recv(fd(), in_.data() + in_end_, in_.size() - in_end_, MSG_DONTWAIT);
  if (bytes == 0) throw SessionError("the server has closed the session");
  if (bytes < 0) {
    if (errno == EAGAIN || errno == EINTR) return;
    throw system_failure("cannot receive from the server");
  }
  in_end_ += static_cast<std::size_t>(bytes);
  std::size_t at = 0;
  while (in_end_ - at >= ReplyHeader::kBytes) {
    const ReplyHeader header = read_reply_header(in_.data() + at);
    const std::size_t whole = ReplyHeader::kBytes + header.bytes;
    if (header.bytes > 2 * kMostBatchBytes) throw SessionError("a reply of the server is too long");
    if (in_end_ - at < whole) {
      if (in_.size() < whole) in_.resize(2 * whole);
      break;
    }
    take(header, in_.data() + at + ReplyHeader::kBytes, replies);
    at += whole;
  }
  std::memmove(in_.data(), in_.data() + at, in_end_ - at);
  in_end_ -= at;
}

void ClientSession::take(const ReplyHeader& header, const std::byte* replies, Replies& to) {
  if (header.status == BatchStatus::kViewChanged || header.status == BatchStatus::kBusy)
    throw SessionError("the server refuses a batch");
  std::size_t in_order = 0;
  if (header.status == BatchStatus::kServed) {
    if (under_way_.empty()) throw SessionError("the server answers what was not asked");
    in_order = under_way_.front().requests;
    to.batch_done(monotonic_ns() - under_way_.front().sent_ns);
    under_way_.pop_front();
  }
  std::size_t seen = 0;
  for (std::size_t at = 0; at < header.bytes; ++seen) {
    const auto opcode = wire::read<Opcode>(replies + at);
    if (!is_opcode(opcode) || at + Reply::bytes_of(opcode) > header.bytes)
      throw SessionError("a reply of the server means nothing");
    const Reply reply = read_reply(replies + at);
    at += Reply::bytes_of(opcode);
    if (reply.status == ReplyStatus::kPending) {
      ++pending_;
      continue;
    }
    if (seen >= in_order) --pending_;
    to.done(reply);
  }
  if (seen < in_order) throw SessionError("the server leaves requests of a batch without a reply");
}

}  // namespace turntable::shadowfax
