#include "swan/memcached_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstring>
#include <sstream>
#include <string_view>

#include "common/command_error.h"

namespace turntable::swan {
namespace {

constexpr std::string_view kAsk = "stats\r\n";
constexpr std::string_view kEnd = "END\r\n";

bool wait_for(int fd, short events, Deadline deadline) {
  pollfd polled{fd, events, 0};
  return ::poll(&polled, 1, deadline.poll_timeout_ms()) == 1;
}

struct Endpoint {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

Endpoint endpoint_of(const ServerAddress& server) {
  Endpoint endpoint;
  if (!server.socket.empty()) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (server.socket.size() >= sizeof(address.sun_path)) {
      throw bad_argument("memcached: \"socket\" is " + server.socket + "; expected at most " +
                         std::to_string(sizeof(address.sun_path) - 1) + " characters");
    }
    std::memcpy(address.sun_path, server.socket.c_str(), server.socket.size() + 1);
    std::memcpy(&endpoint.storage, &address, sizeof(address));
    endpoint.size = sizeof(address);
    return endpoint;
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(server.port);
  if (::inet_pton(AF_INET, server.address.c_str(), &address.sin_addr) != 1) {
    throw bad_argument("memcached: \"address\" is \"" + server.address +
                       "\"; expected an IPv4 address");
  }
  std::memcpy(&endpoint.storage, &address, sizeof(address));
  endpoint.size = sizeof(address);
  return endpoint;
}

}  // namespace

std::string ServerAddress::text() const {
  return socket.empty() ? address + ":" + std::to_string(port) : socket;
}

MemcachedClient MemcachedClient::connect(const ServerAddress& server, Deadline deadline) {
  const Endpoint endpoint = endpoint_of(server);
  MemcachedClient client;
  UniqueFd socket(
      ::socket(endpoint.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (::connect(socket.get(), endpoint.get(), endpoint.size) != 0) {
    if (errno != EINPROGRESS || !wait_for(socket.get(), POLLOUT, deadline)) return client;
    int error = 0;
    socklen_t size = sizeof(error);
    ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return client;
  }
  client.socket_ = std::move(socket);
  return client;
}

MemcachedStatistics MemcachedClient::statistics(Deadline deadline) {
  MemcachedStatistics statistics;
  if (::send(socket_.get(), kAsk.data(), kAsk.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(kAsk.size()))
    return statistics;
  std::string answer;
  std::array<char, 4096> chunk{};
  while (!answer.ends_with(kEnd)) {
    if (!wait_for(socket_.get(), POLLIN, deadline)) return statistics;
    const ssize_t got = ::recv(socket_.get(), chunk.data(), chunk.size(), 0);
    if (got <= 0) return statistics;
    answer.append(chunk.data(), static_cast<std::size_t>(got));
  }
  std::istringstream lines(answer);
  for (std::string word, name, value; lines >> word >> name;) {
    if (word != "STAT") break;
    std::getline(lines >> std::ws, value);
    if (value.ends_with('\r')) value.pop_back();
    statistics[name] = value;
  }
  return statistics;
}

}  // namespace turntable::swan
