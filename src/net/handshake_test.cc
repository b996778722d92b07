#include "net/handshake.h"

#include <gtest/gtest.h>

#include "net/testing_credentials.h"

namespace turntable::net {
namespace {

using Bytes = Handshake::Bytes;

Identity identity(std::uint64_t started_ns = 1, std::uint32_t connection = 1) {
  return {.node = "host:/run/kvserver",
          .incarnation = {.boot = {7}, .started_ns = started_ns, .connection = connection}};
}

// Both ends, and what is on its way between them.
struct Ends {
  explicit Ends(const std::string& secret = "one secret", const std::string& other = "one secret")
      : listener(
            secret,
            [this](const Identity& proven) {
              admitted.push_back(proven);
              return refusal;
            },
            to_connector),
        connector(other, identity()) {}

  // Hands over `step` bytes at a time until nothing more is on its way.
  void run(std::size_t step = 1000) {
    Bytes at_connector, at_listener;
    while (!to_connector.empty() || !to_listener.empty()) {
      hand_over(to_connector, at_connector, step);
      connector.receive(at_connector, to_listener);
      hand_over(to_listener, at_listener, step);
      listener.receive(at_listener, to_connector);
    }
  }
  static void hand_over(Bytes& from, Bytes& to, std::size_t step) {
    const auto end = from.begin() + static_cast<std::ptrdiff_t>(std::min(step, from.size()));
    to.insert(to.end(), from.begin(), end);
    from.erase(from.begin(), end);
  }

  std::vector<Identity> admitted;
  std::string refusal;
  Bytes to_connector, to_listener;
  ListenerHandshake listener;
  ConnectorHandshake connector;
};

TEST(Handshake, BothEndsOfOneRunProveThemselves) {
  for (const std::size_t step : {1, 7, 1000}) {
    Ends ends;
    ends.run(step);
    EXPECT_TRUE(ends.listener.is_done() && ends.connector.is_done());
    EXPECT_EQ(ends.admitted, std::vector{identity()});
  }
}

TEST(Handshake, WhoDoesNotKnowTheSecretIsRefused) {
  Ends ends("one secret", "another");
  EXPECT_THROW(ends.run(), HandshakeError);
  EXPECT_TRUE(ends.admitted.empty());
  EXPECT_FALSE(ends.listener.is_done());
}

TEST(Handshake, ChangingAnyByteOfAProofSpoilsIt) {
  Ends ends;
  Bytes challenge = ends.to_connector, proof, out;
  ends.connector.receive(challenge, proof);
  for (std::size_t i = 0; i < proof.size(); ++i) {
    Bytes changed = proof;
    changed[i] ^= 1;
    if (i == 36) continue;  // the name's length: more bytes are waited for, or others are the proof
    EXPECT_THROW(ends.listener.receive(changed, out), HandshakeError) << "byte " << i;
  }
  EXPECT_TRUE(out.empty());
  ends.listener.receive(proof, out);
  EXPECT_TRUE(ends.listener.is_done());
}

TEST(Handshake, AProofIsGoodForOneConnection) {
  Ends first, second;
  Bytes challenge = first.to_connector, proof, out;
  first.connector.receive(challenge, proof);
  EXPECT_THROW(second.listener.receive(proof, out), HandshakeError);
}

TEST(Handshake, AProofIsGoodForOnePurpose) {
  Ends ends;
  ConnectorHandshake other("one secret", identity(), Purpose::kBatches);
  Bytes challenge = ends.to_connector, proof, out;
  other.receive(challenge, proof);
  EXPECT_THROW(ends.listener.receive(proof, out), HandshakeError);
  EXPECT_TRUE(ends.admitted.empty() && out.empty());
}

TEST(Handshake, AListenerThatDoesNotKnowTheSecretIsRefused) {
  Ends ends;
  Bytes challenge = ends.to_connector, proof;
  ends.connector.receive(challenge, proof);
  Bytes forged(Handshake::kMacBytes, 0);
  EXPECT_THROW(ends.connector.receive(forged, proof), HandshakeError);
  EXPECT_FALSE(ends.connector.is_done());
}

TEST(Handshake, AnotherProtocolIsToldAtOnce) {
  ConnectorHandshake connector("one secret", identity());
  Bytes bytes = {'H', 'T', 'T', 'P'}, out;
  EXPECT_THROW(connector.receive(bytes, out), HandshakeError);
}

TEST(Handshake, WhoIsProvenMayBeRefusedAllTheSame) {
  Ends ends;
  ends.refusal = "older";
  EXPECT_THROW(ends.run(), HandshakeError);
  EXPECT_FALSE(ends.connector.is_done());
}

TEST(Handshake, MessagesBehindItAreLeft) {
  Ends ends;
  Bytes challenge = ends.to_connector, proof, out;
  ends.connector.receive(challenge, proof);
  proof.push_back(42);
  ends.listener.receive(proof, out);
  EXPECT_EQ(proof, Bytes{42});
}

TEST(Incarnation, CountsProcessesAndConnectionsOfOneStartOfTheMachine) {
  const auto at = [](std::uint8_t boot, std::uint64_t started, std::uint32_t connection) {
    return Incarnation{.boot = {boot}, .started_ns = started, .connection = connection};
  };
  EXPECT_TRUE(at(1, 5, 9).is_older_than(at(1, 6, 1)));
  EXPECT_TRUE(at(1, 5, 1).is_older_than(at(1, 5, 2)));
  EXPECT_FALSE(at(1, 6, 1).is_older_than(at(1, 5, 9)));
  EXPECT_FALSE(at(1, 5, 1).is_older_than(at(1, 5, 1)));
  EXPECT_FALSE(at(1, 9, 9).is_older_than(at(2, 1, 1)));
  EXPECT_FALSE(at(2, 1, 1).is_older_than(at(1, 9, 9)));
}

}  // namespace
}  // namespace turntable::net
