// A worker with its socket, over loopback: large values and what a method holds back.
#include "farreach/kv/server_worker.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <optional>
#include <thread>

#include "common/clock.h"
#include "farreach/kv/cached_keys.h"
#include "farreach/kv/farreach_handler.h"
#include "farreach/kv/netcache_handler.h"
#include "farreach/kv/nocache_handler.h"
#include "farreach/kv/testing.h"
#include "farreach/kv/testing_keys.h"

namespace turntable::kv {
namespace {

using testing::kKey;

constexpr double kCapacity = 200;  // 5 ms per operation
using Bytes = std::vector<std::uint8_t>;

class ServerWorkerTest : public ::testing::Test {
 protected:
  ~ServerWorkerTest() override {
    if (!worker_) return;
    worker_->stop();
    thread_.join();
  }

  void open_store(bool numbered) {
    build_store(directory_.path() / "db",
                {.workload = testing::small_workload(), .numbered = numbered}, std::array{kKey});
    store_.emplace(directory_.path() / "db", StoreProfile::kEmbedded);
  }

  void serve(int socket, RequestHandler& handler, double capacity) {
    worker_.emplace(socket, handler,
                    ServerWorker::Settings{.capacity_ops_per_s = capacity, .large_values = true});
    worker_->window().set(0, INT64_MAX);
    thread_ = std::thread([this] { worker_->run(); });
    client_ = net::open_udp(net::parse_ipv4("test", "127.0.0.1", 0), 64);
    net::connect_udp(client_.get(), net::address_of(socket));
  }

  void send(const Packet& packet) {
    std::array<std::uint8_t, net::kLargeDatagramBytes> bytes;
    const std::size_t size = encode(packet, bytes);
    ASSERT_EQ(::send(client_.get(), bytes.data(), size, 0), static_cast<ssize_t>(size));
  }

  // The next datagram, within a deadline.
  Packet receive() {
    while (next_ == received_count_) {
      pollfd polled = {client_.get(), POLLIN, 0};
      if (::poll(&polled, 1, 10'000) != 1) {
        ADD_FAILURE() << "no datagram came";
        return {};
      }
      received_count_ = received_.receive(client_.get());
      next_ = 0;
    }
    Packet packet;
    EXPECT_EQ(decode(received_.at(static_cast<std::size_t>(next_++)).bytes, packet),
              DecodeStatus::kOk);
    return packet;
  }

  static void ignore_errors(const std::string&) {}

  ScratchDirectory directory_;
  std::optional<Store> store_;
  std::optional<ServerWorker> worker_;
  std::thread thread_;
  UniqueFd client_;
  net::ReceiveBatch received_{net::ReceiveBatch::Details::kSenderAndStamp,
                              net::kLargeDatagramBytes};
  int received_count_ = 0;
  int next_ = 0;
};

TEST_F(ServerWorkerTest, LargeValuesComeAndGoInFragments) {
  open_store(/*numbered=*/false);
  const UniqueFd socket = net::open_udp(net::parse_ipv4("test", "127.0.0.1", 0), 64);
  NoCacheHandler handler(*store_, 0, 1, ignore_errors);
  serve(socket.get(), handler, 0);
  Bytes value(kMaxLargeValueBytes);
  for (std::size_t i = 0; i < value.size(); ++i) value[i] = static_cast<std::uint8_t>(i * 7 / 5);
  const Packet put{.type = PacketType::kLargePutRequest,
                   .key = workload::wire_key(kKey),
                   .request_id = 1,
                   .value = value,
                   .fragment = {.transmission = 1}};
  // Backwards, and the last fragment (the first of the value) only after a request from another.
  for (std::size_t i = fragments_of(value.size()); --i > 0;) send(fragment_of(put, i));
  send({.type = PacketType::kGetRequest, .key = put.key, .request_id = 2});
  EXPECT_EQ(receive().type, PacketType::kGetResponse);  // not complete: the loaded value
  send(fragment_of(put, 0));
  const Packet stored = receive();
  EXPECT_EQ(stored.type, PacketType::kPutResponse);
  EXPECT_EQ(stored.request_id, 1u);

  send({.type = PacketType::kGetRequest, .key = put.key, .request_id = 3});
  Reassembly reassembly(1);
  Packet answer;
  do {
    answer = receive();
    ASSERT_EQ(answer.type, PacketType::kLargeGetResponse);
    ASSERT_EQ(answer.request_id, 3u);
  } while (!reassembly.add(0, answer));
  EXPECT_EQ(Bytes(answer.value.begin(), answer.value.end()), value);
  EXPECT_EQ(answer.stat, kStatSuccess);
  EXPECT_EQ(worker_->large_values().completed.get(), 1);
  EXPECT_EQ(worker_->counters().served_total.get(), 3);
}

TEST_F(ServerWorkerTest, FragmentsOfTheSwitchAndTheClientMakeOneNumberedWrite) {
  open_store(/*numbered=*/true);
  const UniqueFd socket = net::open_udp(net::parse_ipv4("test", "127.0.0.1", 0), 64);
  RecordStore records(*store_);
  auto sockets = net::open_split_udp(net::parse_ipv4("test", "127.0.0.1", 0), 64, 0x0190);
  ValueUpdates updates(sockets.of_type.get(), {});
  CachedKeys keys({.holds_writes = true});
  NetCacheHandler handler(records, updates, keys, 0, 1, ignore_errors);
  serve(sockets.all_else.get(), handler, 0);
  const Bytes value(kFragmentBytes + 1, 7);
  Packet put{.type = PacketType::kLargePutRequest,
             .key = workload::wire_key(kKey),
             .request_id = 1,
             .value = value};
  send(fragment_of(put, 1));
  put.type = PacketType::kLargePutRequestSeq;
  put.sequence = 12;
  send(fragment_of(put, 0));
  const Packet answer = receive();
  EXPECT_EQ(answer.type, PacketType::kPutResponseSeq);
  EXPECT_EQ(answer.sequence, 12u);
  worker_->stop();
  thread_.join();
  worker_.reset();  // before its handler
}

TEST_F(ServerWorkerTest, BadInputIsCountedAndEndsNothing) {
  open_store(/*numbered=*/true);
  const UniqueFd socket = net::open_udp(net::parse_ipv4("test", "127.0.0.1", 0), 2048);
  RecordStore records(*store_);
  CachedKeys keys({});
  FarReachHandler handler(records, keys, 0, 1, ignore_errors);
  serve(socket.get(), handler, 0);
  const auto send_bytes = [&](const Bytes& bytes) {
    ASSERT_EQ(::send(client_.get(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
  };
  const auto encoded = [](const Packet& packet) {
    Bytes bytes(net::kLargeDatagramBytes);
    bytes.resize(encode(packet, bytes));
    return bytes;
  };
  const PacketKey key = workload::wire_key(kKey);
  const std::array<std::uint8_t, 8> value{7};
  const Packet put{.type = PacketType::kPutRequestSeq, .key = key, .value = value, .sequence = 5};
  std::int64_t malformed = 0, misrouted = 0;
  send_bytes({}), ++malformed;
  send_bytes(Bytes(21)), ++malformed;
  send_bytes(Bytes(net::kLargeDatagramBytes + 1, 0xff)), ++malformed;
  // Every type that there may be, with what would be its headers and without: of those, requests.
  for (unsigned type = 0; type < 0x400; ++type) {
    Bytes bytes(22);
    bytes[0] = static_cast<std::uint8_t>(type >> 8), bytes[1] = static_cast<std::uint8_t>(type);
    std::copy(key.begin(), key.end(), bytes.begin() + 2);
    const auto is = static_cast<PacketType>(type);
    if (is == PacketType::kGetRequest || is == PacketType::kHotGetRequest) continue;
    send_bytes(bytes), ++malformed;
  }
  Bytes longer = encoded(put), shorter = longer;
  longer.push_back(0);
  shorter.pop_back();
  send_bytes(longer), ++malformed;
  send_bytes(shorter), ++malformed;
  for (const PacketType type :
       {PacketType::kPutRequest, PacketType::kDeleteRequest, PacketType::kGetResponseSeq,
        PacketType::kPutResponseSeq, PacketType::kGetResponseLatestSeq, PacketType::kValueUpdate,
        PacketType::kValueUpdateAck, PacketType::kPutRequestSeqCached}) {
    Packet odd = put;
    odd.type = type;
    send_bytes(encoded(odd)), ++malformed;
  }
  for (const PacketType type : {PacketType::kLargePutRequest, PacketType::kLargePutRequestSeqCached,
                                PacketType::kLargeGetResponseSeq}) {
    const Bytes value(2 * kFragmentBytes);
    send(fragment_of({.type = type, .key = key, .value = value}, 0)), ++malformed;
  }
  Packet odd = put;
  odd.sequence = kLargestSequence + 1;
  send_bytes(encoded(odd)), ++malformed;
  odd = put;
  odd.key[0] = 1;  // no key of this system
  send_bytes(encoded(odd)), ++misrouted;
  send({.type = PacketType::kGetRequest, .key = key, .request_id = 9});
  const Packet answer = receive();
  EXPECT_EQ(answer.request_id, 9u);
  EXPECT_EQ(answer.sequence, kLoadedNumber);
  EXPECT_EQ(worker_->counters().malformed.get(), malformed);
  EXPECT_EQ(handler.counters().misrouted.get(), misrouted);
  EXPECT_EQ(handler.counters().writes.get() + handler.counters().deletes.get(), 0);
  worker_->stop();
  thread_.join();
  worker_.reset();  // before its handler
}

// Two writes of a cached key that arrive together, and an acknowledgement after 20 ms. With
//   finish_1 = arrival + 5 ms,   start_2 = finish_1,   free = finish_1 + delay + (acked - sent)
// the second is held back for delay + (acked - sent), and then takes its 5 ms.
TEST_F(ServerWorkerTest, WhatIsHeldBackIsAddedToTheServiceTime) {
  constexpr std::int64_t kDelayNs = 15 * kMillisecondNs;
  open_store(/*numbered=*/true);
  auto sockets = net::open_split_udp(net::parse_ipv4("test", "127.0.0.1", 0), 64, 0x0190);
  RecordStore records(*store_);
  ValueUpdates updates(sockets.of_type.get(), {.delay_ns = kDelayNs});
  CachedKeys keys({.holds_writes = true});
  NetCacheHandler handler(records, updates, keys, 0, 1, ignore_errors);
  serve(sockets.all_else.get(), handler, kCapacity);
  const Bytes value = {1};
  Packet put{.type = PacketType::kPutRequestSeqCached,
             .key = workload::wire_key(kKey),
             .request_id = 1,
             .value = value,
             .sequence = 1};
  send(put);
  put.request_id = 2;
  put.sequence = 2;
  send(put);
  EXPECT_EQ(receive().request_id, 1u);
  const Packet update = receive();  // addressed to the client
  EXPECT_EQ(update.type, PacketType::kValueUpdate);
  EXPECT_EQ(update.sequence, 1u);
  EXPECT_EQ(worker_->counters().served_total.get(), 1);  // the second write waits
  send({.type = PacketType::kValueUpdateAck, .key = put.key, .request_id = update.request_id});
  Packet second = receive();
  // On a busy machine the update is sent again before it is acknowledged.
  while (second.type == PacketType::kValueUpdate && second.sequence == 1) second = receive();
  EXPECT_EQ(second.request_id, 2u);
  EXPECT_EQ(second.sequence, 2u);
  worker_->stop();
  thread_.join();
  const std::int64_t round_trip = updates.counters().round_trip_sum_ns.get();
  EXPECT_GE(round_trip, kDelayNs);
  // On a busy machine start_2 is later than finish_1 by what is lost (capacity.h).
  const std::int64_t lost = worker_->counters().lost_ns.get();
  EXPECT_GE(worker_->counters().blocked_ns.get() + lost, round_trip);
  EXPECT_GE(worker_->counters().held_back_ns.get() + lost, round_trip);
  EXPECT_LE(worker_->counters().held_back_ns.get(), worker_->counters().blocked_ns.get());
  EXPECT_EQ(worker_->counters().held_back_in_window_ns.get(),
            worker_->counters().held_back_ns.get());
  // Two writes of 5 ms each.
  EXPECT_EQ(worker_->counters().busy_in_window_ns.get(),
            10 * kMillisecondNs + worker_->counters().blocked_ns.get());
  worker_.reset();
}

}  // namespace
}  // namespace turntable::kv
