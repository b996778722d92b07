#include "bfrt_server/listen_address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <stdexcept>

#include "common/unique_fd.h"

namespace turntable::bfrt_server {
namespace {

TEST(ListenAddress, is_one_address) {
  EXPECT_EQ(listen_address("127.0.0.1", 50052), "127.0.0.1:50052");
  EXPECT_EQ(listen_address("::1", 7), "[::1]:7");
}

TEST(ListenAddress, is_not_every_network) {
  for (const char* address : {"0.0.0.0", "::", "255.255.255.255", "224.0.0.1", "::ffff:0.0.0.0"}) {
    try {
      listen_address(address, 1);
      ADD_FAILURE() << address;
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find("no authentication"), std::string::npos);
    }
  }
}

TEST(ListenAddress, is_no_name) {
  for (const char* address : {"", "localhost", "127.0.0.1:1", "0"}) {
    EXPECT_THROW(listen_address(address, 1), std::runtime_error) << address;
  }
}

TEST(ListenAddress, what_the_kernel_has_against_it) {
  const UniqueFd taken(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof place;
  ASSERT_EQ(::bind(taken.get(), reinterpret_cast<sockaddr*>(&place), size), 0);
  ASSERT_EQ(::listen(taken.get(), 1), 0);
  ASSERT_EQ(::getsockname(taken.get(), reinterpret_cast<sockaddr*>(&place), &size), 0);
  EXPECT_EQ(why_not_listening("127.0.0.1", ntohs(place.sin_port)), "Address already in use");
  EXPECT_EQ(why_not_listening("198.51.100.1", 0), "Cannot assign requested address");
  EXPECT_EQ(why_not_listening("127.0.0.1", 0), std::nullopt);
}

}  // namespace
}  // namespace turntable::bfrt_server
