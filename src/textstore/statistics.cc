#include "textstore/statistics.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <charconv>
#include <cstring>
#include <sstream>
#include <string_view>
#include <utility>

#include "common/command_error.h"
#include "common/unique_fd.h"

namespace turntable::textstore {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20U;  // of an answer

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
      throw bad_argument("\"socket\" is " + server.socket + "; expected at most " +
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
    throw bad_argument("\"address\" is \"" + server.address + "\"; expected an IPv4 address");
  }
  std::memcpy(&endpoint.storage, &address, sizeof(address));
  endpoint.size = sizeof(address);
  return endpoint;
}

// Empty: nobody listens there.
UniqueFd connect_to(const ServerAddress& server, Deadline deadline) {
  const Endpoint endpoint = endpoint_of(server);
  UniqueFd socket(
      ::socket(endpoint.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (::connect(socket.get(), endpoint.get(), endpoint.size) == 0) return socket;
  if (errno != EINPROGRESS || !wait_for(socket.get(), POLLOUT, deadline)) return {};
  int error = 0;
  socklen_t size = sizeof(error);
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error == 0 ? std::move(socket) : UniqueFd();
}

// Empty where is_whole() did not say so of what came until the deadline.
template <typename IsWhole>
std::string answer_to(std::string_view question, const ServerAddress& server, Deadline deadline,
                      const IsWhole& is_whole) {
  const UniqueFd socket = connect_to(server, deadline);
  if (!socket || ::send(socket.get(), question.data(), question.size(), MSG_NOSIGNAL) !=
                     static_cast<ssize_t>(question.size()))
    return {};
  std::string answer;
  std::array<char, 4096> chunk{};
  while (!is_whole(answer)) {
    if (answer.size() > kMostBytes || !wait_for(socket.get(), POLLIN, deadline)) return {};
    const ssize_t got = ::recv(socket.get(), chunk.data(), chunk.size(), 0);
    if (got <= 0) return {};
    answer.append(chunk.data(), static_cast<std::size_t>(got));
  }
  return answer;
}

void trim(std::string& line) {
  if (line.ends_with('\r')) line.pop_back();
}

// "$BYTES", the text of so many, and a line's end.
bool is_whole_string(std::string_view answer) {
  const std::size_t line = answer.find("\r\n");
  if (!answer.starts_with('$') || line == std::string_view::npos) return false;
  std::size_t bytes = 0;
  std::from_chars(answer.data() + 1, answer.data() + line, bytes);
  constexpr std::size_t kEnds = 4;  // of both lines
  return answer.size() >= line + kEnds + bytes;
}

}  // namespace

std::string ServerAddress::text() const {
  return socket.empty() ? address + ":" + std::to_string(port) : socket;
}

// "STAT name value", and END.
Statistics memcached_statistics(const ServerAddress& server, Deadline deadline) {
  std::istringstream lines(answer_to("stats\r\n", server, deadline, [](std::string_view answer) {
    return answer.ends_with("END\r\n");
  }));
  Statistics statistics;
  for (std::string word, name, value; lines >> word >> name;) {
    if (word != "STAT") break;
    std::getline(lines >> std::ws, value);
    trim(value);
    statistics[name] = value;
  }
  return statistics;
}

// "name:value", and lines of other kinds.
Statistics redis_statistics(const ServerAddress& server, Deadline deadline) {
  std::istringstream lines(answer_to("INFO server\r\n", server, deadline, is_whole_string));
  Statistics statistics;
  for (std::string line; std::getline(lines, line);) {
    trim(line);
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos) statistics[line.substr(0, colon)] = line.substr(colon + 1);
  }
  return statistics;
}

}  // namespace turntable::textstore
