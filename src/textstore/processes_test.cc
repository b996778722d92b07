// The stores that Debian has, started and ended.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>

#include "common/command_error.h"
#include "common/errno_error.h"
#include "common/scratch_directory.h"
#include "common/unique_fd.h"
#include "textstore/memcached_process.h"
#include "textstore/redis_process.h"

namespace turntable::textstore {
namespace {

constexpr double kSeconds = 10;

// A port that is free, or that somebody has for as long as the socket lives.
struct Port {
  UniqueFd socket;
  std::uint16_t number = 0;
};

Port taken_port() {
  Port port{.socket = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  if (::bind(port.socket.get(), reinterpret_cast<const sockaddr*>(&at), size) != 0 ||
      ::getsockname(port.socket.get(), reinterpret_cast<sockaddr*>(&at), &size) != 0)
    throw errno_error("cannot take a port");
  port.number = ntohs(at.sin_port);
  return port;
}

std::uint16_t free_port() {
  return taken_port().number;
}

class Processes : public ::testing::Test {
 protected:
  std::filesystem::path log() const { return directory_.path() / "log"; }

  std::string message_of_redis_at(std::uint16_t port) {
    try {
      const RedisProcess redis(children_, {.address = "127.0.0.1", .port = port}, log());
    } catch (const CommandError& error) {
      return error.what();
    }
    return "";
  }

  ScratchDirectory directory_;
  node::Children children_;
};

TEST_F(Processes, MemcachedAnswersWithWhatItWasAskedFor) {
  const std::uint16_t port = free_port();
  const MemcachedProcess memcached(
      children_,
      {.requests_per_event = 1926, .server = {.address = "127.0.0.1", .port = port, .socket = {}}},
      log());
  const Statistics found = memcached.statistics(Deadline::after_seconds(kSeconds));
  EXPECT_EQ(found.at("pid"), std::to_string(memcached.pid()));
  EXPECT_FALSE(found.at("version").empty());
  const auto& words = memcached.command();
  const auto option = std::find(words.begin(), words.end(), "-R");
  ASSERT_NE(option, words.end());
  EXPECT_EQ(*std::next(option), "1926");
}

TEST_F(Processes, RedisAnswersAndEndsWithItsObject) {
  const ServerAddress at{.address = "127.0.0.1", .port = free_port(), .socket = {}};
  {
    const RedisProcess redis(children_, {.address = at.address, .port = at.port}, log());
    const Statistics found = redis.statistics(Deadline::after_seconds(kSeconds));
    EXPECT_EQ(found.at("process_id"), std::to_string(redis.pid()));
    EXPECT_FALSE(found.at("redis_version").empty());
  }
  EXPECT_TRUE(redis_statistics(at, Deadline::after_seconds(kSeconds)).empty());
}

std::string answer_to(const std::string& question, std::uint16_t port) {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) return "";
  if (::send(socket.get(), question.data(), question.size(), 0) < 0) return "";
  std::string answer(256, '\0');
  const ssize_t bytes = ::recv(socket.get(), answer.data(), answer.size(), 0);
  answer.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  return answer;
}

// Redis has no password, and may be root's.
TEST_F(Processes, RedisDoesNothingToItsHost) {
  const std::uint16_t port = free_port();
  const RedisProcess redis(children_, {.address = "127.0.0.1", .port = port}, log());
  EXPECT_EQ(answer_to("SET key 1\r\n", port), "+OK\r\n");
  EXPECT_EQ(answer_to("INCR key\r\n", port), ":2\r\n");
  for (const char* command : {"CONFIG GET dir", "REPLICAOF 127.0.0.1 1", "EVAL 'return 1' 0",
                              "FLUSHALL", "SAVE", "SHUTDOWN", "ACL LIST"}) {
    EXPECT_TRUE(answer_to(std::string(command) + "\r\n", port).starts_with("-NOPERM")) << command;
  }
}

TEST_F(Processes, APortThatSomebodyHasIsNamed) {
  const Port taken = taken_port();
  ASSERT_EQ(::listen(taken.socket.get(), 1), 0);
  const std::string message = message_of_redis_at(taken.number);
  EXPECT_NE(message.find("127.0.0.1:" + std::to_string(taken.number)), std::string::npos)
      << message;
  EXPECT_NE(message.find("exited with status 1"), std::string::npos) << message;
}

}  // namespace
}  // namespace turntable::textstore
