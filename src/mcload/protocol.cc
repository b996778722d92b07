#include "mcload/protocol.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <stdexcept>

namespace turntable::mcload {
namespace {

// https://docs.memcached.org/protocols/binary/
constexpr std::uint8_t kRequestMagic = 0x80;
constexpr std::uint8_t kResponseMagic = 0x81;
constexpr std::uint8_t kGet = 0x00;
constexpr std::uint8_t kSet = 0x01;
constexpr std::size_t kHeaderBytes = 24;
constexpr std::uint8_t kSetExtras = 8;  // flags and expiry
constexpr std::uint32_t kMaxBody = 128 << 20;

constexpr std::string_view kStored = "STORED\r\n";
constexpr std::string_view kValue = "VALUE ";
constexpr std::string_view kValueEnd = "\r\nEND\r\n";  // behind a value

enum class BinaryStatus : std::uint16_t {
  kOk = 0x0000,
  kNotFound = 0x0001,
  kTooLarge = 0x0003,
  kInvalid = 0x0004,
  kNotStored = 0x0005,
  kUnknownCommand = 0x0081,
  kOutOfMemory = 0x0082,
};

char* append(char* out, std::string_view text) noexcept {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

char* append_key(char* out, std::string_view key) noexcept {
  return out == key.data() ? out + key.size() : append(out, key);
}

// At `at`. The compiler knows the length, and calls nothing.
template <const std::string_view& kBeginning>
bool begins_with(std::string_view text, std::size_t at) noexcept {
  return at + kBeginning.size() <= text.size() &&
         std::memcmp(text.data() + at, kBeginning.data(), kBeginning.size()) == 0;
}

// The number at `at`, which is moved behind it; std::from_chars takes five times as long. Nothing
// where there is none, or one that may not fit.
std::optional<std::uint32_t> skip_number(std::string_view text, std::size_t& at) noexcept {
  constexpr std::size_t kMostDigits = 9;
  const std::size_t begin = at;
  std::uint32_t number = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
    number = 10 * number + static_cast<std::uint32_t>(text[at] - '0');
  if (at == begin || at - begin > kMostDigits) return std::nullopt;
  return number;
}

void put(char* out, std::uint64_t number, unsigned bytes) noexcept {
  for (unsigned i = bytes; i-- > 0; number >>= 8) out[i] = static_cast<char>(number & 0xff);
}

std::uint64_t get(const char* in, unsigned bytes) noexcept {
  std::uint64_t number = 0;
  for (unsigned i = 0; i < bytes; ++i) number = number << 8 | static_cast<std::uint8_t>(in[i]);
  return number;
}

std::size_t write_binary(std::uint8_t opcode, std::uint8_t extras, std::string_view key,
                         std::uint32_t value_bytes, std::uint32_t opaque, char* out) noexcept {
  std::memset(out, 0, kHeaderBytes + extras);
  put(out, kRequestMagic, 1);
  put(out + 1, opcode, 1);
  put(out + 2, key.size(), 2);
  put(out + 4, extras, 1);
  put(out + 8, extras + key.size() + value_bytes, 4);
  put(out + 12, opaque, 4);
  append_key(out + kHeaderBytes + extras, key);
  return kHeaderBytes + extras + key.size();
}

Outcome outcome_of(std::uint16_t status, std::uint8_t opcode) noexcept {
  switch (static_cast<BinaryStatus>(status)) {
    case BinaryStatus::kOk:
      return opcode == kGet ? Outcome::kHit : Outcome::kStored;
    case BinaryStatus::kNotFound:
      return Outcome::kMiss;
    case BinaryStatus::kNotStored:
      return Outcome::kNotStored;
    case BinaryStatus::kOutOfMemory:
    case BinaryStatus::kTooLarge:
      return Outcome::kOutOfMemory;
    case BinaryStatus::kInvalid:
      return Outcome::kClientError;
    case BinaryStatus::kUnknownCommand:
      return Outcome::kRefused;
    default:
      return Outcome::kServerError;
  }
}

// Errors answer either kind of request.
bool answers(Outcome outcome, Awaited::Kind kind) noexcept {
  switch (outcome) {
    case Outcome::kHit:
    case Outcome::kMiss:
      return kind == Awaited::Kind::kGet;
    case Outcome::kStored:
    case Outcome::kNotStored:
      return kind == Awaited::Kind::kSet;
    default:
      return kind != Awaited::Kind::kNothing;
  }
}

}  // namespace

Protocol protocol_of(std::string_view name) {
  if (name == "ascii") return Protocol::kAscii;
  if (name == "binary") return Protocol::kBinary;
  throw std::invalid_argument("protocol \"" + std::string(name) + "\": expected ascii or binary");
}

const char* protocol_name(Protocol protocol) noexcept {
  return protocol == Protocol::kAscii ? "ascii" : "binary";
}

std::size_t write_get(Protocol protocol, std::string_view key, std::uint32_t opaque,
                      char* out) noexcept {
  if (protocol == Protocol::kBinary) return write_binary(kGet, 0, key, 0, opaque, out);
  return static_cast<std::size_t>(append(append_key(append(out, "get "), key), kLineEnd) - out);
}

std::size_t write_set(Protocol protocol, std::string_view key, std::uint32_t value_bytes,
                      std::uint32_t opaque, char* out) noexcept {
  if (protocol == Protocol::kBinary)
    return write_binary(kSet, kSetExtras, key, value_bytes, opaque, out);
  char* end = append(append_key(append(out, "set "), key), " 0 0 ");
  end = std::to_chars(end, out + kMaxHeaderBytes, value_bytes).ptr;
  return static_cast<std::size_t>(append(end, kLineEnd) - out);
}

// True: all is skipped.
bool ReplyReader::skip(std::span<const char>& bytes) noexcept {
  const auto skipped = std::min<std::uint64_t>(to_skip_, bytes.size());
  bytes = bytes.subspan(skipped);
  to_skip_ -= skipped;
  return to_skip_ == 0;
}

// Keeps the beginning of something that was cut.
bool ReplyReader::hold(std::span<const char> bytes) noexcept {
  if (held_bytes_ + bytes.size() > held_.size()) return false;
  std::memcpy(held_.data() + held_bytes_, bytes.data(), bytes.size());
  held_bytes_ += static_cast<std::uint32_t>(bytes.size());
  return true;
}

ReplyReader::Status ReplyReader::break_at(std::string_view text) noexcept {
  // It may be a part of held_ itself.
  const std::size_t size = std::min<std::size_t>(text.size(), 80);
  std::memmove(held_.data(), text.data(), size);
  held_bytes_ = static_cast<std::uint32_t>(size);
  return Status::kBroken;
}

// The usual replies, when all of one is there: it is not looked through by lines. False: it is
// something else, or not complete; nothing is taken.
bool ReplyReader::take_whole(std::span<const char>& bytes, const Awaited& awaited,
                             Reply& reply) const noexcept {
  if (held_bytes_ > 0 || in_value_ || bytes.empty()) return false;
  const std::string_view all(bytes.data(), bytes.size());
  if (awaited.kind == Awaited::Kind::kSet && begins_with<kStored>(all, 0)) {
    reply = {Outcome::kStored, 0};
    bytes = bytes.subspan(kStored.size());
    return true;
  }
  if (awaited.kind != Awaited::Kind::kGet || !begins_with<kValue>(all, 0)) return false;
  if (!all.substr(kValue.size()).starts_with(awaited.key)) return false;
  std::size_t at = kValue.size() + awaited.key.size();
  if (at == all.size() || all[at] != ' ') return false;
  if (!skip_number(all, ++at) || at == all.size() || all[at] != ' ') return false;  // the flags
  const auto value_bytes = skip_number(all, ++at);
  if (!value_bytes || !begins_with<kLineEnd>(all, at)) return false;
  at += kLineEnd.size() + *value_bytes;
  if (!begins_with<kValueEnd>(all, at)) return false;
  reply = {Outcome::kHit, *value_bytes};
  bytes = bytes.subspan(at + kValueEnd.size());
  return true;
}

ReplyReader::Status ReplyReader::next_ascii(std::span<const char>& bytes, const Awaited& awaited,
                                            Reply& reply) noexcept {
  if (take_whole(bytes, awaited, reply)) return Status::kReply;
  while (skip(bytes) && !bytes.empty()) {
    const auto* end = static_cast<const char*>(std::memchr(bytes.data(), '\n', bytes.size()));
    if (end == nullptr) {
      const auto rest = bytes;
      bytes = {};
      return hold(rest) ? Status::kMore : break_at({rest.data(), rest.size()});
    }
    const auto part = bytes.first(static_cast<std::size_t>(end - bytes.data()) + 1);
    bytes = bytes.subspan(part.size());
    std::string_view line(part.data(), part.size());
    if (held_bytes_ > 0) {
      if (!hold(part)) return break_at(line);
      line = {held_.data(), held_bytes_};
      held_bytes_ = 0;
    }
    if (!line.ends_with(kLineEnd)) return break_at(line);
    const Status status = read_line(line.substr(0, line.size() - kLineEnd.size()), awaited, reply);
    if (status == Status::kReply && !answers(reply.outcome, awaited.kind)) return break_at(line);
    if (status != Status::kMore) return status;
  }
  return Status::kMore;
}

ReplyReader::Status ReplyReader::read_line(std::string_view line, const Awaited& awaited,
                                           Reply& reply) noexcept {
  if (in_value_ && !value_ended_) {
    value_ended_ = line.empty();
    return value_ended_ ? Status::kMore : break_at(line);
  }
  if (line == "END") {
    reply = in_value_ ? reply_ : Reply{Outcome::kMiss, 0};
    in_value_ = false;
    return Status::kReply;
  }
  if (in_value_) return break_at(line);
  if (line.starts_with(kValue))
    return read_value_line(line, awaited) ? Status::kMore : break_at(line);
  if (line == "STORED") {
    reply = {Outcome::kStored, 0};
  } else if (line == "NOT_STORED") {
    reply = {Outcome::kNotStored, 0};
  } else if (line.starts_with("SERVER_ERROR out of memory") ||
             line.starts_with("SERVER_ERROR object too large")) {
    reply = {Outcome::kOutOfMemory, 0};
  } else if (line.starts_with("SERVER_ERROR")) {
    reply = {Outcome::kServerError, 0};
  } else if (line.starts_with("CLIENT_ERROR")) {
    reply = {Outcome::kClientError, 0};
  } else if (line == "ERROR") {
    reply = {Outcome::kRefused, 0};
  } else {
    return break_at(line);
  }
  return Status::kReply;
}

// VALUE <key> <flags> <bytes> [<cas>]
bool ReplyReader::read_value_line(std::string_view line, const Awaited& awaited) noexcept {
  const std::size_t key_end = line.find(' ', kValue.size());
  if (key_end == std::string_view::npos || awaited.kind != Awaited::Kind::kGet) return false;
  if (line.substr(kValue.size(), key_end - kValue.size()) != awaited.key) return false;
  const std::size_t at = line.find(' ', key_end + 1);
  if (at == std::string_view::npos) return false;
  const char* const end = line.data() + line.size();
  std::uint32_t value_bytes = 0;
  const auto read = std::from_chars(line.data() + at + 1, end, value_bytes);
  if (read.ec != std::errc() || (read.ptr != end && *read.ptr != ' ')) return false;
  reply_ = {Outcome::kHit, value_bytes};
  to_skip_ = value_bytes;
  in_value_ = true;
  value_ended_ = false;
  return true;
}

ReplyReader::Status ReplyReader::next_binary(std::span<const char>& bytes, const Awaited& awaited,
                                             Reply& reply) noexcept {
  if (!in_body_) {
    if (bytes.empty()) return Status::kMore;
    const std::size_t part = std::min(kHeaderBytes - held_bytes_, bytes.size());
    hold(bytes.first(part));
    bytes = bytes.subspan(part);
    const char* header = held_.data();
    // Of another protocol there may never be as many bytes as a header has.
    if (get(header, 1) != kResponseMagic) return break_at({header, held_bytes_});
    if (held_bytes_ < kHeaderBytes) return Status::kMore;
    held_bytes_ = 0;
    const auto opcode = static_cast<std::uint8_t>(header[1]);
    const auto before_value = get(header + 2, 2) + get(header + 4, 1);  // key and extras
    to_skip_ = get(header + 8, 4);
    reply_.outcome = outcome_of(static_cast<std::uint16_t>(get(header + 6, 2)), opcode);
    const bool is_of_request = opcode == (awaited.kind == Awaited::Kind::kSet ? kSet : kGet) &&
                               get(header + 12, 4) == awaited.opaque &&
                               answers(reply_.outcome, awaited.kind);
    const bool is_reply = before_value <= to_skip_ && to_skip_ <= kMaxBody;
    if (!is_of_request || !is_reply) return break_at({header, kHeaderBytes});
    reply_.value_bytes =
        reply_.outcome == Outcome::kHit ? static_cast<std::uint32_t>(to_skip_ - before_value) : 0;
    in_body_ = true;
  }
  if (!skip(bytes)) return Status::kMore;
  in_body_ = false;
  reply = reply_;
  return Status::kReply;
}

}  // namespace turntable::mcload
