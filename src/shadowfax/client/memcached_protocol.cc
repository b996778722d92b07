// memcached's text protocol (doc/protocol.txt of memcached 1.6). `mg` is a third cheaper for the
// server than `get`, `incr` a little cheaper than `ma` (docs/bench.md).
#include "shadowfax/client/text_parsing.h"
#include "shadowfax/client/text_protocol.h"

namespace turntable::shadowfax {
namespace {

constexpr std::string_view kServer = "memcached";
constexpr std::size_t kValueBytes = 8;

// Blanks behind it, so that sums have room.
void append_value(std::string& out, std::uint64_t value) {
  const std::size_t begin = out.size();
  append_number(out, value);
  if (out.size() < begin + kValueBytes) out.append(begin + kValueBytes - out.size(), ' ');
}

bool is_refusal(std::string_view line) {
  return line == "ERROR" || line.starts_with("ERROR ") || line.starts_with("CLIENT_ERROR ") ||
         line.starts_with("SERVER_ERROR ") || line == "NOT_STORED";
}

ReplyStatus status_of_refusal(std::string_view line) {
  return line.starts_with("SERVER_ERROR out of memory") ? ReplyStatus::kNoSpace
                                                        : ReplyStatus::kIoError;
}

// Of a line that begins with "VA ": the bytes of the value, before any flags.
std::optional<std::size_t> value_bytes_of(std::string_view line) {
  const std::string_view behind = line.substr(3);
  const auto bytes = number_of<std::size_t>(behind.substr(0, behind.find(' ')));
  return bytes && *bytes <= TextProtocol::kMostValueBytes ? bytes : std::nullopt;
}

}  // namespace

void MemcachedProtocol::write(const Request& request, std::string& out) const {
  switch (request.opcode) {
    case Opcode::kRead:
      out.append("mg ");
      append_number(out, request.key);
      out.append(" v\r\n");
      return;
    case Opcode::kUpsert: {
      out.append("set ");
      append_number(out, request.key);
      std::string value;
      append_value(value, request.value);
      out.append(" 0 0 ");
      append_number(out, value.size());
      out.append(kLineEnd).append(value).append(kLineEnd);
      return;
    }
    case Opcode::kAdd:
      out.append("incr ");
      append_number(out, request.key);
      out.push_back(' ');
      append_number(out, request.value);
      out.append(kLineEnd);
      return;
    case Opcode::kErase:
      break;
  }
  throw std::invalid_argument("memcached is not asked for deletions");
}

std::optional<TextAnswer> MemcachedProtocol::read(Opcode opcode, std::string_view text) const {
  const auto line = first_line(kServer, opcode, text);
  if (!line) return std::nullopt;
  const std::size_t bytes = line->size() + kLineEnd.size();
  if (is_refusal(*line))
    return TextAnswer{.bytes = bytes, .status = status_of_refusal(*line), .refusal = *line};
  if (opcode == Opcode::kRead) {
    if (*line == "EN") return TextAnswer{.bytes = bytes, .status = ReplyStatus::kNotFound};
    const auto value_bytes = line->starts_with("VA ") ? value_bytes_of(*line) : std::nullopt;
    if (!value_bytes) throw no_answer(kServer, opcode, *line);
    return read_value(kServer, line->size(), *value_bytes, text);
  }
  if (opcode == Opcode::kUpsert && *line == "STORED") return TextAnswer{.bytes = bytes};
  if (opcode == Opcode::kAdd) {
    if (*line == "NOT_FOUND") return TextAnswer{.bytes = bytes, .status = ReplyStatus::kNotFound};
    if (const auto sum = stored_number(*line)) return TextAnswer{.bytes = bytes, .value = *sum};
  }
  throw no_answer(kServer, opcode, *line);
}

}  // namespace turntable::shadowfax
