// One client thread against a server that the test plays, over loopback.
#include "kv/client_thread.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <functional>
#include <thread>

#include "kv/clock.h"
#include "kv/testing.h"
#include "kv/value.h"

namespace turntable::kv {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kForEver = 60'000 * kMs;  // ended by stop(), or by the last answer
// Of tests in which something has to happen within the window: as long as a busy machine may keep a
// thread waiting.
constexpr std::int64_t kWindow = 1000 * kMs;
constexpr std::atomic<bool> kNotCancelled{false};
constexpr unsigned kPartition = 2;

class ClientThreadTest : public ::testing::Test {
 protected:
  using Answer = std::function<void(const Packet& request)>;

  ClientThreadTest()
      : traces_(testing::small_workload("workloadc"), 0, 4, kNotCancelled),
        replay_(traces_, 4, std::vector{kPartition}),
        server_(open_udp(parse_ipv4("test", "127.0.0.1", 0), 64)) {}

  // Runs `clients` clients for `measure_ns` without a warm-up and calls `answer` for each request,
  // which sends what it wants.
  void run(std::size_t clients, std::int64_t measure_ns, std::int64_t timeout_ns,
           const Answer& answer) {
    sockaddr_in address{};
    socklen_t length = sizeof address;
    ::getsockname(server_.get(), reinterpret_cast<sockaddr*>(&address), &length);
    UniqueFd socket = open_udp(parse_ipv4("test", "127.0.0.1", 0), 64);
    connect_udp(socket.get(), address);
    client_.emplace(ClientThread::Settings{.first_client = 0,
                                           .clients = clients,
                                           .first_global_client = 0,
                                           .value_bytes = 128,
                                           .timeout_ns = timeout_ns},
                    replay_, std::move(socket));
    const std::int64_t start = monotonic_ns();
    client_->set_schedule({start, start, start + measure_ns, start + measure_ns + kForEver});
    std::atomic<bool> over{false};
    std::thread thread([&] {
      client_->run();
      over = true;
    });
    while (!over) serve_once(answer);
    thread.join();
  }

  void serve_once(const Answer& answer) {
    pollfd polled = {server_.get(), POLLIN, 0};
    ::poll(&polled, 1, 5);
    const int count = requests_.receive(server_.get());
    for (int i = 0; i < count; ++i) {
      Packet request;
      const auto datagram = requests_.at(static_cast<std::size_t>(i));
      peer_ = datagram.from;
      ASSERT_EQ(decode(datagram.bytes, request), DecodeStatus::kOk);
      answer(request);
    }
  }

  // The right answer to a GET, from `node`.
  void send_answer(const Packet& request, std::uint16_t node = kPartition) {
    std::array<std::uint8_t, 128> value;
    fill_value(value, *workload::key_id_from_wire(request.key), kLoadedVersion);
    send({.type = PacketType::kGetResponse,
          .key = request.key,
          .request_id = request.request_id,
          .value = value,
          .stat = kStatSuccess,
          .node = node});
  }

  void send(const Packet& packet) {
    std::array<std::uint8_t, kMaxPacketBytes> bytes;
    const std::size_t size = encode(packet, bytes);
    ::sendto(server_.get(), bytes.data(), size, 0, reinterpret_cast<sockaddr*>(&peer_),
             sizeof peer_);
  }

  const ClientStatistics& statistics() const { return client_->statistics(); }

  Traces traces_;
  Replay replay_;
  UniqueFd server_;
  ReceiveBatch requests_;
  sockaddr_in peer_{};
  std::optional<ClientThread> client_;
};

TEST_F(ClientThreadTest, EveryRequestAndAnswerIsCounted) {
  std::int64_t served = 0;
  run(4, kWindow, kForEver, [&](const Packet& request) {
    // Every third answer comes from the switch.
    send_answer(request, ++served % 3 == 0 ? kSwitchNode : kPartition);
  });
  const PartitionStatistics& partition = statistics().partitions.front();
  EXPECT_GT(partition.switch_ops, 0);
  EXPECT_EQ(partition.requests_total, served);
  EXPECT_EQ(partition.answers_total, served);
  EXPECT_EQ(partition.server_ops + partition.switch_ops + statistics().answered_in_drain, served);
  EXPECT_EQ(partition.server_latency_ns.count(), partition.server_ops);
  EXPECT_EQ(partition.switch_latency_ns.count(), partition.switch_ops);
  EXPECT_EQ(statistics().answered_in_drain, statistics().in_flight_at_stop);
  EXPECT_LE(statistics().in_flight_at_stop, 4);
  EXPECT_EQ(statistics().unanswered + statistics().retries + statistics().stale_answers +
                statistics().wrong_values + statistics().wrong_node + statistics().malformed,
            0);
}

TEST_F(ClientThreadTest, OneRequestIsOutstandingPerClientAndTracesLoop) {
  std::vector<workload::KeyId> seen;
  const auto trace = replay_.of(0);
  run(1, kForEver, kForEver, [&](const Packet& request) {
    seen.push_back(*workload::key_id_from_wire(request.key));
    if (seen.size() > 2 * trace.size()) return client_->stop();
    send_answer(request);
  });
  for (std::size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], trace[i % trace.size()].key);
}

TEST_F(ClientThreadTest, ALateAnswerIsStaleAndDoesNotAnswerTheRetry) {
  // The first request is answered only when its retry comes, and the retry after that.
  std::optional<Packet> held;
  bool retried = false;
  run(1, kWindow, 10 * kMs, [&](const Packet& request) {
    if (!held) {
      held = request;
      held->value = {};
      return;
    }
    if (!retried) {
      retried = true;
      EXPECT_EQ(request.key, held->key);
      EXPECT_NE(request.request_id, held->request_id);
      send_answer(*held);
    }
    send_answer(request);
  });
  EXPECT_TRUE(retried);
  EXPECT_GE(statistics().stale_answers, 1);
  EXPECT_GE(statistics().retries, 1);
  EXPECT_GE(statistics().timeouts, statistics().retries);
  // The operation's latency counts from the request that was lost: at least one time-out.
  EXPECT_GE(statistics().partitions.front().server_latency_ns.max(), 10 * kMs);
  EXPECT_EQ(statistics().unanswered, 0);
}

TEST_F(ClientThreadTest, ASilentServerLeavesRequestsUnanswered) {
  run(2, kForEver, kForEver, [&](const Packet&) { client_->stop(); });
  EXPECT_EQ(statistics().unanswered, 2);
  EXPECT_EQ(statistics().partitions.front().server_ops, 0);
}

TEST_F(ClientThreadTest, WrongAnswersAreToldApart) {
  int step = 0;
  run(1, kForEver, kForEver, [&](const Packet& request) {
    Packet answer{.type = PacketType::kGetResponse,
                  .key = request.key,
                  .request_id = request.request_id,
                  .stat = kStatSuccess,
                  .node = kPartition};
    switch (step++) {
      case 0:  // a value of the wrong length
        return send(answer);
      case 1:
        answer.stat = kStatAbsent;
        return send(answer);
      case 2:
        return send_answer(request, kPartition + 1);
      case 3:  // another key, then another type, then an unknown client; then right
        answer.key[15] ^= 1;
        send(answer);
        answer.key = request.key;
        answer.type = PacketType::kPutResponse;
        send(answer);
        answer.request_id = 1U << ClosedLoops::kSequenceBits;
        send(answer);
        return send_answer(request);
      default:
        return client_->stop();
    }
  });
  EXPECT_EQ(statistics().wrong_values, 1);
  EXPECT_EQ(statistics().not_found, 1);
  EXPECT_EQ(statistics().wrong_node, 1);
  EXPECT_EQ(statistics().mismatched, 2);
  EXPECT_EQ(statistics().malformed, 1);
}

}  // namespace
}  // namespace turntable::kv
