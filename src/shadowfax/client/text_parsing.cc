#include "shadowfax/client/text_parsing.h"

#include <algorithm>

namespace turntable::shadowfax {
namespace {

constexpr std::size_t kMostShown = 60;

std::string printed(std::string_view text) {
  std::string shown(text.substr(0, std::min(text.find('\r'), kMostShown)));
  for (char& each : shown)
    if (each < ' ' || each > '~') each = '?';
  return shown;
}

const char* word_of(Opcode opcode) noexcept {
  switch (opcode) {
    case Opcode::kRead:
      return "a read";
    case Opcode::kUpsert:
      return "an upsert";
    case Opcode::kAdd:
      return "an addition";
    case Opcode::kErase:
      break;
  }
  return "a deletion";
}

}  // namespace

SessionError no_answer(std::string_view server, Opcode opcode, std::string_view text) {
  return SessionError(std::string(server) + " answers \"" + printed(text) +
                      "\", which is no answer to " + word_of(opcode));
}

std::optional<std::string_view> first_line(std::string_view server, Opcode opcode,
                                           std::string_view text) {
  const std::size_t end =
      text.substr(0, TextProtocol::kMostLineBytes + kLineEnd.size()).find(kLineEnd);
  if (end != std::string_view::npos) return text.substr(0, end);
  if (text.size() >= TextProtocol::kMostLineBytes + kLineEnd.size())
    throw no_answer(server, opcode, text);
  return std::nullopt;
}

std::optional<TextAnswer> read_value(std::string_view server, std::size_t line_bytes,
                                     std::size_t value_bytes, std::string_view text) {
  const std::size_t begin = line_bytes + kLineEnd.size();
  const std::size_t bytes = begin + value_bytes + kLineEnd.size();
  if (text.size() < bytes) return std::nullopt;
  if (text.substr(begin + value_bytes, kLineEnd.size()) != kLineEnd)
    throw no_answer(server, Opcode::kRead, text.substr(begin));
  const auto value = stored_number(text.substr(begin, value_bytes));
  return TextAnswer{.bytes = bytes,
                    .status = value ? ReplyStatus::kOk : ReplyStatus::kWrongSize,
                    .value = value.value_or(0)};
}

}  // namespace turntable::shadowfax
