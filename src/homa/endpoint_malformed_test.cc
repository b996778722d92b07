// Packets that no node of this protocol sends, from peers that nobody should trust: refused and
// counted, never followed. In ctest they run under the sanitizers, too (tests/fuzz).
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "homa/endpoint.h"

namespace turntable::homa {
namespace {

constexpr std::uint64_t kClient = 7;
constexpr std::uint32_t kPeers = 3;

Settings settings(bool at_most_once) {
  Settings settings;
  settings.unscheduled_levels = 4;
  settings.cutoffs = {469, 5521, 15267};
  settings.at_most_once = at_most_once;
  settings.max_message_bytes = 100'000;
  return settings;
}

// Answers at once; each call must end once.
class Recorder final : public Application {
 public:
  Endpoint* endpoint = nullptr;
  std::vector<unsigned> ended;  // by tag

  void request(RpcId id, Peer /*client*/, Content content) override {
    endpoint->reply(id, Content{content.size, std::vector<std::uint8_t>(content.size)});
  }
  void response(std::uint64_t tag, Content /*content*/) override { ++ended[tag]; }
  void aborted(std::uint64_t tag, AbortReason /*reason*/) override { ++ended[tag]; }
};

struct Node {
  explicit Node(const Settings& settings) : endpoint(settings, kClient, recorder) {
    recorder.endpoint = &endpoint;
  }

  void call(Peer server, std::uint32_t bytes) {
    const std::uint64_t tag = recorder.ended.size();
    recorder.ended.push_back(0);
    endpoint.call(server, Content{bytes, std::vector<std::uint8_t>(bytes)}, tag);
  }

  // All that it would send now. What it sends must be right, whatever came.
  std::vector<Packet> drain() {
    std::vector<Packet> sent;
    Endpoint::Outgoing outgoing;
    while (endpoint.next(outgoing)) {
      const Packet& packet = outgoing.packet;
      EXPECT_LT(outgoing.to, kPeers);
      EXPECT_LT(packet.priority, 8);
      EXPECT_LE(std::uint64_t{packet.offset} + packet.length,
                packet.is_data() ? packet.total : UINT32_MAX);
      EXPECT_EQ(packet.payload.size(), packet.is_data() ? packet.length : 0U);
      sent.push_back(packet);
    }
    return sent;
  }

  Recorder recorder;
  Endpoint endpoint;
};

// Of a peer with more levels.
TEST(HomaMalformed, a_priority_above_the_highest_is_the_highest) {
  Settings two = settings(false);
  two.levels = 2;
  two.unscheduled_levels = 1;
  two.cutoffs.clear();
  Node node(two);
  node.call(0, 50'000);
  EXPECT_EQ(node.drain().size(), 7U);  // unscheduled
  node.endpoint.receive(
      0, {.opcode = Opcode::kGrant, .id = {kClient, 1}, .offset = 11'760, .granted_priority = 7});
  const auto granted = node.drain();
  ASSERT_EQ(granted.size(), 1U);
  EXPECT_EQ(granted[0].priority, 1);
}

TEST(HomaMalformed, a_message_beyond_the_largest) {
  Node node(settings(false));
  std::vector<std::uint8_t> part(1470);
  node.endpoint.receive(0, {.opcode = Opcode::kData,
                            .id = {1, 1},
                            .flags = kFromClient,
                            .total = 100'001,
                            .length = 1470,
                            .unscheduled = 10'290,
                            .payload = part});
  EXPECT_EQ(node.endpoint.serving(), 0U);
  EXPECT_EQ(node.endpoint.statistics().malformed, 1U);
}

class Noise {
 public:
  explicit Noise(std::uint64_t seed) : random_(seed) {}

  // A datagram that decode() takes; what it says may be anything.
  bool datagram(std::uint64_t sequences, std::vector<std::uint8_t>& bytes) {
    Packet packet{
        .opcode = one_of<Opcode>({Opcode::kAllData, Opcode::kData, Opcode::kGrant, Opcode::kResend,
                                  Opcode::kBusy, Opcode::kAbort, Opcode::kAck, Opcode::kNeedAck})};
    const bool of_call = chance(2);
    packet.id = {of_call ? kClient : 100 + random_() % 3, random_() % (sequences + 2)};
    packet.flags = static_cast<std::uint8_t>(of_call ? 0 : kFromClient);
    if (chance(4)) packet.flags = static_cast<std::uint8_t>(random_() % 8);
    packet.total = number();
    packet.offset = number();
    packet.unscheduled = number();
    packet.length = number();
    packet.granted_priority = static_cast<std::uint8_t>(chance(8) ? random_() : random_() % 8);
    packet.oldest = random_() % (sequences + 2);
    if (packet.is_data()) make_data(packet);
    bytes.assign(kMaxHeaderBytes, 0);
    bytes.resize(encode_header(packet, bytes));
    bytes.insert(bytes.end(), payload_.begin(), payload_.end());
    payload_.clear();
    if (chance(20)) bytes[random_() % bytes.size()] = static_cast<std::uint8_t>(random_());
    return true;
  }

  bool chance(unsigned one_in) { return random_() % one_in == 0; }
  std::uint64_t next() { return random_(); }

 private:
  template <typename Value>
  Value one_of(const std::vector<Value>& values) {
    return values[random_() % values.size()];
  }

  std::uint32_t number() {
    return one_of<std::uint32_t>({0, 1, 299, 300, 1469, 1470, 1471, 2940, 10'290, 11'760, 50'000,
                                  99'960, 100'000, 100'001, 1U << 31U, UINT32_MAX});
  }

  // Mostly a packet of some message.
  void make_data(Packet& packet) {
    if (!chance(8)) {
      packet.total = one_of<std::uint32_t>({1, 299, 1470, 2940, 50'000, 100'000});
      packet.unscheduled = std::min(packet.total, 10'290U);
      packet.offset = static_cast<std::uint32_t>(random_() % packet.total) / 1470 * 1470;
      packet.length = std::min(1470U, packet.total - packet.offset);
    }
    packet.length = std::min(packet.length, 3000U);
    if (packet.opcode == Opcode::kAllData) packet.total = packet.length;
    payload_.assign(packet.length, 1);
  }

  std::mt19937_64 random_;
  std::vector<std::uint8_t> payload_;
};

class HomaMalformedNoise : public testing::TestWithParam<bool> {};

TEST_P(HomaMalformedNoise, every_call_ends_once_and_nothing_stays) {
  Node node(settings(GetParam()));
  Noise noise(GetParam() ? 2 : 1);
  std::vector<std::uint8_t> datagram;
  unsigned taken = 0;
  for (int round = 0; round < 200'000; ++round) {
    if (noise.chance(10) && node.endpoint.outstanding_calls() < 20)
      node.call(static_cast<Peer>(noise.next() % kPeers),
                static_cast<std::uint32_t>(1 + noise.next() % 100'000));
    noise.datagram(node.recorder.ended.size(), datagram);
    Packet packet;
    if (decode(datagram, packet) == DecodeStatus::kOk) {
      ++taken;
      node.endpoint.receive(static_cast<Peer>(noise.next() % kPeers), packet);
    }
    if (noise.chance(100)) node.endpoint.tick();
    // What one packet may bring about is bounded: all of a message, and a grant or an answer.
    if (noise.chance(4)) {
      EXPECT_LE(node.drain().size(), 40U * 80U);
    }
  }
  EXPECT_GT(taken, 50'000U);
  for (int tick = 0; tick < 200; ++tick) {
    node.drain();
    node.endpoint.tick();
  }
  EXPECT_EQ(node.endpoint.outstanding_calls(), 0U);
  EXPECT_EQ(node.endpoint.serving(), 0U);
  for (const unsigned times : node.recorder.ended) EXPECT_EQ(times, 1U);
  EXPECT_GT(node.endpoint.statistics().malformed, 100U);
  EXPECT_GT(node.endpoint.statistics().strangers, 1000U);
}

INSTANTIATE_TEST_SUITE_P(Once, HomaMalformedNoise, testing::Bool());

}  // namespace
}  // namespace turntable::homa
