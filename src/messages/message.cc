#include "messages/message.h"

namespace turntable::messages {

void FrameReader::append(std::span<const std::uint8_t> bytes) {
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin_));
  begin_ = 0;
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

std::optional<Frame> FrameReader::next() {
  const auto rest = std::span(bytes_).subspan(begin_);
  ByteReader from(rest);
  const auto length = from.number<std::uint32_t>();
  if (from.truncated()) return std::nullopt;
  if (length > kMaxMessageBytes) {
    throw MessageError("a message of " + std::to_string(length) + " bytes; expected at most " +
                       std::to_string(kMaxMessageBytes));
  }
  if (from.left() < length) return std::nullopt;
  begin_ += kLengthBytes + length;
  return rest.subspan(kLengthBytes, length);
}

namespace detail {

void finish(std::size_t begin, const char* type, std::vector<std::uint8_t>& out) {
  const std::size_t length = out.size() - begin - kLengthBytes;
  if (length > kMaxMessageBytes) {
    out.resize(begin);
    throw MessageError(std::string(type) + " of " + std::to_string(length) + " bytes; at most " +
                       std::to_string(kMaxMessageBytes) + " can be sent");
  }
  store_big_endian(static_cast<std::uint32_t>(length), &out[begin]);
}

void unknown_type(std::uint8_t type) {
  throw MessageError("type " + std::to_string(type) + " is unknown; is the other side of the " +
                     "same build?");
}

void check_end(const ByteReader& body) {
  if (body.truncated()) throw MessageError("a message ends early");
  if (body.left() != 0) throw MessageError("bytes follow the end of a message");
}

}  // namespace detail
}  // namespace turntable::messages
