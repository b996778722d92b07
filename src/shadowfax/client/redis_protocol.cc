// Redis's protocol, RESP 2: a command is an array of strings, each behind a line with its length.
#include "shadowfax/client/text_parsing.h"
#include "shadowfax/client/text_protocol.h"

namespace turntable::shadowfax {
namespace {

constexpr std::string_view kRedis = "Redis";

void append_bulk(std::string& out, std::uint64_t number) {
  std::string digits;
  append_number(digits, number);
  out.push_back('$');
  append_number(out, digits.size());
  out.append(kLineEnd).append(digits).append(kLineEnd);
}

ReplyStatus status_of_error(std::string_view line) {
  return line.starts_with("-OOM ") ? ReplyStatus::kNoSpace : ReplyStatus::kIoError;
}

std::optional<TextAnswer> read_string(std::string_view line, std::string_view text) {
  const auto bytes = number_of<std::int64_t>(line.substr(1));
  if (bytes == -1) {
    return TextAnswer{.bytes = line.size() + kLineEnd.size(), .status = ReplyStatus::kNotFound};
  }
  if (!bytes || *bytes < 0 || *bytes > static_cast<std::int64_t>(TextProtocol::kMostValueBytes))
    throw no_answer(kRedis, Opcode::kRead, line);
  return read_value(kRedis, line.size(), static_cast<std::size_t>(*bytes), text);
}

}  // namespace

void RedisProtocol::write(const Request& request, std::string& out) const {
  switch (request.opcode) {
    case Opcode::kRead:
      out.append("*2\r\n$3\r\nGET\r\n");
      append_bulk(out, request.key);
      return;
    case Opcode::kUpsert:
      out.append("*3\r\n$3\r\nSET\r\n");
      append_bulk(out, request.key);
      append_bulk(out, request.value);
      return;
    case Opcode::kAdd:
      out.append(request.value == 1 ? "*2\r\n$4\r\nINCR\r\n" : "*3\r\n$6\r\nINCRBY\r\n");
      append_bulk(out, request.key);
      if (request.value != 1) append_bulk(out, request.value);
      return;
    case Opcode::kErase:
      break;
  }
  throw std::invalid_argument("Redis is not asked for deletions");
}

std::optional<TextAnswer> RedisProtocol::read(Opcode opcode, std::string_view text) const {
  const auto line = first_line(kRedis, opcode, text);
  if (!line) return std::nullopt;
  const std::size_t bytes = line->size() + kLineEnd.size();
  if (line->starts_with('-')) {
    return TextAnswer{.bytes = bytes, .status = status_of_error(*line), .refusal = line->substr(1)};
  }
  if (opcode == Opcode::kRead && line->starts_with('$')) return read_string(*line, text);
  if (opcode == Opcode::kUpsert && *line == "+OK") return TextAnswer{.bytes = bytes};
  if (opcode == Opcode::kAdd && line->starts_with(':')) {
    if (const auto sum = number_of<std::uint64_t>(line->substr(1)))
      return TextAnswer{.bytes = bytes, .value = *sum};
  }
  throw no_answer(kRedis, opcode, *line);
}

}  // namespace turntable::shadowfax
