// What memcached says of itself, in its text protocol.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>

#include "common/deadline.h"
#include "common/unique_fd.h"

namespace turntable::swan {

struct ServerAddress {
  std::string address;  // IPv4, with `port`
  std::uint16_t port = 0;
  std::string socket;  // of the file system, instead of both

  std::string text() const;
  bool operator==(const ServerAddress&) const = default;
};

using MemcachedStatistics = std::map<std::string, std::string>;

class MemcachedClient {
 public:
  // An empty connection: nobody listens there.
  static MemcachedClient connect(const ServerAddress& server, Deadline deadline);

  explicit operator bool() const { return static_cast<bool>(socket_); }
  // `stats`; empty: no answer until the deadline.
  MemcachedStatistics statistics(Deadline deadline);

 private:
  UniqueFd socket_;
};

}  // namespace turntable::swan
