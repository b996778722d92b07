// The parser's view of a packet, and the buffer a deparser writes its headers to.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

namespace turntable::dataplane {

// Bits of parser_err, with the values of tna.p4.
enum ParserError : std::uint16_t {
  kParserOk = 0x0000,
  kParserNoMatch = 0x0001,        // no case of a select matched
  kParserPartialHeader = 0x0002,  // the packet ended inside an extract, advance or lookahead
  kParserTimeout = 0x0008,        // too many states: a loop that does not end
  kParserChecksum = 0x1000,  // `verify` failed (the ASIC has no error values of the program's own)
};

// What a parser returns for `transition reject`: no error. As in the Tofino compiler, it ends the
// parser (a subparser's caller too), and the packet goes on with what was parsed.
inline constexpr std::uint16_t kParserRejected = 0x8000;

// parser_err, from what a parser returned.
constexpr std::uint16_t parser_error_of(std::uint16_t returned) {
  return returned == kParserRejected ? std::uint16_t{kParserOk} : returned;
}

// A bound on the states one packet may pass; only parsers with a cycle count them.
inline constexpr int kMaxParserStates = 256;

class PacketReader {
 public:
  PacketReader(const std::uint8_t* begin, const std::uint8_t* end) : cursor_(begin), end_(end) {}

  bool has(std::uint32_t bytes) const noexcept {
    return static_cast<std::size_t>(end_ - cursor_) >= bytes;
  }
  // Precondition for both: has(bytes).
  const std::uint8_t* peek() const noexcept { return cursor_; }
  const std::uint8_t* take(std::uint32_t bytes) noexcept {
    const std::uint8_t* taken = cursor_;
    cursor_ += bytes;
    return taken;
  }
  // False, and nothing taken, if that many whole bytes are not there.
  bool advance_bits(std::uint32_t bits) noexcept {
    if (bits % 8 != 0 || !has(bits / 8)) return false;
    take(bits / 8);
    return true;
  }
  // The unparsed rest of the packet: its payload.
  const std::uint8_t* position() const noexcept { return cursor_; }
  std::uint32_t remaining() const noexcept { return static_cast<std::uint32_t>(end_ - cursor_); }

 private:
  const std::uint8_t* cursor_;
  const std::uint8_t* end_;
};

// Collects emitted headers. Capacity is the sum of everything the deparser could emit, known to the
// translator.
template <std::uint32_t Capacity>
class PacketWriter {
 public:
  std::uint8_t* append(std::uint32_t bytes) noexcept {
    std::uint8_t* place = bytes_.data() + length_;
    length_ += bytes;
    return place;
  }
  const std::uint8_t* data() const noexcept { return bytes_.data(); }
  std::uint32_t length() const noexcept { return length_; }

 private:
  std::uint32_t length_ = 0;
  std::array<std::uint8_t, Capacity + 1> bytes_;  // +1: a deparser may emit nothing at all
};

}  // namespace turntable::dataplane
