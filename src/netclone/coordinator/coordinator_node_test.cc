// A coordinator between a client and servers that the test plays.
#include "netclone/coordinator/coordinator_node.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "common/clock.h"
#include "common/command_error.h"
#include "net/udp.h"
#include "netclone/client/testing.h"

namespace turntable::netclone {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kSecondNs = 1'000'000'000;

class CoordinatorNodeTest : public ::testing::Test {
 protected:
  CoordinatorNodeTest() {
    const auto free = testing::open_loopback();  // its port is free again at the end
    address_ = free->local();
  }

  Json args(const std::string& mode = "slots") const {
    Json servers = Json::array();
    for (const auto& server : servers_)
      servers.push_back({{"address", "127.0.0.1"}, {"port", ntohs(server->local().sin_port)}});
    return {{"mode", mode}, {"workers", 2}, {"servers", servers}, {"seed", 1}};
  }

  void open() {
    node_.emplace(net::DatagramSettings{.local = address_});
    node_->prepare(args());
  }

  void ask(std::uint64_t number) {
    const Packet packet{.op = Op::kRequest, .request = request_id(4, number), .client = 4};
    client_->add(encode(packet, client_->buffer()), &address_);
    client_->flush([](std::uint32_t, int error) { FAIL() << error; });
  }

  static std::optional<Packet> await(net::Datagrams& socket, int timeout_ms) {
    pollfd polled{socket.fd(), POLLIN, 0};
    ::poll(&polled, 1, timeout_ms);
    if (socket.receive() < 1) return std::nullopt;
    Packet packet;
    EXPECT_EQ(decode(socket.at(0).bytes, packet), DecodeStatus::kOk);
    return packet;
  }

  // From server `index`, which got `packet`.
  void answer(std::size_t index, Packet packet) {
    packet.op = Op::kResponse;
    packet.server = static_cast<std::uint32_t>(index);
    net::Datagrams& socket = *servers_[index];
    socket.add(encode(packet, socket.buffer()), &address_);
    socket.flush([](std::uint32_t, int error) { FAIL() << error; });
  }

  Json stats() { return node_->stats(Json::object()); }
  // Until a count of `stats` is so high.
  void await_count(const char* name, int count) {
    for (const std::int64_t end = monotonic_ns() + 20 * kSecondNs;
         stats()[name] < count && monotonic_ns() < end;)
      std::this_thread::yield();
    EXPECT_EQ(stats()[name], count);
  }

  sockaddr_in address_{};
  std::unique_ptr<net::Datagrams> client_ = testing::open_loopback();
  std::vector<std::unique_ptr<net::Datagrams>> servers_ = [] {
    std::vector<std::unique_ptr<net::Datagrams>> servers;
    for (int i = 0; i < 2; ++i) servers.push_back(testing::open_loopback());
    return servers;
  }();
  std::optional<CoordinatorNode> node_;
};

TEST_F(CoordinatorNodeTest, ForwardsTheFirstAnswerAndDropsTheOther) {
  open();
  const std::int64_t now = realtime_ns();
  node_->start({{"measure_from_ns", now}, {"measure_until_ns", now + 3600 * kSecondNs}});
  ask(9);
  const auto zero = await(*servers_[0], 20'000), one = await(*servers_[1], 20'000);
  ASSERT_TRUE(zero && one);
  EXPECT_EQ((std::set{zero->clone, one->clone}), (std::set{Clone::kOriginal, Clone::kClone}));
  answer(1, *one);
  const auto answered = await(*client_, 20'000);
  ASSERT_TRUE(answered);
  EXPECT_EQ(answered->request, request_id(4, 9));
  EXPECT_EQ(answered->server, 1U);
  EXPECT_EQ(answered->clone, one->clone);
  answer(0, *zero);
  await_count("redundant", 1);
  EXPECT_FALSE(await(*client_, 0));
  EXPECT_EQ(stats()["forwarded"], 1);
  EXPECT_EQ(stats()["cloned"], 1);
  EXPECT_EQ(stats()["under_way"], 0);
}

TEST_F(CoordinatorNodeTest, QueuesWhenAllWorkersAreBusy) {
  open();
  for (std::uint64_t number = 0; number < 3; ++number) ask(number);  // 2 servers with 2 workers
  await_count("requests", 3);
  EXPECT_EQ(stats()["cloned"], 2);
  EXPECT_EQ(stats()["queue_length"], 1);
  const auto first = await(*servers_[0], 20'000);
  ASSERT_TRUE(first);
  answer(0, *first);
  ASSERT_TRUE(await(*client_, 20'000));
  await_count("single", 1);
  EXPECT_EQ(stats()["queue_length"], 0);
}

TEST_F(CoordinatorNodeTest, CountsItsWindow) {
  open();
  ask(0);
  await_count("requests", 1);
  const std::int64_t now = realtime_ns();
  node_->start({{"measure_from_ns", now}, {"measure_until_ns", now + kSecondNs / 5}});
  EXPECT_FALSE(stats()["complete"].get<bool>());
  for (const std::int64_t end = monotonic_ns() + 20 * kSecondNs;
       !stats()["complete"].get<bool>() && monotonic_ns() < end;)
    std::this_thread::yield();
  ask(1);
  await_count("requests", 2);
  EXPECT_TRUE(stats()["complete"].get<bool>());
  EXPECT_EQ(stats()["window"]["requests"], 0);
  EXPECT_EQ(stats()["window_ns"], kSecondNs / 5);
}

TEST_F(CoordinatorNodeTest, CountsWhatIsNotAPacket) {
  open();
  client_->add(5, &address_);
  client_->flush([](std::uint32_t, int) {});
  await_count("malformed", 1);
}

TEST_F(CoordinatorNodeTest, BadArgumentsAndOrderAreNamed) {
  node_.emplace(net::DatagramSettings{.local = address_});
  const auto expect = [&](const Json& change, const std::string& expected) {
    Json with = args();
    with.update(change);
    try {
      node_->prepare(with);
      FAIL() << expected;
    } catch (const CommandError& error) {
      EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
    }
  };
  expect({{"mode", "fast"}}, "\"fast\"");
  expect({{"workers", {1, 2, 3}}}, "one for each of the 2 servers");
  expect({{"workers", 0}}, "workers");
  expect({{"servers", {{{"address", "x"}, {"port", 1}}}}}, "servers[0]");
  EXPECT_THROW(stats(), CommandError);
  EXPECT_THROW(node_->start({{"measure_from_ns", 1}, {"measure_until_ns", 2}}), CommandError);
}

}  // namespace
}  // namespace turntable::netclone
