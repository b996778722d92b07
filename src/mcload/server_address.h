// Where a memcached listens, and connections to it.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/unique_fd.h"

namespace turntable::mcload {

class ServerAddress {
 public:
  static constexpr std::uint16_t kDefaultPort = 11211;

  // {"address": "198.18.2.21", "port": 11211} or {"socket": "/path"}; `where` begins the messages
  // of CommandError.
  static ServerAddress from_json(const std::string& where, const nlohmann::json& server);
  // "host", "host:port", "[IPv6 address]:port" or "/path"; text() is one of these, too. Throws
  // std::invalid_argument.
  static ServerAddress parse(const std::string& text);

  // Of a name that has IPv4 addresses the first of these. Throws std::invalid_argument if the name
  // is unknown or the path too long.
  static ServerAddress tcp(const std::string& host, std::uint16_t port);
  static ServerAddress unix_socket(const std::string& path);

  const std::string& text() const noexcept { return text_; }
  bool is_tcp() const noexcept { return address_.ss_family != AF_UNIX; }

  // A socket that does not block; its connection may not be there yet. Invalid with errno set if
  // it cannot be.
  UniqueFd begin_connect(bool no_delay) const noexcept;
  // Waits for the connection until the deadline (CLOCK_MONOTONIC); throws CommandError.
  UniqueFd connect(const std::string& where, std::int64_t deadline_ns, bool no_delay = true) const;
  // Listens; throws std::system_error. A socket file that nobody listens at is replaced.
  UniqueFd listen() const;

 private:
  std::string text_;
  sockaddr_storage address_{};
  socklen_t length_ = 0;
};

}  // namespace turntable::mcload
