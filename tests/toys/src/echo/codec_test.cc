#include "echo/codec.h"

#include <gtest/gtest.h>

#include "net/udp.h"

namespace turntable::echo {
namespace {

TEST(EchoCodec, AnAnswerHasTheNumberOfItsRequest) {
  const auto server = net::open_datagrams({.local = net::parse_ipv4("test", "127.0.0.1", 0)});
  const auto client = net::open_datagrams(
      {.local = net::parse_ipv4("test", "127.0.0.1", 0), .remote = server->local()});
  Codec codec;
  EXPECT_EQ(codec.send(77, 0, *client), 1U);
  client->flush([](std::uint32_t, int error) { FAIL() << error; });
  ASSERT_EQ(server->receive(), 1);
  auto datagram = server->at(0);
  EXPECT_EQ(codec.decode(datagram), 77U);
  EXPECT_EQ(codec.malformed(), 0);
  datagram.bytes = datagram.bytes.first(7);
  EXPECT_EQ(codec.decode(datagram), std::nullopt);
  EXPECT_EQ(codec.malformed(), 1);
}

}  // namespace
}  // namespace turntable::echo
