#include "shadowfax/server/session_opening.h"

#include <algorithm>
#include <array>

namespace turntable::shadowfax {
namespace {

void append(std::vector<std::byte>& out, const Welcome& welcome) {
  out.resize(out.size() + Welcome::kBytes);
  write(out.data() + out.size() - Welcome::kBytes, welcome);
}

void append(std::vector<std::byte>& out, std::span<const std::uint8_t> bytes) {
  const auto raw = std::as_bytes(bytes);
  out.insert(out.end(), raw.begin(), raw.end());
}

}  // namespace

std::optional<Opening> SessionOpening::receive(std::span<const std::uint8_t> bytes,
                                               std::vector<std::byte>& out) {
  unread_.insert(unread_.end(), bytes.begin(), bytes.end());
  try {
    if (!opening_) take_opening(out);
    if (handshake_ && !handshake_->is_done()) take_proof(out);
  } catch (const net::HandshakeError& error) {
    throw OpeningRefused(OpeningRefusal::kUnproven,
                         std::string("a client is refused: ") + error.what());
  }
  const bool is_open = opening_ && (!handshake_ || handshake_->is_done());
  return is_open ? opening_ : std::nullopt;
}

// What is there already must be how an opening begins: strangers are not waited for.
void SessionOpening::take_opening(std::vector<std::byte>& out) {
  constexpr std::size_t kFormatBytes = sizeof Opening::kFormat;
  std::array<std::byte, kFormatBytes> format;
  wire::write(format.data(), Opening::kFormat);
  const std::span there =
      std::as_bytes(std::span(unread_)).first(std::min(unread_.size(), kFormatBytes));
  if (!std::ranges::equal(there, std::span(format).first(there.size()))) {
    append(out, Welcome{.status = WelcomeStatus::kFormat});
    throw OpeningRefused(OpeningRefusal::kFormat,
                         "a connection does not begin with an opening of format " +
                             std::to_string(Opening::kFormat >> 32U));
  }
  if (unread_.size() < Opening::kBytes) return;
  opening_ = read_opening(std::as_bytes(std::span(unread_)).data());
  unread_.erase(unread_.begin(), unread_.begin() + Opening::kBytes);
  if (!secret_) return;
  append(out, Welcome{.status = WelcomeStatus::kProve});
  net::Handshake::Bytes challenge;
  handshake_.emplace(
      *secret_, [](const net::Identity&) { return std::string(); }, challenge,
      net::Purpose::kBatches);
  append(out, challenge);
}

void SessionOpening::take_proof(std::vector<std::byte>& out) {
  net::Handshake::Bytes answer;
  handshake_->receive(unread_, answer);
  append(out, answer);
}

}  // namespace turntable::shadowfax
