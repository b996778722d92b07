// Pieces that answers in text are made of.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "shadowfax/client/sessions.h"
#include "shadowfax/client/text_protocol.h"

namespace turntable::shadowfax {

inline constexpr std::string_view kLineEnd = "\r\n";

template <std::integral Number>
void append_number(std::string& out, Number number) {
  constexpr std::size_t kMostDigits = 20;
  const std::size_t before = out.size();
  out.resize(before + kMostDigits);
  out.resize(static_cast<std::size_t>(
      std::to_chars(out.data() + before, out.data() + out.size(), number).ptr - out.data()));
}

// Of all of the text, and nothing else.
template <std::integral Number>
std::optional<Number> number_of(std::string_view text) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || behind != end) return std::nullopt;
  return number;
}

// What a stored number reads as: digits, and blanks behind them.
inline std::optional<std::uint64_t> stored_number(std::string_view value) {
  const std::size_t last = value.find_last_not_of(' ');
  return number_of<std::uint64_t>(value.substr(0, last + 1));
}

// For messages: the beginning of what was no answer, without what is not printed.
SessionError no_answer(std::string_view server, Opcode opcode, std::string_view text);

// The first line, without its end. Nothing: it is not whole yet. Throws SessionError where it is
// longer than any.
std::optional<std::string_view> first_line(std::string_view server, Opcode opcode,
                                           std::string_view text);

// A value behind its line: `value_bytes` and a line's end. Nothing: it is not whole yet. Throws
// SessionError where no line ends there.
std::optional<TextAnswer> read_value(std::string_view server, std::size_t line_bytes,
                                     std::size_t value_bytes, std::string_view text);

}  // namespace turntable::shadowfax
