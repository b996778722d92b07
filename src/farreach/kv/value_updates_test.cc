// When a key is free again: arithmetic of kv/value_updates.h.
#include "farreach/kv/value_updates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "common/clock.h"

namespace turntable::kv {
namespace {

constexpr workload::KeyId kSmallKey = 5;

TEST(ValueUpdatesTest, TheRoundTripCountsFromTheEndOfTheWriteAndWithItsDelay) {
  const UniqueFd server = net::open_udp(net::parse_ipv4("test", "127.0.0.1", 0), 64);
  const UniqueFd peer = net::open_udp(net::parse_ipv4("test", "127.0.0.1", 0), 64);
  ValueUpdates updates(server.get(), {.delay_ns = 30 * kMillisecondNs});
  updates.add(kSmallKey, {.type = PacketType::kValueUpdate, .key = workload::wire_key(kSmallKey)},
              net::address_of(peer.get()));
  EXPECT_TRUE(updates.pending(kSmallKey));
  EXPECT_EQ(updates.next_ns(), INT64_MAX);  // its write is not over
  // The write ended, in virtual time, long before the worker came to it.
  const std::int64_t finish = monotonic_ns() - 1000 * kMillisecondNs;
  updates.finished(finish);
  EXPECT_EQ(updates.next_ns(), finish + 30 * kMillisecondNs);
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
  EXPECT_FALSE(updates.pending(kSmallKey));
  // finish + delay + what passed between sending and acknowledgement, which is at most `elapsed`
  // (and the reading of two clocks).
  EXPECT_GE(updates.free_since_ns(kSmallKey), finish + 30 * kMillisecondNs);
  EXPECT_LE(updates.free_since_ns(kSmallKey),
            finish + 30 * kMillisecondNs + elapsed + kMillisecondNs);
  EXPECT_GE(updates.counters().round_trip_sum_ns.get(), 30 * kMillisecondNs);
}

TEST(ValueUpdatesTest, PlacesAreUsedAgainUnderNewIds) {
  const UniqueFd server = net::open_udp(net::parse_ipv4("test", "127.0.0.1", 0), 64);
  const UniqueFd peer = net::open_udp(net::parse_ipv4("test", "127.0.0.1", 0), 64);
  net::connect_udp(peer.get(), net::address_of(server.get()));
  ValueUpdates updates(server.get(), {});
  std::vector<std::uint32_t> ids;
  for (std::int64_t now = 1; now <= 1000; ++now) {
    ASSERT_FALSE(updates.pending(kSmallKey));
    updates.add(kSmallKey, {.type = PacketType::kValueUpdate, .key = workload::wire_key(kSmallKey)},
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
