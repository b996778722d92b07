// Requests and answers between the nodes of a run, and their bytes (all big-endian):
//
//   length 32 of what follows; type 8, with bit 7 set in an answer; id 32; body
//
// Whoever asks chooses the id; the answer has the same type and id. Types and body are the
// system's: it brings a struct that is a Message.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "common/bytes.h"

namespace turntable::messages {

// What a system exchanges, in the system's namespace:
//
//   enum class Type : std::uint8_t { kHello = 1, kLookup = 2 };  // below 128
//   struct Message {
//     Type type{};
//     bool is_answer = false;
//     std::uint32_t id = 0;
//     ...
//   };
//   const char* name_of(Type type);                       // nullptr: there is no such type
//   bool is_refusal(const Message& answer);               // a greeting that it answers is repeated
//   void write_body(const Message& message, ByteWriter& to);
//   void read_body(ByteReader& from, Message& message);   // may throw MessageError
template <typename M>
concept Message = std::copyable<M> && std::default_initializable<M> &&
                      std::is_enum_v<decltype(M::type)> && sizeof(M::type) == 1 &&
                  requires(const M& sent, M& received, ByteWriter& to, ByteReader& from) {
  { received.is_answer } -> std::same_as<bool&>;
  { received.id } -> std::same_as<std::uint32_t&>;
  { name_of(sent.type) } -> std::same_as<const char*>;
  { is_refusal(sent) } -> std::same_as<bool>;
  write_body(sent, to);
  read_body(from, received);
};

inline constexpr std::size_t kMaxMessageBytes = std::size_t{64} << 20;  // without the length
inline constexpr std::uint8_t kAnswerBit = 0x80;
// In front of the body.
inline constexpr std::size_t kLengthBytes = 4;
inline constexpr std::size_t kHeaderBytes = kLengthBytes + 1 + 4;

// The bytes that came are no message, so that the connection is of no more use; or a message is too
// long to be sent.
class MessageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What follows the length of one message.
using Frame = std::span<const std::uint8_t>;

// Cuts the bytes of a connection into frames.
class FrameReader {
 public:
  void append(std::span<const std::uint8_t> bytes);

  // The next whole frame, valid until append(). Throws MessageError for a length over the limit.
  std::optional<Frame> next();

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t begin_ = 0;  // of what next() has not taken
};

namespace detail {

// Of encode() and decode(), what is the same for all messages.
void finish(std::size_t begin, const char* type, std::vector<std::uint8_t>& out);
[[noreturn]] void unknown_type(std::uint8_t type);
void check_end(const ByteReader& body);

}  // namespace detail

// Appends the bytes of `message`. Throws MessageError, and appends nothing, if there are more than
// kMaxMessageBytes.
template <Message M>
void encode(const M& message, std::vector<std::uint8_t>& out) {
  const std::size_t begin = out.size();
  ByteWriter to(out);
  to.number(std::uint32_t{0});  // the length, once it is known
  const auto type = static_cast<std::uint8_t>(message.type);
  to.number(static_cast<std::uint8_t>(type | (message.is_answer ? kAnswerBit : 0)));
  to.number(message.id);
  write_body(message, to);
  detail::finish(begin, name_of(message.type), out);
}

// Throws MessageError for an unknown type, and for a body that ends early or has bytes left.
template <Message M>
M decode(Frame frame) {
  using Type = decltype(M::type);
  ByteReader from(frame);
  M message{};
  const auto type = from.number<std::uint8_t>();
  message.type = static_cast<Type>(type & ~kAnswerBit);
  message.is_answer = (type & kAnswerBit) != 0;
  if (name_of(message.type) == nullptr) detail::unknown_type(type);
  message.id = from.number<std::uint32_t>();
  read_body(from, message);
  detail::check_end(from);
  return message;
}

}  // namespace turntable::messages
