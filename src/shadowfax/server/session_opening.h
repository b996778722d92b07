// How a connection's session is opened at a worker: the opening, and where the server has a secret
// the proof that the client knows it (shadowfax/wire.h). Bytes in, bytes out; no sockets.
//
//   [opening] --server without a secret-------------------------------> the opening
//       +------with one: welcome kProve, challenge--> [proof] --right--> the opening
//       +-- another format                              +-- wrong: refused
//
// Whoever is refused, or says nothing, has cost a few hundred bytes and no session.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "net/handshake.h"
#include "shadowfax/wire.h"

namespace turntable::shadowfax {

enum class OpeningRefusal : std::uint8_t {
  kFormat,      // it does not begin with an opening of this format
  kUnproven,    // its proof is not of this server's secret and challenge
  kSilent,      // it has gone, or said no whole opening and proof in time
  kCrowded,     // too many others were being opened
  kValueBytes,  // the store has no values of so many bytes
  kInUse,       // another connection has the session
};
inline constexpr std::array kRefusalNames = {"format",  "unproven",    "silent",
                                             "crowded", "value_bytes", "in_use"};

class OpeningRefused : public std::runtime_error {
 public:
  OpeningRefused(OpeningRefusal refusal, const std::string& why)
      : std::runtime_error(why), refusal_(refusal) {}
  OpeningRefusal refusal() const noexcept { return refusal_; }

 private:
  OpeningRefusal refusal_;
};

class SessionOpening {
 public:
  // From the connection's begin to its session, at most: as of control links.
  static constexpr std::int64_t kDeadlineNs = net::Handshake::kDeadlineNs;

  // secret: nothing: clients prove none.
  explicit SessionOpening(std::optional<std::string> secret) : secret_(std::move(secret)) {}

  // Takes what has come, and appends to `out` what is to be sent. Returns the opening once it is
  // whole and proven. Throws OpeningRefused; what is in `out` then is to be sent all the same.
  std::optional<Opening> receive(std::span<const std::uint8_t> bytes, std::vector<std::byte>& out);
  // What has come behind all that.
  std::span<const std::uint8_t> rest() const noexcept { return unread_; }

 private:
  void take_opening(std::vector<std::byte>& out);
  void take_proof(std::vector<std::byte>& out);

  const std::optional<std::string> secret_;
  std::vector<std::uint8_t> unread_;
  std::optional<Opening> opening_;
  std::optional<net::ListenerHandshake> handshake_;  // once it has begun
};

}  // namespace turntable::shadowfax
