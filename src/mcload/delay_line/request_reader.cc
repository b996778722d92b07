#include "mcload/delay_line/request_reader.h"

#include <algorithm>
#include <charconv>

namespace turntable::mcload {
namespace {

constexpr std::size_t kMaxLine = 2048;
constexpr std::size_t kHeaderBytes = 24;
constexpr char kMagic = '\x80';
constexpr std::uint32_t kMaxBody = 128 << 20;

std::uint32_t number_at(std::string_view bytes, std::size_t at, unsigned size) {
  std::uint32_t number = 0;
  for (unsigned i = 0; i < size; ++i)
    number = number << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return number;
}

// The word at `at`, which is moved behind it.
std::string_view word(std::string_view line, std::size_t& at) {
  at = std::min(line.find_first_not_of(' ', at), line.size());
  const std::size_t end = std::min(line.find(' ', at), line.size());
  const std::string_view found = line.substr(at, end - at);
  at = end;
  return found;
}

}  // namespace

bool RequestReader::feed(std::span<const char> bytes, const Take& take) {
  const auto skipped = std::min<std::uint64_t>(to_skip_, bytes.size());
  to_skip_ -= skipped;
  bytes = bytes.subspan(skipped);
  if (bytes.empty()) return true;
  held_.append(bytes.data(), bytes.size());
  std::size_t used = 0;
  while (used < held_.size() && !is_broken_) {
    const std::size_t more = one(std::string_view(held_).substr(used), take);
    if (more == 0) break;
    used += more;
    const auto skip = std::min<std::uint64_t>(to_skip_, held_.size() - used);
    to_skip_ -= skip;
    used += skip;
  }
  held_.erase(0, used);
  return !is_broken_;
}

// The bytes of a request that is complete but for its value; 0: more are needed.
std::size_t RequestReader::one(std::string_view bytes, const Take& take) {
  return bytes.front() == kMagic ? one_binary(bytes, take) : one_line(bytes, take);
}

std::size_t RequestReader::one_line(std::string_view bytes, const Take& take) {
  const std::size_t end = bytes.find("\r\n");
  if (end == std::string_view::npos) {
    is_broken_ = bytes.size() > kMaxLine;
    return 0;
  }
  using Kind = ServerRequest::Kind;
  const std::string_view line = bytes.substr(0, end);
  std::size_t at = 0;
  const std::string_view command = word(line, at);
  ServerRequest request{.key = word(line, at)};
  if (command == "get") request.kind = Kind::kGet;
  if (command == "version") request.kind = Kind::kVersion;
  if (command == "stats") request.kind = request.key == "reset" ? Kind::kStatsReset : Kind::kStats;
  if (command == "quit") request.kind = Kind::kQuit;
  if (command == "set") {
    word(line, at);
    word(line, at);
    const std::string_view size = word(line, at);
    const auto read = std::from_chars(size.data(), size.data() + size.size(), request.value_bytes);
    is_broken_ = read.ec != std::errc() || size.empty() || request.value_bytes > kMaxBody;
    if (is_broken_) return 0;
    request.kind = Kind::kSet;
    to_skip_ = request.value_bytes + 2;
  }
  take(request);
  return end + 2;
}

std::size_t RequestReader::one_binary(std::string_view bytes, const Take& take) {
  if (bytes.size() < kHeaderBytes) return 0;
  const std::uint32_t key_bytes = number_at(bytes, 2, 2);
  const std::uint32_t extras = number_at(bytes, 4, 1);
  const std::uint32_t body = number_at(bytes, 8, 4);
  is_broken_ = extras + key_bytes > body || body > kMaxBody;
  if (is_broken_ || bytes.size() < kHeaderBytes + extras + key_bytes) return 0;
  ServerRequest request{.is_binary = true,
                        .key = bytes.substr(kHeaderBytes + extras, key_bytes),
                        .value_bytes = body - extras - key_bytes,
                        .opcode = static_cast<std::uint8_t>(bytes[1]),
                        .opaque = number_at(bytes, 12, 4)};
  if (request.opcode == 0x00) request.kind = ServerRequest::Kind::kGet;
  if (request.opcode == 0x01) request.kind = ServerRequest::Kind::kSet;
  to_skip_ = request.value_bytes;
  take(request);
  return kHeaderBytes + extras + key_bytes;
}

}  // namespace turntable::mcload
