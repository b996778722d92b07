// Messages over Linux's TCP, each with a header of its own (tcp_frame.h).
//
// A client opens all of its connections before it begins, so that no handshake is measured. A call
// takes the connection to its server that has the fewest bytes of calls under way: a short message
// does not wait behind a long one where another connection is free. Whatever waits for a connection
// goes to the kernel together, once in a turn of the loop.
//
// A connection that ends is not opened again: its calls are aborted, and those that find none left.
// An answer comes with the read that completes it.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "common/unique_fd.h"
#include "homa/nodes/peers.h"
#include "homa/nodes/shaped_uplink.h"
#include "homa/nodes/tcp_connection.h"
#include "homa/nodes/transport.h"
#include "homa/nodes/transport_settings.h"

namespace turntable::homa {

struct TcpCounts {
  std::uint64_t connections = 0;  // opened, or accepted of peers
  std::uint64_t connections_lost = 0;
  std::uint64_t bytes_sent = 0;  // with headers of messages, without those of TCP
  std::uint64_t bytes_received = 0;
  std::uint64_t messages_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t malformed = 0;  // connections on which something else came
  std::uint64_t strangers = 0;  // connections from addresses that nobody named
  std::uint64_t refused = 0;    // connections, by the system
  std::uint64_t receive_errors = 0;
  std::uint64_t calls = 0;
  std::uint64_t executed = 0;  // requests that the application was given
  std::uint64_t requests_dropped =
      0;  // their connections ended before they, or their answers, were through
  std::uint64_t retransmitted_segments = 0;
  std::optional<std::uint32_t> min_rtt_us;
  std::uint32_t socket_drops = 0;
};

class TcpTransport final : public Transport {
 public:
  // A client connects to all of its peers, a server listens at `local`. Peers and application must
  // outlive it. Throws CommandError, also with the address of a server that is not there.
  TcpTransport(const TcpSettings& settings, Role role, const sockaddr_in& local, const Peers& peers,
               Application& application);

  void call(Peer server, Content request, std::uint64_t tag) override;
  std::size_t outstanding_calls() const noexcept override { return outstanding_; }
  void reply(RpcId id, Content response) override;

  int fd() const noexcept override { return epoll_.get(); }
  int receive() noexcept override;
  std::optional<std::int64_t> first_came_ns() const noexcept override { return std::nullopt; }
  void handle_batch(std::int64_t now_ns) noexcept override;
  std::int64_t now_ns() const noexcept override { return now_ns_; }
  void act(std::int64_t now_ns, std::int64_t ready_ns) noexcept override;
  std::int64_t next_due_ns() const noexcept override { return INT64_MAX; }

  bool knows_arrivals() const noexcept override { return false; }
  std::uint32_t socket_drops() const override { return counts_so_far().socket_drops; }
  std::optional<std::size_t> receive_buffer_bytes() const override { return std::nullopt; }
  nlohmann::json statistics() const override;

 private:
  struct Call {
    std::uint64_t tag = 0;
    std::uint32_t bytes = 0;
  };
  struct Connection {
    Connection(UniqueFd fd, Peer peer, std::uint64_t its_number, std::uint32_t max_message_bytes)
        : stream(std::move(fd), peer, max_message_bytes), number(its_number) {}

    TcpConnection stream;
    const std::uint64_t number;                     // never given twice
    std::unordered_map<std::uint64_t, Call> calls;  // by number: those of a client under way
    std::uint64_t bytes_under_way = 0;              // of their requests
    bool has_news = false;                          // something waits for act()
    bool is_full = false;                           // the kernel takes nothing now
  };

  void connect_all();
  Connection& add(UniqueFd fd, Peer peer);
  void watch(Connection& connection, bool for_room) noexcept;
  void watch_listener(bool on) noexcept;
  Connection* least_loaded(Peer server) noexcept;

  void accept_all() noexcept;
  void read(Connection& connection) noexcept;
  bool handle(Connection& connection, TcpMessage message);
  void add_to_send(Connection& connection, std::uint64_t call, Content content);
  void send(Connection& connection) noexcept;
  void lose(Connection& connection) noexcept;

  void add_counts_of(const Connection& connection, TcpCounts& counts) const noexcept;
  TcpCounts counts_so_far() const noexcept;

  const TcpSettings settings_;
  const sockaddr_in local_;
  const Peers& peers_;
  Application& application_;
  const ShapedUplink uplink_;  // before any connection
  UniqueFd epoll_;
  UniqueFd listener_;  // of a server
  bool is_accepting_ = true;

  std::unordered_map<std::uint64_t, std::unique_ptr<Connection>> connections_;  // by number
  std::vector<std::vector<Connection*>> by_server_;  // of a client: those that are open
  std::uint64_t last_connection_ = 0;
  std::uint64_t last_call_ = 0;
  std::size_t outstanding_ = 0;

  std::array<epoll_event, 64> events_{};
  int count_ = 0;  // of the batch
  std::vector<std::uint8_t> buffer_;
  std::vector<std::uint64_t> to_send_;             // connections that have news
  std::vector<std::uint64_t> without_connection_;  // tags of calls whose servers have gone
  std::int64_t now_ns_ = 0;
  TcpCounts counts_;  // of connections that have ended, and of all else
};

}  // namespace turntable::homa
