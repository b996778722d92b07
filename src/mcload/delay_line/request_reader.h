// Requests of memcached's protocols, as far as a server in tests needs them, from a stream of bytes
// that may be cut anywhere. The first byte of a connection says which protocol it speaks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace turntable::mcload {

struct ServerRequest {
  enum class Kind : std::uint8_t { kGet, kSet, kVersion, kStats, kStatsReset, kQuit, kUnknown };

  Kind kind = Kind::kUnknown;
  bool is_binary = false;
  std::string_view key;           // until the reader goes on
  std::uint32_t value_bytes = 0;  // of a SET
  std::uint8_t opcode = 0;        // binary
  std::uint32_t opaque = 0;
};

class RequestReader {
 public:
  using Take = std::function<void(const ServerRequest& request)>;

  // False: this is no request of memcached.
  bool feed(std::span<const char> bytes, const Take& take);

 private:
  std::size_t one(std::string_view bytes, const Take& take);
  std::size_t one_line(std::string_view bytes, const Take& take);
  std::size_t one_binary(std::string_view bytes, const Take& take);

  std::string held_;           // the beginning of a request
  std::uint64_t to_skip_ = 0;  // of a value, which is not kept
  bool is_broken_ = false;
};

}  // namespace turntable::mcload
