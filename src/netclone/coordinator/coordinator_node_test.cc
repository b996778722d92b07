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

constexpr std::int64_t kHeldNs = 1'000'000;  // by a server

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
    // The test's client is number 4.
    Json clients = Json::array();
    for (int port = 1; port <= 4; ++port)
      clients.push_back({{"address", "127.0.0.1"}, {"port", port}});
    clients.push_back({{"address", "127.0.0.1"}, {"port", ntohs(client_->local().sin_port)}});
    return {
        {"mode", mode}, {"workers", 2}, {"servers", servers}, {"clients", clients}, {"seed", 1}};
  }

  // In a second: whatever holds up the test for less is no matter.
  void start(std::int64_t window_ns) {
    const std::int64_t from = realtime_ns() + kSecondNs;
    node_->start({{"measure_from_ns", from}, {"measure_until_ns", from + window_ns}});
  }

  void open() {
    node_.emplace(net::DatagramSettings{.local = address_});
    node_->prepare(args());
  }

  void ask(std::uint64_t number) {
    send(*client_, {.op = Op::kRequest, .request = request_id(4, number), .client = 4});
  }

  void send(net::Datagrams& socket, const Packet& packet) {
    socket.add(encode(packet, socket.buffer()), &address_);
    socket.flush([](std::uint32_t, int error) { FAIL() << error; });
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
    send(*servers_[index], packet);
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
    servers.reserve(2);
    for (int i = 0; i < 2; ++i) servers.push_back(testing::open_loopback());
    return servers;
  }();
  std::optional<CoordinatorNode> node_;
};

TEST_F(CoordinatorNodeTest, ForwardsTheFirstAnswerAndDropsTheOther) {
  open();
  start(3600 * kSecondNs);
  const std::int64_t asked_ns = monotonic_ns();
  ask(9);
  const auto zero = await(*servers_[0], 20'000), one = await(*servers_[1], 20'000);
  ASSERT_TRUE(zero && one);
  const std::int64_t sent_ns = monotonic_ns();
  EXPECT_EQ((std::set{zero->clone, one->clone}), (std::set{Clone::kOriginal, Clone::kClone}));
  while (monotonic_ns() < sent_ns + kHeldNs) std::this_thread::yield();
  answer(1, *one);
  const auto answered = await(*client_, 20'000);
  ASSERT_TRUE(answered);
  EXPECT_GE(answered->seq, kHeldNs);  // its credit was taken
  EXPECT_LE(answered->seq, monotonic_ns() - asked_ns);
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
  start(kSecondNs / 5);
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

// What came before the command cannot be counted any more.
TEST_F(CoordinatorNodeTest, AWindowThatIsEmptyOrHasBegunIsNamed) {
  open();
  const std::int64_t now = realtime_ns();
  const auto refusal = [&](std::int64_t from, std::int64_t until) -> std::string {
    try {
      node_->start({{"measure_from_ns", from}, {"measure_until_ns", until}});
    } catch (const CommandError& error) {
      return error.what();
    }
    return "it was accepted";
  };
  const auto says = [](const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
  };
  const std::string begun = refusal(now - 1, now + 3600 * kSecondNs);
  EXPECT_TRUE(says(begun, "measure_from_ns") && says(begun, " s after it")) << begun;
  const std::string empty = refusal(now + 3600 * kSecondNs, now + 3600 * kSecondNs);
  EXPECT_TRUE(says(empty, "measure_until_ns")) << empty;
}

TEST_F(CoordinatorNodeTest, NobodyElseTakesAClientsAnswers) {
  open();
  ask(9);
  const auto sent = await(*servers_[1], 20'000);
  ASSERT_TRUE(sent);
  const auto stranger = testing::open_loopback();
  send(*stranger, {.op = Op::kRequest, .request = request_id(4, 10), .client = 4});
  send(*stranger, {.op = Op::kRequest, .request = request_id(5, 0), .client = 5});
  await_count("no_client", 2);
  EXPECT_EQ(stats()["requests"], 1);
  answer(1, *sent);
  ASSERT_TRUE(await(*client_, 20'000));
  EXPECT_FALSE(await(*stranger, 0));
}

TEST_F(CoordinatorNodeTest, OnlyTheServerThatWasAskedAnswers) {
  open();
  ask(9);
  const auto sent = await(*servers_[1], 20'000);
  ASSERT_TRUE(sent);
  Packet forged = *sent;
  forged.op = Op::kResponse;
  forged.server = 1;
  const auto stranger = testing::open_loopback();
  send(*stranger, forged);
  send(*servers_[0], forged);
  await_count("unknown", 2);
  EXPECT_EQ(stats()["forwarded"], 0);
  answer(1, *sent);
  ASSERT_TRUE(await(*client_, 20'000));
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
  expect({{"clients", {{{"address", "127.0.0.1"}, {"port", 0}}}}}, "clients[0]");
  expect({{"clients", Json::array()}}, "clients");
  EXPECT_THROW(stats(), CommandError);
  EXPECT_THROW(start(kSecondNs), CommandError);
}

}  // namespace
}  // namespace turntable::netclone
