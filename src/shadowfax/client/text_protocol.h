// How memcached and Redis are asked for what Shadowfax's clients ask for, and what they answer:
// each request is one command, and has one answer.
//
//   request         memcached               Redis (RESP)         answers
//   read            mg KEY v                GET KEY              VA 8, $8 and the value; EN, $-1
//   upsert          set KEY 0 0 8           SET KEY              STORED, +OK
//   addition        incr KEY DELTA          INCR or INCRBY       the sum; NOT_FOUND (Redis: none)
//
// Keys and values are numbers, written in decimal. memcached adds in place as long as the digits
// fit, so its values have blanks behind them, up to 8 bytes, which it skips; Redis keeps numbers as
// 8 bytes itself. An addition to a key that is not there changes nothing in memcached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "shadowfax/wire.h"

namespace turntable::shadowfax {

struct TextAnswer {
  std::size_t bytes = 0;  // that it takes
  ReplyStatus status = ReplyStatus::kOk;
  std::uint64_t value = 0;  // of a read, or the sum of an addition
  std::string_view refusal =
      {};  // the server's words where it is an error: the request was not done
};

class TextProtocol {
 public:
  static constexpr std::size_t kMostLineBytes = 2'048;  // longer ones are no answer
  static constexpr std::size_t kMostValueBytes = 65'536;

  virtual ~TextProtocol() = default;
  virtual std::string_view name() const noexcept = 0;

  // Appends the command. Throws std::invalid_argument for a request that the store has not.
  virtual void write(const Request& request, std::string& out) const = 0;

  // Reads the answer to a request of this kind from the front of what has come; `text` may be cut
  // anywhere. Nothing: more is to come. Throws SessionError for what is no answer to it, after
  // which nothing can be read any more.
  virtual std::optional<TextAnswer> read(Opcode opcode, std::string_view text) const = 0;
};

class MemcachedProtocol final : public TextProtocol {
 public:
  std::string_view name() const noexcept override { return "memcached"; }
  void write(const Request& request, std::string& out) const override;
  std::optional<TextAnswer> read(Opcode opcode, std::string_view text) const override;
};

class RedisProtocol final : public TextProtocol {
 public:
  std::string_view name() const noexcept override { return "Redis"; }
  void write(const Request& request, std::string& out) const override;
  std::optional<TextAnswer> read(Opcode opcode, std::string_view text) const override;
};

}  // namespace turntable::shadowfax
