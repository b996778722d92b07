// Whole iterations over TCP: loopback, and for the uplink a network namespace.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <nlohmann/json.hpp>

#include "common/clock.h"
#include "common/command_error.h"
#include "homa/nodes/arguments.h"
#include "homa/nodes/client_node.h"
#include "homa/nodes/server_node.h"
#include "homa/nodes/tcp_frame.h"
#include "homa/nodes/tcp_socket.h"

namespace turntable::homa {
namespace {

using Json = nlohmann::json;

constexpr const char* kHost = "127.0.0.1";

sockaddr_in address(const char* host, std::uint16_t port) {
  return net::parse_ipv4("test", host, port);
}

std::uint16_t port_of(const UniqueFd& socket) {
  return ntohs(net::address_of(socket.get()).sin_port);
}

// A port that is free now.
std::uint16_t free_port() {
  return port_of(listen_tcp(address(kHost, 0), 0));
}

net::DatagramSettings at(std::uint16_t port) {
  return {.local = address(kHost, port),
          .queued = kQueuedDatagrams,
          .datagram_bytes = kMaxDatagramBytes};
}

// A peer that speaks bytes, not messages.
class RawPeer {
 public:
  RawPeer(const char* from, std::uint16_t port)
      : fd_(begin_connect_tcp(address(from, 0), address(kHost, port), 0)) {
    wait_for(POLLOUT);
  }
  explicit RawPeer(UniqueFd fd) : fd_(std::move(fd)) {}

  void send(const std::vector<std::uint8_t>& bytes) {
    ASSERT_EQ(::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }

  // Until the other end closes. False: not within the deadline.
  bool is_closed() {
    std::array<std::uint8_t, 4096> bytes;
    while (wait_for(POLLIN)) {
      const ssize_t got = ::recv(fd_.get(), bytes.data(), bytes.size(), 0);
      if (got == 0 || (got < 0 && errno == ECONNRESET)) return true;
    }
    return false;
  }

 private:
  bool wait_for(short what) {
    pollfd polled{fd_.get(), what, 0};
    return ::poll(&polled, 1, 20'000) == 1;
  }

  UniqueFd fd_;
};

std::vector<std::uint8_t> frame(const FrameHeader& header) {
  const auto bytes = encode_frame(header);
  return {bytes.begin(), bytes.end()};
}

class TcpTest : public ::testing::Test {
 protected:
  Json transport_ = {{"kind", "tcp"}, {"max_message_bytes", 1'000'000}};
  Json client_args_ = {{"client", 0},
                       {"seed", 7},
                       {"sizes", {{"bytes", 100}}},
                       {"payload_bps", 4e5},
                       {"realtime", false}};

  Json endpoint(std::uint16_t port) { return {{"address", kHost}, {"port", port}}; }

  void prepare_server() {
    server_.prepare({{"realtime", false},
                     {"transport", transport_},
                     {"clients", Json::array({endpoint(client_port_)})}});
  }

  void prepare_client() {
    client_args_["transport"] = transport_;
    client_args_["servers"] = Json::array({endpoint(server_port_)});
    client_.prepare(client_args_);
  }

  // 100 ms of warm-up, 400 ms of window.
  void start(std::int64_t drain_ms = 20'000) {
    client_.start({{"start_at_ns", realtime_ns()},
                   {"warmup_ns", 100 * kMillisecondNs},
                   {"measure_ns", 400 * kMillisecondNs},
                   {"drain_ns", drain_ms * kMillisecondNs}});
  }

  Json finish() {
    client_.wait({{"deadline_s", 60}});
    return client_.stats(Json::object());
  }

  Json run() {
    prepare_server();
    prepare_client();
    start();
    return finish();
  }

  Json at_server() { return server_.stats(Json::object())["transport"]; }

  // Probes with a deadline.
  bool server_counts(const char* name, int expected) {
    const std::int64_t deadline_ns = monotonic_ns() + 20'000 * kMillisecondNs;
    while (at_server()[name] != expected)
      if (monotonic_ns() > deadline_ns) return false;
    return true;
  }

  std::string error_of_client() {
    try {
      prepare_client();
    } catch (const CommandError& error) {
      return error.what();
    }
    return "was taken";
  }

  std::uint16_t server_port_ = free_port();
  std::uint16_t client_port_ = free_port();
  ServerNode server_{at(server_port_), [](const std::string&) {}};
  ClientNode client_{at(client_port_), [](const std::string&) {}};
};

void expect_all_answered(const Json& stats) {
  EXPECT_GT(stats["offered"], 0);
  EXPECT_EQ(stats["answered"], stats["offered"]);
  EXPECT_EQ(stats["wrong"], 0);
  EXPECT_EQ(stats["aborted"], 0);
  EXPECT_EQ(stats["unanswered"], 0);
}

// Each message has 16 bytes more in the stream.
TEST_F(TcpTest, EveryCallIsAnsweredWithItsBytes) {
  const Json stats = run();
  expect_all_answered(stats);
  const Json& mine = stats["transport"];
  EXPECT_EQ(mine["bytes_sent"], mine["calls"].get<int>() * 116);
  EXPECT_EQ(mine["messages_received"], mine["calls"]);
  EXPECT_EQ(mine["connections"], 1);
  EXPECT_TRUE(mine["wire_bytes_sent"].is_null());
  EXPECT_TRUE(stats["read_late_max_us"].is_null()) << "unknown is not 0";
  EXPECT_EQ(at_server()["executed"], mine["calls"]);
  EXPECT_EQ(at_server()["bytes_sent"], mine["bytes_received"]);
}

TEST_F(TcpTest, ATableOfSizesOnSeveralConnections) {
  client_args_["sizes"] = {{"file", TURNTABLE_SIZES "/W3.txt"}, {"cap", 1'000'000}};
  client_args_["payload_bps"] = 2e7;
  transport_["connections"] = 4;
  const Json stats = run();
  expect_all_answered(stats);
  EXPECT_EQ(stats["transport"]["connections"], 4);
  EXPECT_EQ(at_server()["connections"], 4);
}

// Of 1 MB no socket takes more than a tenth at once.
TEST_F(TcpTest, MessagesThatNoBufferHolds) {
  client_args_["sizes"] = {{"bytes", 1'000'000}};
  client_args_["payload_bps"] = 2e8;
  client_args_["outstanding"] = 5;
  transport_["buffer_bytes"] = 50'000;
  expect_all_answered(run());
}

TEST_F(TcpTest, ServersFrames) {
  prepare_server();
  const std::vector<std::vector<std::uint8_t>> malformed = {
      std::vector<std::uint8_t>(16, 0),         // no magic
      std::vector<std::uint8_t>(16, 0xff),      //
      frame({.length = 0, .call = 1}),          // empty
      frame({.length = 1'000'001, .call = 1}),  // longer than max_message_bytes
      frame({.length = UINT32_MAX, .call = 1}),
  };
  prepare_client();
  int count = 0;
  for (const auto& bytes : malformed) {
    RawPeer peer(kHost, server_port_);
    peer.send(bytes);
    EXPECT_TRUE(peer.is_closed()) << "kind " << count;
    EXPECT_TRUE(server_counts("malformed", ++count));
  }
  {
    RawPeer ends_in_the_middle(kHost, server_port_);
    ends_in_the_middle.send(frame({.length = 100, .call = 1}));
    EXPECT_TRUE(server_counts("connections", count + 2));
  }
  EXPECT_TRUE(server_counts("requests_dropped", 1));
  start();
  expect_all_answered(finish());
}

TEST_F(TcpTest, StrangersAreCountedAndClosed) {
  prepare_server();
  RawPeer stranger("127.0.0.2", server_port_);
  EXPECT_TRUE(stranger.is_closed());
  EXPECT_EQ(at_server()["strangers"], 1);
  EXPECT_EQ(at_server()["connections"], 0);
}

// Answers that are none: without magic, too long, of a call that was not made.
TEST_F(TcpTest, ClientsFrames) {
  for (const auto& bytes :
       {std::vector<std::uint8_t>(16, 0), frame({.length = 1'000'001, .call = 1}), [] {
          auto of_no_call = frame({.length = 1, .call = 1'000'000});
          of_no_call.push_back(0);
          return of_no_call;
        }()}) {
    const UniqueFd listener = listen_tcp(address(kHost, 0), 0);
    server_port_ = port_of(listener);
    prepare_client();
    RawPeer peer(accept_tcp(listener.get()).fd);
    start();
    peer.send(bytes);
    EXPECT_TRUE(peer.is_closed());
    const Json stats = finish();
    EXPECT_EQ(stats["transport"]["malformed"], 1);
    EXPECT_EQ(stats["aborted"], stats["offered"]);
    EXPECT_EQ(stats["unanswered"], 0);
  }
}

TEST_F(TcpTest, CallsOfAServerThatGoesAreAborted) {
  const UniqueFd listener = listen_tcp(address(kHost, 0), 0);
  server_port_ = port_of(listener);
  prepare_client();
  {
    const RawPeer goes(accept_tcp(listener.get()).fd);
    start();
  }
  const Json stats = finish();
  EXPECT_GT(stats["offered"], 0);
  EXPECT_EQ(stats["aborted"], stats["offered"]);
  EXPECT_EQ(stats["unanswered"], 0);
  EXPECT_EQ(stats["transport"]["connections_lost"], 1);
}

TEST_F(TcpTest, AServerThatIsNotThereIsNamed) {
  EXPECT_NE(error_of_client().find("127.0.0.1:" + std::to_string(server_port_)), std::string::npos);
}

TEST_F(TcpTest, WhatIsHomasAloneIsRefused) {
  for (const char* name : {"levels", "degree", "rtt_bytes", "payload_bytes", "tick_ms",
                           "queue_ahead_us", "unscheduled_levels"}) {
    transport_ = {{"kind", "tcp"}, {name, 1}};
    EXPECT_NE(error_of_client().find(std::string("\"") + name + "\" is unknown"),
              std::string::npos);
  }
  transport_ = {{"kind", "tcp"}, {"connections", 0}};
  EXPECT_NE(error_of_client().find("connections"), std::string::npos);
}

TEST(TcpSocketTest, CongestionControlIsCubic) {
  const UniqueFd listener = listen_tcp(address(kHost, 0), 0);
  const UniqueFd client =
      begin_connect_tcp(address(kHost, 0), address(kHost, port_of(listener)), 0);
  pollfd polled{listener.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&polled, 1, 20'000), 1);
  const Accepted server = accept_tcp(listener.get());
  EXPECT_EQ(congestion_control_of(client.get()), "cubic");
  EXPECT_EQ(congestion_control_of(server.fd.get()), "cubic") << "the listener's";
}

}  // namespace
}  // namespace turntable::homa
