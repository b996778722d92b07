#include "farreach/kv/reassembly.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "workload/random.h"

namespace turntable::kv {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes some_value(std::size_t bytes, std::uint8_t first) {
  Bytes value(bytes);
  std::iota(value.begin(), value.end(), first);
  return value;
}

// A large PUT without its value; what tests compare.
Packet put(std::span<const std::uint8_t> value, std::uint32_t request, std::uint32_t transmission) {
  return {.type = PacketType::kLargePutRequest,
          .request_id = request,
          .value = value,
          .fragment = {.client = 3, .transmission = transmission}};
}

class ReassemblyTest : public ::testing::Test {
 protected:
  // Gives fragment `index` of `whole` to the ring, from `sender`; the value if it is complete.
  std::optional<Bytes> add(const Packet& whole, std::size_t index, std::uint64_t sender = 1) {
    Packet packet = fragment_of(whole, index);
    if (!ring_.add(sender, packet)) return std::nullopt;
    last_ = packet;
    return Bytes(packet.value.begin(), packet.value.end());
  }

  const ReassemblyCounters& counters() const { return ring_.counters(); }

  Reassembly ring_{2};
  Packet last_{};
};

TEST_F(ReassemblyTest, FragmentsInAnyOrderMakeTheValue) {
  const Bytes value = some_value(2 * kFragmentBytes + 5, 1);
  std::array<std::size_t, 3> order = {0, 1, 2};
  std::uint32_t transmission = 0;
  do {
    Packet whole = put(value, 7, ++transmission);
    EXPECT_EQ(add(whole, order[0]), std::nullopt);
    EXPECT_EQ(add(whole, order[1]), std::nullopt);
    EXPECT_EQ(add(whole, order[2]), value);
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(counters().completed.get(), 6);
  EXPECT_EQ(counters().evicted.get(), 0);
}

TEST_F(ReassemblyTest, TheWholeHasTheHeadersOfFragment0) {
  // The switch numbers fragment 0 and passes the others as they came.
  const Bytes value = some_value(kFragmentBytes + 1, 1);
  Packet numbered = put(value, 7, 1);
  numbered.type = PacketType::kLargePutRequestSeq;
  numbered.sequence = 99;
  EXPECT_EQ(add(put(value, 7, 1), 1), std::nullopt);
  EXPECT_EQ(add(numbered, 0), value);
  EXPECT_EQ(last_.type, PacketType::kLargePutRequestSeq);
  EXPECT_EQ(last_.sequence, 99u);
}

TEST_F(ReassemblyTest, KnowsTheLargestNumberThatIsIncompleteUnderAKey) {
  const Bytes value = some_value(kFragmentBytes + 1, 1);
  Reassembly ring(3);
  const auto give = [&](std::uint32_t request, std::uint32_t number, std::size_t index) {
    Packet packet = fragment_of(put(value, request, 1), index);
    if (index == 0) packet.sequence = number;
    ring.add(1, packet);
  };
  const PacketKey key = put(value, 0, 0).key;
  PacketKey other = key;
  other[15] ^= 1;
  EXPECT_EQ(ring.largest_incomplete(key), 0u);
  give(7, 0, 1);  // has no number yet
  EXPECT_EQ(ring.largest_incomplete(key), 0u);
  give(8, 99, 0);
  give(9, 98, 0);
  EXPECT_EQ(ring.largest_incomplete(key), 99u);
  EXPECT_EQ(ring.largest_incomplete(other), 0u);
  give(8, 99, 1);  // complete
  EXPECT_EQ(ring.largest_incomplete(key), 98u);
  for (std::uint32_t request : {10, 11, 12}) give(request, 0, 1);  // 9 is given up
  EXPECT_EQ(ring.largest_incomplete(key), 0u);
}

TEST_F(ReassemblyTest, AValueOfOneFragmentIsCompleteAtOnce) {
  const Bytes value = some_value(200, 1);
  EXPECT_EQ(add(put(value, 7, 1), 0), value);
}

TEST_F(ReassemblyTest, SendersRequestsAndTransmissionsAreKeptApart) {
  const Bytes a = some_value(kFragmentBytes + 1, 1), b = some_value(kFragmentBytes + 1, 2);
  Reassembly ring(8);
  const auto give = [&](const Packet& whole, std::size_t index, std::uint64_t sender) {
    Packet packet = fragment_of(whole, index);
    return ring.add(sender, packet);
  };
  EXPECT_FALSE(give(put(a, 7, 1), 0, 1));
  EXPECT_FALSE(give(put(b, 7, 1), 1, 2));
  EXPECT_FALSE(give(put(b, 8, 1), 1, 1));
  EXPECT_FALSE(give(put(b, 7, 2), 1, 1));
  EXPECT_TRUE(give(put(a, 7, 1), 1, 1));
}

TEST_F(ReassemblyTest, TwinsOfFragmentsAreCountedAndIgnored) {
  const Bytes value = some_value(kFragmentBytes + 1, 1), other = some_value(kFragmentBytes + 1, 9);
  EXPECT_EQ(add(put(value, 7, 1), 1), std::nullopt);
  EXPECT_EQ(add(put(other, 7, 1), 1), std::nullopt);  // whatever it holds
  EXPECT_EQ(add(put(value, 7, 1), 0), value);
  EXPECT_EQ(add(put(value, 7, 1), 0), std::nullopt);  // late: the value is complete
  EXPECT_EQ(add(put(value, 7, 1), 1), std::nullopt);
  EXPECT_EQ(counters().duplicates.get(), 3);
  EXPECT_EQ(counters().completed.get(), 1);
}

TEST_F(ReassemblyTest, NewValuesTakeTheOldestPlaceAndThatIsCounted) {
  const Bytes value = some_value(kFragmentBytes + 1, 1);
  EXPECT_EQ(add(put(value, 1, 1), 0), std::nullopt);  // its other fragment is lost
  EXPECT_EQ(add(put(value, 2, 1), 0), std::nullopt);
  EXPECT_EQ(add(put(value, 2, 1), 1), value);
  EXPECT_EQ(add(put(value, 3, 1), 0), std::nullopt);  // takes the place of 2, which was complete
  EXPECT_EQ(counters().evicted.get(), 0);
  EXPECT_EQ(add(put(value, 4, 1), 0), std::nullopt);  // takes the place of 1
  EXPECT_EQ(counters().evicted.get(), 1);
  EXPECT_EQ(add(put(value, 3, 1), 1), value);
}

TEST_F(ReassemblyTest, AValueUnderWayIsPassedByAnyNumberOfOthers) {
  // Two senders with one value at a time each, of which one is held up between its fragments.
  const Bytes value = some_value(kFragmentBytes + 1, 1);
  Reassembly ring(4);
  const auto give = [&](std::uint32_t request, std::size_t index, std::uint64_t sender) {
    Packet packet = fragment_of(put(value, request, 1), index);
    return ring.add(sender, packet);
  };
  EXPECT_FALSE(give(1, 0, 1));
  for (std::uint32_t request = 1; request <= 100; ++request) {
    EXPECT_FALSE(give(request, 0, 2));
    EXPECT_TRUE(give(request, 1, 2));
    EXPECT_FALSE(give(request, 1, 2));  // a twin, late
  }
  EXPECT_TRUE(give(1, 1, 1));
  EXPECT_EQ(ring.counters().duplicates.get(), 100);
  EXPECT_EQ(ring.counters().evicted.get(), 0);
}

TEST_F(ReassemblyTest, FragmentsThatContradictEachOtherAreIgnored) {
  const Bytes value = some_value(kFragmentBytes + 10, 1);
  EXPECT_EQ(add(put(value, 7, 1), 0), std::nullopt);
  const Bytes longer = some_value(kFragmentBytes + 11, 1);
  EXPECT_EQ(add(put(longer, 7, 1), 1), std::nullopt);  // another length
  Packet other_key = put(value, 7, 1);
  other_key.key[15] = 1;
  EXPECT_EQ(add(other_key, 1), std::nullopt);
  EXPECT_EQ(add(put(some_value(3 * kFragmentBytes, 1), 7, 1), 1), std::nullopt);  // another count
  EXPECT_EQ(counters().mismatched.get(), 3);
  EXPECT_EQ(add(put(value, 7, 1), 1), value);
  // The same when the last fragment came first.
  EXPECT_EQ(add(put(longer, 8, 1), 1), std::nullopt);
  EXPECT_EQ(add(put(value, 8, 1), 0), std::nullopt);
  EXPECT_EQ(counters().mismatched.get(), 4);
}

TEST_F(ReassemblyTest, ThroughLossAndTwinsAValueIsWhatWasSentOrNothing) {
  workload::Random random(3);
  Reassembly ring(16);
  std::vector<std::pair<std::uint32_t, std::size_t>> wire;  // request, fragment
  const auto value_of = [](std::uint32_t request) {
    return some_value(129 + request * 97 % 9000, static_cast<std::uint8_t>(request));
  };
  for (std::uint32_t request = 0; request < 2000; ++request) {
    for (std::size_t i = 0; i < fragments_of(value_of(request).size()); ++i) {
      for (auto copies = random.next() % 10 == 0 ? random.next() % 3 : 1; copies > 0; --copies)
        wire.emplace_back(request, i);
    }
  }
  for (std::size_t i = 0; i + 8 < wire.size(); ++i) std::swap(wire[i], wire[i + random.next() % 8]);
  std::int64_t completed = 0;
  for (const auto& [request, index] : wire) {
    const Bytes value = value_of(request);
    Packet packet = fragment_of(put(value, request, 0), index);
    if (!ring.add(1, packet)) continue;
    ++completed;
    ASSERT_TRUE(std::equal(packet.value.begin(), packet.value.end(), value.begin(), value.end()));
  }
  EXPECT_GT(completed, 1000);
  EXPECT_GT(ring.counters().evicted.get(), 100);
  EXPECT_EQ(ring.counters().mismatched.get(), 0);
}

}  // namespace
}  // namespace turntable::kv
