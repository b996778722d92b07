// The messages of a small system: greetings, and questions with a text.
#pragma once

#include "messages/message.h"

namespace turntable::messages::testing {

enum class Type : std::uint8_t { kHello = 0x01, kQuestion = 0x12 };

// Bytes of the body: 1 if it is refused, else 0 (8 bits); length 32 of the text; text.
struct Note {
  Type type{};
  bool is_answer = false;
  std::uint32_t id = 0;
  bool is_refused = false;
  std::string text;

  bool operator==(const Note&) const = default;
};

inline const char* name_of(Type type) {
  return type == Type::kHello ? "HELLO" : type == Type::kQuestion ? "QUESTION" : nullptr;
}

inline bool is_refusal(const Note& answer) {
  return answer.is_refused;
}

inline void write_body(const Note& note, ByteWriter& to) {
  to.number(static_cast<std::uint8_t>(note.is_refused));
  to.number(static_cast<std::uint32_t>(note.text.size()));
  to.bytes(std::span(reinterpret_cast<const std::uint8_t*>(note.text.data()), note.text.size()));
}

inline void read_body(ByteReader& from, Note& note) {
  note.is_refused = from.number<std::uint8_t>() != 0;
  const auto text = from.take(from.number<std::uint32_t>());
  note.text.assign(text.begin(), text.end());
}

static_assert(Message<Note>);

inline Note hello() {
  return {.type = Type::kHello, .text = "it is me"};
}
inline Note question(std::string text = {}) {
  return {.type = Type::kQuestion, .text = std::move(text)};
}
inline Note answer_to(const Note& asked, std::string text = {}) {
  return {.type = asked.type, .is_answer = true, .id = asked.id, .text = std::move(text)};
}
inline Note refusal_of(const Note& asked) {
  return {.type = asked.type, .is_answer = true, .id = asked.id, .is_refused = true, .text = {}};
}

}  // namespace turntable::messages::testing
