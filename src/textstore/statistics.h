// What memcached and Redis say of themselves.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "common/deadline.h"

namespace turntable::textstore {

struct ServerAddress {
  std::string address;  // IPv4, with `port`
  std::uint16_t port = 0;
  std::string socket;  // of the file system, instead of both

  std::string text() const;
  bool operator==(const ServerAddress&) const = default;
};

using Statistics = std::map<std::string, std::string>;

// `stats` of memcached, `INFO server` of Redis. Empty: nobody listens there, or there was no whole
// answer until the deadline. Throw CommandError for an address that is none.
Statistics memcached_statistics(const ServerAddress& server, Deadline deadline);
Statistics redis_statistics(const ServerAddress& server, Deadline deadline);

}  // namespace turntable::textstore
