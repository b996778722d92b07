// When a key is free again: arithmetic of kv/value_updates.h.
#include "farreach/kv/value_updates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "common/clock.h"

namespace turntable::kv {
namespace {

constexpr workload::KeyId kKey = 5;
constexpr std::int64_t kMs = 1'000'000;

TEST(ValueUpdatesTest, TheRoundTripCountsFromTheEndOfTheWriteAndWithItsDelay) {
  const UniqueFd server = net::open_udp(net::parse_ipv4("test", "127.0.0.1", 0), 64);
  const UniqueFd peer = net::open_udp(net::parse_ipv4("test", "127.0.0.1", 0), 64);
  ValueUpdates updates(server.get(), {.delay_ns = 30 * kMs});
  updates.add(kKey, {.type = PacketType::kValueUpdate, .key = workload::wire_key(kKey)},
              net::address_of(peer.get()));
  EXPECT_TRUE(updates.pending(kKey));
  EXPECT_EQ(updates.next_ns(), INT64_MAX);  // its write is not over
  // The write ended, in virtual time, long before the worker came to it.
  const std::int64_t finish = monotonic_ns() - 1000 * kMs;
  updates.finished(finish);
  EXPECT_EQ(updates.next_ns(), finish + 30 * kMs);
  const std::int64_t before = monotonic_ns();
  updates.run(before);

  net::ReceiveBatch received;
  ASSERT_EQ(received.receive(peer.get()), 1);
  Packet update;
  ASSERT_EQ(decode(received.at(0).bytes, update), DecodeStatus::kOk);
  std::array<std::uint8_t, kMaxPacketBytes> ack;
  const std::size_t size = encode(
      {.type = PacketType::kValueUpdateAck, .key = update.key, .request_id = update.request_id},
      ack);
  const sockaddr_in to = net::address_of(server.get());
  ASSERT_GT(
      ::sendto(peer.get(), ack.data(), size, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to),
      0);
  updates.run(monotonic_ns());
  const std::int64_t elapsed = monotonic_ns() - before;
  EXPECT_FALSE(updates.pending(kKey));
  // finish + delay + what passed between sending and acknowledgement, which is at most `elapsed`
  // (and the reading of two clocks).
  EXPECT_GE(updates.free_since_ns(kKey), finish + 30 * kMs);
  EXPECT_LE(updates.free_since_ns(kKey), finish + 30 * kMs + elapsed + kMs);
  EXPECT_GE(updates.counters().round_trip_sum_ns.get(), 30 * kMs);
}

TEST(ValueUpdatesTest, PlacesAreUsedAgainUnderNewIds) {
  const UniqueFd server = net::open_udp(net::parse_ipv4("test", "127.0.0.1", 0), 64);
  const UniqueFd peer = net::open_udp(net::parse_ipv4("test", "127.0.0.1", 0), 64);
  net::connect_udp(peer.get(), net::address_of(server.get()));
  ValueUpdates updates(server.get(), {});
  std::vector<std::uint32_t> ids;
  for (std::int64_t now = 1; now <= 1000; ++now) {
    ASSERT_FALSE(updates.pending(kKey));
    updates.add(kKey, {.type = PacketType::kValueUpdate, .key = workload::wire_key(kKey)},
                net::address_of(peer.get()));
    updates.finished(now);
    updates.run(now);
    net::ReceiveBatch received;
    ASSERT_EQ(received.receive(peer.get()), 1);
    Packet update;
    ASSERT_EQ(decode(received.at(0).bytes, update), DecodeStatus::kOk);
    ids.push_back(update.request_id);
    std::array<std::uint8_t, kMaxPacketBytes> ack;
    const std::size_t size = encode(
        {.type = PacketType::kValueUpdateAck, .key = update.key, .request_id = update.request_id},
        ack);
    ::send(peer.get(), ack.data(), size, 0);
    updates.run(now);
  }
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
  EXPECT_EQ(updates.counters().acknowledged.get(), 1000);
  EXPECT_EQ(updates.counters().unexpected.get(), 0);
}

}  // namespace
}  // namespace turntable::kv
