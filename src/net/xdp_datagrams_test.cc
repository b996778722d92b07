// What AF_XDP has to see to beside.
#include "net/xdp_datagrams.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "common/command_error.h"
#include "net/testing_datagrams.h"

namespace turntable::net {
namespace {

using namespace testing;

class XdpDatagramsTest : public DatagramsTest {};

INSTANTIATE_TEST_SUITE_P(Means, XdpDatagramsTest,
                         ::testing::Values(Means{"af_xdp", DatagramKind::kAfXdp, false}),
                         [](const auto& means) { return means.param.name; });

TEST_P(XdpDatagramsTest, OtherPortsAndFragmentsAreTheKernels) {
  const auto server = open_datagrams(settings());
  const UniqueFd other(::socket(AF_INET, SOCK_DGRAM, 0));
  sockaddr_in address = address_in("198.18.0.1");
  socklen_t length = sizeof address;
  ASSERT_EQ(::bind(other.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(::getsockname(other.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
  const Peer peer = this->peer();
  peer.send(address, "to the kernel");
  ASSERT_TRUE(readable(other.get()));
  std::array<char, 64> bytes;
  EXPECT_EQ(::recv(other.get(), bytes.data(), bytes.size(), 0), 13);
  peer.send(server->local(), std::string(4000, 'x'));  // in fragments
  peer.send(server->local(), "whole");
  EXPECT_EQ(receive(*server, 1), std::vector<std::string>{"whole"});
}

TEST_P(XdpDatagramsTest, ATooLongDatagramComesBack) {
  const Peer peer = this->peer();
  DatagramSettings settings = connected_to(peer);
  settings.datagram_bytes = 1536;
  const auto client = open_datagrams(settings);
  constexpr std::size_t kLongest = 1500 - 20 - 8;
  add(*client, std::string(kLongest + 1, 'x'), nullptr, 0, 7);
  add(*client, std::string(kLongest, 'y'), nullptr, 0, 8);
  std::vector<std::pair<std::uint32_t, int>> failed;
  client->flush([&](std::uint32_t tag, int error) { failed.emplace_back(tag, error); });
  EXPECT_EQ(failed, (std::vector<std::pair<std::uint32_t, int>>{{7, EMSGSIZE}}));
  EXPECT_EQ(peer.take().text, std::string(kLongest, 'y'));
}

TEST_P(XdpDatagramsTest, AnUnknownPeerIsRefusedAndNamed) {
  DatagramSettings settings = this->settings();
  settings.remote = address_in("198.18.0.77");
  settings.remote->sin_port = htons(9);
  try {
    open_datagrams(settings);
    FAIL() << "opened";
  } catch (const CommandError& error) {
    EXPECT_NE(std::string(error.what()).find("198.18.0.77"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace turntable::net
