#include "net/handshake.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace turntable::net {
namespace {

using Bytes = Handshake::Bytes;
using Nonce = Handshake::Nonce;

constexpr std::string_view kMagic = "TTC1";
constexpr std::size_t kNonceBytes = std::tuple_size_v<Nonce>;
constexpr std::size_t kIncarnationBytes = 16 + 8 + 4;

void append(Bytes& out, std::span<const std::uint8_t> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void append_magic(Bytes& out) {
  out.insert(out.end(), kMagic.begin(), kMagic.end());
}

void append_number(Bytes& out, std::uint64_t number, unsigned bytes) {
  for (unsigned i = bytes; i-- > 0;) out.push_back(static_cast<std::uint8_t>(number >> 8 * i));
}

std::uint64_t number_in(std::span<const std::uint8_t> bytes) {
  std::uint64_t number = 0;
  for (const std::uint8_t byte : bytes) number = number << 8 | byte;
  return number;
}

Bytes encoded(const Identity& identity) {
  Bytes out;
  out.push_back(static_cast<std::uint8_t>(identity.node.size()));
  out.insert(out.end(), identity.node.begin(), identity.node.end());
  append(out, identity.incarnation.boot);
  append_number(out, identity.incarnation.started_ns, 8);
  append_number(out, identity.incarnation.connection, 4);
  return out;
}

Identity decoded(std::span<const std::uint8_t> bytes) {
  const std::size_t name = bytes[0];
  const auto rest = bytes.subspan(1 + name);
  Identity identity{.node = {bytes.begin() + 1, rest.begin()}, .incarnation = {}};
  std::copy_n(rest.begin(), 16, identity.incarnation.boot.begin());
  identity.incarnation.started_ns = number_in(rest.subspan(16, 8));
  identity.incarnation.connection = static_cast<std::uint32_t>(number_in(rest.subspan(24, 4)));
  return identity;
}

Nonce fresh_nonce() {
  Nonce nonce;
  if (RAND_bytes(nonce.data(), static_cast<int>(nonce.size())) != 1) {
    throw HandshakeError("no random bytes are to be had");
  }
  return nonce;
}

Bytes mac_of(const std::string& secret, std::string_view end, Purpose purpose,
             std::span<const std::uint8_t> listener_nonce,
             std::span<const std::uint8_t> connector_nonce,
             std::span<const std::uint8_t> identity) {
  Bytes text(end.begin(), end.end());
  const std::string_view what = purpose == Purpose::kBatches ? " batches" : "";
  text.insert(text.end(), what.begin(), what.end());
  append(text, listener_nonce);
  append(text, connector_nonce);
  append(text, identity);
  Bytes mac(Handshake::kMacBytes);
  if (HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), text.data(), text.size(),
           mac.data(), nullptr) == nullptr) {
    throw HandshakeError("HMAC-SHA256 could not be computed");
  }
  return mac;
}

// In a time that says nothing of where they differ.
bool is_same(std::span<const std::uint8_t> one, std::span<const std::uint8_t> other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

// The first `size` bytes, once there are so many.
std::optional<Bytes> take(Bytes& bytes, std::size_t size) {
  if (bytes.size() < size) return std::nullopt;
  const auto end = bytes.begin() + static_cast<std::ptrdiff_t>(size);
  Bytes taken(bytes.begin(), end);
  bytes.erase(bytes.begin(), end);
  return taken;
}

// What is there already must be how the other end begins: an HTTP client is told at once.
void require_magic(const Bytes& bytes) {
  const std::size_t there = std::min(bytes.size(), kMagic.size());
  if (!std::equal(kMagic.begin(), kMagic.begin() + static_cast<std::ptrdiff_t>(there),
                  bytes.begin())) {
    throw HandshakeError("the other end speaks another protocol");
  }
}

}  // namespace

ListenerHandshake::ListenerHandshake(std::string secret,
                                     std::function<std::string(const Identity&)> admit, Bytes& out,
                                     Purpose purpose)
    : secret_(std::move(secret)),
      admit_(std::move(admit)),
      purpose_(purpose),
      nonce_(fresh_nonce()) {
  append_magic(out);
  append(out, nonce_);
}

void ListenerHandshake::receive(Bytes& bytes, Bytes& out) {
  require_magic(bytes);
  constexpr std::size_t kNameAt = kMagic.size() + kNonceBytes;
  if (bytes.size() <= kNameAt) return;
  const std::size_t identity_bytes = 1 + bytes[kNameAt] + kIncarnationBytes;
  const auto proof = take(bytes, kNameAt + identity_bytes + kMacBytes);
  if (!proof) return;
  const auto all = std::span(*proof).subspan(kMagic.size());
  const auto nonce = all.first(kNonceBytes), identity = all.subspan(kNonceBytes, identity_bytes);
  if (!is_same(all.last(kMacBytes),
               mac_of(secret_, "connector", purpose_, nonce_, nonce, identity))) {
    throw HandshakeError("it does not know the run's secret");
  }
  if (const std::string why = admit_(decoded(identity)); !why.empty()) throw HandshakeError(why);
  append(out, mac_of(secret_, "listener", purpose_, nonce_, nonce, identity));
  is_done_ = true;
}

void ConnectorHandshake::receive(Bytes& bytes, Bytes& out) {
  if (expected_.empty()) {
    require_magic(bytes);
    const auto challenge = take(bytes, kMagic.size() + kNonceBytes);
    if (!challenge) return;
    const auto listener_nonce = std::span(*challenge).subspan(kMagic.size());
    const Nonce nonce = fresh_nonce();
    const Bytes identity = encoded(identity_);
    append_magic(out);
    append(out, nonce);
    append(out, identity);
    append(out, mac_of(secret_, "connector", purpose_, listener_nonce, nonce, identity));
    expected_ = mac_of(secret_, "listener", purpose_, listener_nonce, nonce, identity);
  }
  const auto admitted = take(bytes, kMacBytes);
  if (!admitted) return;
  if (!is_same(*admitted, expected_)) {
    throw HandshakeError("the listener does not know the run's secret");
  }
  is_done_ = true;
}

}  // namespace turntable::net
