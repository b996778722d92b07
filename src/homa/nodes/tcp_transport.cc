#include "homa/nodes/tcp_transport.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "common/accept_failure.h"
#include "common/clock.h"
#include "common/command_error.h"
#include "common/errno_error.h"
#include "homa/nodes/tcp_socket.h"
#include "net/udp.h"

namespace turntable::homa {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kReadBytes = 1 << 18;
constexpr std::int64_t kConnectNs = 5'000'000'000;
constexpr std::uint64_t kListener = 0;  // no connection's number

CommandError not_connected(const sockaddr_in& server, const std::string& reason) {
  return CommandError("unavailable", "cannot connect to " + net::text_of(server) + ": " + reason +
                                         "; is its server prepared, with transport tcp?");
}

}  // namespace

TcpTransport::TcpTransport(const TcpSettings& settings, Role role, const sockaddr_in& local,
                           const Peers& peers, Application& application)
    : settings_(settings),
      local_(local),
      peers_(peers),
      application_(application),
      uplink_(local, settings.uplink),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      by_server_(role == Role::kClient ? peers.size() : 0),
      buffer_(kReadBytes) {
  if (!epoll_) throw errno_error("cannot create an epoll instance");
  if (role == Role::kClient) {
    connect_all();
  } else {
    listener_ = listen_tcp(local, settings.buffer_bytes);
    epoll_event event{.events = EPOLLIN, .data = {.u64 = kListener}};
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, listener_.get(), &event);
  }
}

// --- Connections

void TcpTransport::connect_all() {
  for (Peer server = 0; server < peers_.size(); ++server) {
    for (std::uint32_t i = 0; i < settings_.connections; ++i) {
      UniqueFd fd = begin_connect_tcp(local_, peers_.address(server), settings_.buffer_bytes);
      by_server_[server].push_back(&add(std::move(fd), server));
    }
  }
  const std::int64_t deadline_ns = monotonic_ns() + kConnectNs;
  for (const auto& connections : by_server_) {
    for (const Connection* connection : connections) {
      const sockaddr_in& server = peers_.address(connection->stream.peer());
      pollfd polled{connection->stream.fd(), POLLOUT, 0};
      const std::int64_t left_ns = std::max<std::int64_t>(0, deadline_ns - monotonic_ns());
      const timespec left = to_timespec(left_ns);
      if (::ppoll(&polled, 1, &left, nullptr) <= 0)
        throw not_connected(server, "no answer within 5 s");
      if (const int error = socket_error(connection->stream.fd()); error != 0)
        throw not_connected(server, std::strerror(error));
    }
  }
}

TcpTransport::Connection& TcpTransport::add(UniqueFd fd, Peer peer) {
  const std::uint64_t number = ++last_connection_;
  auto connection =
      std::make_unique<Connection>(std::move(fd), peer, number, settings_.max_message_bytes);
  epoll_event event{.events = EPOLLIN, .data = {.u64 = number}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, connection->stream.fd(), &event) != 0)
    throw errno_error("cannot watch a TCP connection");
  ++counts_.connections;
  return *connections_.emplace(number, std::move(connection)).first->second;
}

void TcpTransport::watch(Connection& connection, bool for_room) noexcept {
  if (connection.is_full == for_room) return;
  connection.is_full = for_room;
  epoll_event event{.events = for_room ? EPOLLIN | EPOLLOUT : EPOLLIN,
                    .data = {.u64 = connection.number}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, connection.stream.fd(), &event);
}

// While no descriptor is left, a connection that nobody accepts would keep the loop awake.
void TcpTransport::watch_listener(bool on) noexcept {
  if (!listener_ || is_accepting_ == on) return;
  is_accepting_ = on;
  epoll_event event{.events = on ? std::uint32_t{EPOLLIN} : 0, .data = {.u64 = kListener}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, listener_.get(), &event);
}

void TcpTransport::accept_all() noexcept {
  for (;;) {
    Accepted accepted = accept_tcp(listener_.get());
    if (!accepted.fd) {
      if (errno == EAGAIN) return;
      ++counts_.refused;
      if (is_out_of_resources(errno)) return watch_listener(false);
      continue;
    }
    if (const auto peer = peers_.find_host(accepted.from)) {
      add(std::move(accepted.fd), *peer);
    } else {
      ++counts_.strangers;
    }
  }
}

void TcpTransport::lose(Connection& connection) noexcept {
  const auto gone = std::move(connections_.extract(connection.number).mapped());
  add_counts_of(*gone, counts_);
  ++counts_.connections_lost;
  counts_.requests_dropped += listener_ && gone->stream.is_within_message() ? 1 : 0;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, gone->stream.fd(), nullptr);
  watch_listener(true);
  if (!by_server_.empty()) std::erase(by_server_[gone->stream.peer()], gone.get());
  outstanding_ -= gone->calls.size();
  for (const auto& [number, call] : gone->calls)
    application_.aborted(call.tag, AbortReason::kServerIsSilent);
}

// --- What goes out

void TcpTransport::call(Peer server, Content request, std::uint64_t tag) {
  ++counts_.calls;
  ++outstanding_;
  Connection* connection = least_loaded(server);
  if (connection == nullptr) {
    without_connection_.push_back(tag);
    return;
  }
  const std::uint64_t number = ++last_call_;
  connection->calls.emplace(number, Call{tag, request.size});
  connection->bytes_under_way += request.size;
  add_to_send(*connection, number, std::move(request));
}

TcpTransport::Connection* TcpTransport::least_loaded(Peer server) noexcept {
  const auto& connections = by_server_[server];
  const auto least = std::ranges::min_element(connections, {}, &Connection::bytes_under_way);
  return least == connections.end() ? nullptr : *least;
}

void TcpTransport::reply(RpcId id, Content response) {
  const auto found = connections_.find(id.client);
  if (found != connections_.end()) add_to_send(*found->second, id.sequence, std::move(response));
}

void TcpTransport::add_to_send(Connection& connection, std::uint64_t call, Content content) {
  connection.stream.add(call, std::move(content));
  if (connection.has_news || connection.is_full) return;
  connection.has_news = true;
  to_send_.push_back(connection.number);
}

void TcpTransport::act(std::int64_t /*now_ns*/, std::int64_t /*ready_ns*/) noexcept {
  // What is aborted makes room for other calls, which are to be sent too.
  while (!to_send_.empty() || !without_connection_.empty()) {
    for (std::size_t i = 0; i < to_send_.size(); ++i) {
      const auto found = connections_.find(to_send_[i]);
      if (found != connections_.end()) send(*found->second);
    }
    to_send_.clear();
    const auto aborted = std::exchange(without_connection_, {});
    outstanding_ -= aborted.size();
    for (const std::uint64_t tag : aborted) application_.aborted(tag, AbortReason::kServerIsSilent);
  }
}

void TcpTransport::send(Connection& connection) noexcept {
  connection.has_news = false;
  const auto stream = connection.stream.send();
  if (stream == TcpConnection::Stream::kLost) return lose(connection);
  watch(connection, /*for_room=*/stream == TcpConnection::Stream::kBlocked);
}

// --- What comes in

int TcpTransport::receive() noexcept {
  count_ = ::epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), 0);
  if (count_ >= 0) return count_;
  const int error = errno;
  count_ = 0;
  if (error == EINTR) return 0;
  ++counts_.receive_errors;
  return -error;
}

void TcpTransport::handle_batch(std::int64_t /*now_ns*/) noexcept {
  for (int i = 0; i < count_; ++i) {
    const epoll_event& event = events_[static_cast<std::size_t>(i)];
    if (event.data.u64 == kListener) {
      accept_all();
      continue;
    }
    const auto found = connections_.find(event.data.u64);
    if (found == connections_.end()) continue;
    Connection& connection = *found->second;
    if ((event.events & EPOLLOUT) != 0) {
      watch(connection, /*for_room=*/false);
      to_send_.push_back(connection.number);
    }
    if ((event.events & ~std::uint32_t{EPOLLOUT}) != 0) read(connection);
  }
  count_ = 0;
}

void TcpTransport::read(Connection& connection) noexcept {
  const auto stream = connection.stream.read(buffer_);
  if (stream == TcpConnection::Stream::kBlocked) return;
  if (stream == TcpConnection::Stream::kLost) return lose(connection);
  now_ns_ = monotonic_ns();
  while (auto message = connection.stream.next()) {
    if (handle(connection, std::move(*message))) continue;
    ++counts_.malformed;
    return lose(connection);
  }
  if (!connection.stream.is_malformed()) return;
  ++counts_.malformed;
  lose(connection);
}

// False: an answer to what nobody asked.
bool TcpTransport::handle(Connection& connection, TcpMessage message) {
  ++counts_.messages_received;
  if (listener_) {
    ++counts_.executed;
    application_.request({connection.number, message.call}, connection.stream.peer(),
                         std::move(message.content));
    return true;
  }
  const auto found = connection.calls.find(message.call);
  if (found == connection.calls.end()) return false;
  const Call call = found->second;
  connection.calls.erase(found);
  connection.bytes_under_way -= call.bytes;
  --outstanding_;
  application_.response(call.tag, std::move(message.content));
  return true;
}

// --- Statistics

void TcpTransport::add_counts_of(const Connection& connection, TcpCounts& counts) const noexcept {
  const TcpConnection& stream = connection.stream;
  counts.bytes_sent += stream.bytes_sent();
  counts.bytes_received += stream.bytes_received();
  counts.messages_sent += stream.messages_sent();
  counts.socket_drops += net::socket_drops(stream.fd());
  const TcpInfo info = tcp_info(stream.fd());
  counts.retransmitted_segments += info.retransmitted_segments;
  if (info.min_rtt_us)
    counts.min_rtt_us = std::min(counts.min_rtt_us.value_or(UINT32_MAX), *info.min_rtt_us);
}

TcpCounts TcpTransport::counts_so_far() const noexcept {
  TcpCounts counts = counts_;
  for (const auto& [number, connection] : connections_) add_counts_of(*connection, counts);
  return counts;
}

Json TcpTransport::statistics() const {
  const TcpCounts counts = counts_so_far();
  return {{"connections", counts.connections},
          {"connections_lost", counts.connections_lost},
          {"bytes_sent", counts.bytes_sent},
          {"bytes_received", counts.bytes_received},
          {"messages_sent", counts.messages_sent},
          {"messages_received", counts.messages_received},
          {"wire_bytes_sent", nullptr},  // nobody tells what TCP's segments and ACKs were
          {"refused", counts.refused},
          {"malformed", counts.malformed},
          {"strangers", counts.strangers},
          {"receive_errors", counts.receive_errors},
          {"calls", counts.calls},
          {"executed", counts.executed},
          {"requests_dropped", counts.requests_dropped},
          {"retransmitted_segments", counts.retransmitted_segments},
          {"min_rtt_us", counts.min_rtt_us ? Json(*counts.min_rtt_us) : Json()},
          {"congestion_control", kCongestionControl}};
}

}  // namespace turntable::homa
