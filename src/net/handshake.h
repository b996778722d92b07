// How both ends of a control link prove that they belong to the same run, before the first message
// (docs/kvcache.md §7):
//
//   listener -> connector  CHALLENGE  "TTC1", the listener's nonce (32 bytes)
//   connector -> listener  PROOF      "TTC1", the connector's nonce (32), identity, HMAC(secret,
//                                     "connector", listener's nonce, connector's nonce, identity)
//   listener -> connector  ADMITTED   HMAC(secret, "listener", both nonces, identity)
//
// Connections of another purpose have proofs of their own: "connector batches", "listener batches"
// where a session of batches is opened. Who is proven to there, at a port that anybody may have
// taken, cannot pass it on to a control link.
//
//   identity: length of the node's name (8 bits), name, boot (16 bytes), started (64), connection
//   (32), big-endian
//
// HMAC is HMAC-SHA256 (RFC 2104), 32 bytes. A nonce is used once, so nothing of an earlier
// connection proves anything on a later one. Pure: bytes in, bytes out.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "net/credentials.h"

namespace turntable::net {

// The other end has not proven that it belongs to this run.
class HandshakeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What follows the handshake.
enum class Purpose : std::uint8_t { kControl, kBatches };

// Consumes the first bytes of a connection. The base of both ends.
class Handshake {
 public:
  using Bytes = std::vector<std::uint8_t>;
  using Nonce = std::array<std::uint8_t, 32>;
  static constexpr std::size_t kMacBytes = 32;
  // Of a connection, at both ends: a handshake takes a round trip or two.
  static constexpr std::int64_t kDeadlineNs = 5'000'000'000;

  virtual ~Handshake() = default;

  // Whether messages may follow.
  bool is_done() const { return is_done_; }

  // Takes what belongs to the handshake off the front of `bytes` and appends to `out` what is to be
  // sent. Throws HandshakeError.
  virtual void receive(Bytes& bytes, Bytes& out) = 0;

 protected:
  bool is_done_ = false;
};

class ListenerHandshake final : public Handshake {
 public:
  // `admit` is asked when the other end has proven itself, and says why it is refused all the same,
  // or nothing. `out` gets the challenge.
  ListenerHandshake(std::string secret, std::function<std::string(const Identity&)> admit,
                    Bytes& out, Purpose purpose = Purpose::kControl);
  void receive(Bytes& bytes, Bytes& out) override;

 private:
  const std::string secret_;
  const std::function<std::string(const Identity&)> admit_;
  const Purpose purpose_;
  Nonce nonce_;
};

class ConnectorHandshake final : public Handshake {
 public:
  ConnectorHandshake(std::string secret, Identity identity, Purpose purpose = Purpose::kControl)
      : secret_(std::move(secret)), identity_(std::move(identity)), purpose_(purpose) {}
  void receive(Bytes& bytes, Bytes& out) override;

 private:
  const std::string secret_;
  const Identity identity_;
  const Purpose purpose_;
  Bytes expected_;  // the listener's HMAC, once ours is sent
};

}  // namespace turntable::net
