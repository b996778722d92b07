#include "bfrt_server/listen_address.h"

#include <gtest/gtest.h>

#include <stdexcept>

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

}  // namespace
}  // namespace turntable::bfrt_server
