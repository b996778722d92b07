// One client thread against a server that the test plays, over loopback.
#include "farreach/kv/client_thread.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "common/clock.h"
#include "farreach/kv/testing.h"
#include "farreach/kv/value.h"
#include "net/udp.h"

namespace turntable::kv {
namespace {

constexpr std::int64_t kForEver =
    60'000 * kMillisecondNs;  // ended by stop(), or by the last answer
// Of tests in which something has to happen within the window: as long as a busy machine may keep a
// thread waiting.
constexpr std::int64_t kWindow = 1000 * kMillisecondNs;
constexpr unsigned kPartition = 2;

class ClientThreadTest : public ::testing::Test {
 protected:
  using Answer = std::function<void(const Packet& request)>;

  explicit ClientThreadTest(const std::string& workload = "workloadc", double begin = 0)
      : traces_(testing::small_workload(workload), 0, 4, testing::kNotCancelled),
        replay_(traces_, 4, std::vector{kPartition}, {}, begin),
        server_(net::open_udp(net::parse_ipv4("test", "127.0.0.1", 0), 64)) {}

  // Runs `clients` clients for `measure_ns` without a warm-up and calls `answer` for each request,
  // which sends what it wants.
  void run(std::size_t clients, std::int64_t measure_ns, std::int64_t timeout_ns,
           const Answer& answer) {
    sockaddr_in address{};
    socklen_t length = sizeof address;
    ::getsockname(server_.get(), reinterpret_cast<sockaddr*>(&address), &length);
    settings_.clients = clients;
    settings_.timeout_ns = timeout_ns;
    net::DatagramSettings datagrams = ClientThread::datagrams_for(settings_);
    datagrams.local = net::parse_ipv4("test", "127.0.0.1", 0);
    datagrams.remote = address;
    client_.emplace(settings_, replay_, net::open_datagrams(datagrams));
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
      if (is_large(request.type) && !large_.add(0, request)) continue;
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
    std::array<std::uint8_t, net::kLargeDatagramBytes> bytes;
    const std::size_t size = encode(packet, bytes);
    ::sendto(server_.get(), bytes.data(), size, 0, reinterpret_cast<sockaddr*>(&peer_),
             sizeof peer_);
  }

  const ClientStatistics& statistics() const { return client_->statistics(); }

  Traces traces_;
  Replay replay_;
  UniqueFd server_;
  net::ReceiveBatch requests_{net::ReceiveBatch::Details::kSenderAndStamp,
                              net::kLargeDatagramBytes};
  Reassembly large_{8};
  ClientThread::Settings settings_{.first_client = 0,
                                   .clients = 0,
                                   .first_global_client = 0,
                                   .value_bytes = 128,
                                   .timeout_ns = 0};
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

class ClientThreadPieceTest : public ClientThreadTest {
 protected:
  ClientThreadPieceTest() : ClientThreadTest("workloadc", 0.5) {}
};

TEST_F(ClientThreadPieceTest, ClientsBeginAtTheirPlaceInTheTraces) {
  std::vector<workload::KeyId> seen;
  const auto trace = replay_.of(0);
  run(1, kForEver, kForEver, [&](const Packet& request) {
    seen.push_back(*workload::key_id_from_wire(request.key));
    if (seen.size() > trace.size()) return client_->stop();
    send_answer(request);
  });
  ASSERT_EQ(seen.size(), trace.size() + 1);
  for (std::size_t i = 0; i < seen.size(); ++i)
    ASSERT_EQ(seen[i], trace[(trace.size() / 2 + i) % trace.size()].key);
}

TEST_F(ClientThreadTest, ALateAnswerIsStaleAndDoesNotAnswerTheRetry) {
  // The first request is answered only when its retry comes, and the retry after that.
  std::optional<Packet> held;
  bool retried = false;
  run(1, kWindow, 10 * kMillisecondNs, [&](const Packet& request) {
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
  EXPECT_GE(statistics().partitions.front().server_latency_ns.max(), 10 * kMillisecondNs);
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
        answer.request_id = 1U << TraceClients::kSequenceBits;
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

TEST_F(ClientThreadTest, BadInputIsCountedAndEndsNothing) {
  std::int64_t malformed = 0;
  int step = 0;
  run(1, kForEver, kForEver, [&](const Packet& request) {
    if (step++ > 0) return client_->stop();
    const auto send_bytes = [&](std::span<const std::uint8_t> bytes) {
      ::sendto(server_.get(), bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&peer_),
               sizeof peer_);
      ++malformed;
    };
    const std::vector<std::uint8_t> odd(net::kLargeDatagramBytes + 1, 0xff);
    send_bytes({});
    send_bytes(std::span(odd).first(21));
    send_bytes(odd);
    // What only servers or the switch may get, with the id of the request and with others.
    for (const PacketType type :
         {PacketType::kGetRequest, PacketType::kPutRequestSeq, PacketType::kValueUpdate,
          PacketType::kValueUpdateAck, PacketType::kGetResponseLatestSeq,
          PacketType::kBeingEvictedRecordGetRequest}) {
      for (const std::uint32_t id : {request.request_id, request.request_id + 1}) {
        send({.type = type, .key = request.key, .request_id = id});
        ++malformed;
      }
    }
    const std::vector<std::uint8_t> value(2 * kFragmentBytes);
    for (std::size_t i = 0; i < 2; ++i) {
      send(fragment_of({.type = PacketType::kLargePutRequest,
                        .key = request.key,
                        .request_id = request.request_id,
                        .value = value},
                       i));
      ++malformed;
    }
    send_answer(request);
  });
  EXPECT_EQ(statistics().malformed, malformed);
  EXPECT_EQ(statistics().stale_answers + statistics().mismatched + statistics().wrong_values, 0);
  EXPECT_EQ(statistics().partitions.front().answers_total, 1);
}

// A store with numbers and a switch in front of it, played by the test: every answer comes from the
// switch and has the number of the key's last write.
class NumberedClientTest : public ClientThreadTest {
 protected:
  struct Stored {
    std::uint32_t number = 0;
    bool exists = true;
    std::vector<std::uint8_t> value;
  };

  NumberedClientTest() : ClientThreadTest("workloada") {}

  void answer(const Packet& request) {
    const workload::KeyId key = *workload::key_id_from_wire(request.key);
    auto [at, fresh] = stored_.try_emplace(key);
    Stored& stored = at->second;
    if (fresh) {
      stored.value.resize(settings_.value_bytes);
      fill_value(stored.value, key, kLoadedVersion);
    }
    Packet answer{.type = PacketType::kPutResponseSeq,
                  .key = request.key,
                  .request_id = request.request_id,
                  .stat = kStatSuccess,
                  .node = kSwitchNode};
    if (request.type == PacketType::kGetRequest) {
      answer.type = stored.value.size() > kMaxValueBytes ? PacketType::kLargeGetResponseSeq
                                                         : PacketType::kGetResponseSeq;
      answer.value = stored.value;
      answer.stat = stored.exists ? kStatSuccess : kStatAbsent;
    } else {
      stored.number = ++last_number_;
      stored.exists = request.type != PacketType::kDeleteRequest;
      stored.value.assign(request.value.begin(), request.value.end());
      if (!stored.exists) answer.type = PacketType::kDeleteResponseSeq;
      ++requests_of_[request.type];
    }
    answer.sequence = stored.number;
    if (!is_large(answer.type)) return send(answer);
    answer.fragment.transmission = ++transmission_;
    for (std::size_t i = 0; i < fragments_of(answer.value.size()); ++i)
      send(fragment_of(answer, i));
  }

  // Plays until `writes` have been answered.
  void play(std::uint32_t writes) {
    run(2, kForEver, kForEver, [&](const Packet& request) {
      if (last_number_ == writes) return client_->stop();
      answer(request);
    });
    EXPECT_EQ(statistics().wrong_values + statistics().mismatched + statistics().malformed, 0);
  }

  std::map<workload::KeyId, Stored> stored_;
  std::map<PacketType, int> requests_of_;
  std::uint32_t last_number_ = 0;
  std::uint32_t transmission_ = 0;
};

TEST_F(NumberedClientTest, CopiesAreWhatTheSwitchHas) {
  settings_.copies_max = 1000;
  settings_.variations = {.delete_every = 5};
  play(300);
  EXPECT_GT(requests_of_[PacketType::kPutRequest], 100);
  EXPECT_GT(requests_of_[PacketType::kDeleteRequest], 20);
  std::size_t copies = 0;
  std::uint32_t behind = 0;
  client_->copies().for_each([&](const ClientCopies::Copy& copy) {
    ++copies;
    const Stored& stored = stored_.at(copy.key);
    if (copy.number != stored.number) {  // stop() came before its answer was read
      ++behind;
      return;
    }
    EXPECT_EQ(copy.exists, stored.exists);
    std::vector<std::uint8_t> value(copy.exists ? copy.value_bytes : 0);
    fill_value(value, copy.key, copy.version);
    EXPECT_EQ(value, stored.value);
  });
  EXPECT_LE(behind, 2u);  // clients
  EXPECT_GE(copies + 2, stored_.size());
  EXPECT_EQ(client_->copies().dropped(), 0u);
}

TEST_F(NumberedClientTest, WhatReachedTheSocketHasBeenReadAfterReadWaiting) {
  settings_.copies_max = 1000;
  run(1, kForEver, kForEver, [&](const Packet& request) {
    answer(request);
    client_->read_waiting();
    std::uint32_t newest = 0;
    client_->copies().for_each(
        [&](const ClientCopies::Copy& copy) { newest = std::max(newest, copy.number); });
    EXPECT_EQ(newest, last_number_);
    if (last_number_ == 100) client_->stop();
  });
  client_->read_waiting();  // nobody reads any more
}

TEST_F(NumberedClientTest, LargeValuesTravelInFragmentsAndEachIsCounted) {
  settings_.value_bytes = 3000;  // three fragments
  std::int64_t gets = 0;
  run(2, kForEver, kForEver, [&](const Packet& request) {
    if (last_number_ == 50) return client_->stop();
    if (request.type == PacketType::kGetRequest) ++gets;
    answer(request);
  });
  EXPECT_EQ(requests_of_[PacketType::kLargePutRequest], 50);
  EXPECT_GT(gets, 10);
  EXPECT_EQ(statistics().wrong_values + statistics().mismatched + statistics().malformed, 0);
  const PartitionStatistics& partition = statistics().partitions.front();
  // Of up to two requests the answers were not waited for.
  EXPECT_NEAR(static_cast<double>(partition.answers_total), static_cast<double>(50 + 3 * gets), 12);
  EXPECT_GE(partition.requests_total, 150 + gets);
  EXPECT_LE(partition.requests_total, 150 + gets + 6);
}

TEST_F(NumberedClientTest, SizesVaryAcrossTheLimitOfTheSwitch) {
  settings_.variations = {.delete_every = 7, .large_every = 3, .large_bytes = 1500};
  play(200);
  EXPECT_GT(requests_of_[PacketType::kLargePutRequest], 30);
  EXPECT_GT(requests_of_[PacketType::kPutRequest], 60);
  EXPECT_GT(requests_of_[PacketType::kDeleteRequest], 10);
}

TEST_F(NumberedClientTest, TheHistoryHasEveryOperationWithItsNumber) {
  const ScratchDirectory directory;
  HistoryLog history(directory.path() / "history");
  settings_.history = &history;
  play(100);
  EXPECT_EQ(history.operations(), static_cast<std::uint64_t>(client_->answers()) +
                                      static_cast<std::uint64_t>(statistics().unanswered));
  std::ifstream file(directory.path() / "history");
  std::set<std::uint64_t> numbers, versions;
  std::size_t unanswered = 0;
  for (std::string text; std::getline(file, text);) {
    const auto line = nlohmann::json::parse(text);
    if (line.contains("history")) continue;
    EXPECT_EQ(line["sends_ns"].size(), 1u);
    EXPECT_EQ(line["sends_ns"][0], line["invoke_ns"]);
    if (line["response_ns"].is_null()) {
      ++unanswered;
      continue;
    }
    EXPECT_GT(line["response_ns"], line["invoke_ns"]);
    EXPECT_EQ(line["node"], kSwitchNode);
    if (line["op"] != "put") continue;
    EXPECT_TRUE(numbers.insert(line["number"].get<std::uint64_t>()).second);
    EXPECT_TRUE(versions.insert(line["version"].get<std::uint64_t>()).second);
  }
  EXPECT_EQ(unanswered, static_cast<std::size_t>(statistics().unanswered));
  EXPECT_GE(numbers.size(), 98u);  // of 100, all that stop() left time to read
}

}  // namespace
}  // namespace turntable::kv
