// The controller's part of a snapshot over TCP, with an agent, servers and clients that answer as a
// test wants.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/command_error.h"
#include "farreach/cache/controller_node.h"
#include "farreach/cache/links.h"
#include "net/testing_credentials.h"
#include "net/testing_loopback.h"
#include "node/testing.h"

namespace turntable::cache::testing {

using Json = nlohmann::json;
using Log = std::vector<std::string>;

constexpr std::uint32_t kStore = 7;  // incarnation of the stores

inline Key key_number(std::uint64_t number) {
  return workload::wire_key(workload::key_id(number));
}

inline Record value_record(std::uint64_t key, std::uint8_t value, std::uint32_t number) {
  return {.key = key_number(key), .kind = Record::Kind::kValue, .number = number, .value = {value}};
}

// An agent, a server or a client: what it is asked goes into the log, and is answered unless the
// test takes it for itself.
struct Asked {
  Log& log;
  std::string name;
  std::vector<Message> messages;
  std::function<std::optional<Message>(const Message&)> answer_of = [](const Message& request) {
    return std::optional(answer_to(request));
  };

  std::optional<Message> take(const Message& request) {
    messages.push_back(request);
    if (request.type != MessageType::kHello) log.push_back(name + " " + name_of(request.type));
    return answer_of(request);
  }
};

struct Peer {
  Peer(net::EventLoop& loop, std::uint16_t port, Log& log, std::string name, const Message& hello)
      : asked{.log = log, .name = std::move(name), .messages = {}},
        link(
            loop, net::testing::loopback(port), net::testing::credentials(),
            [hello] { return hello; },
            [this](const Message& request) {
              if (const auto answer = asked.take(request)) link.send(*answer);
            }) {}
  Asked asked;
  MessageLink link;
};

struct FakeAgent {
  FakeAgent(net::EventLoop& loop, std::uint16_t port, Log& log)
      : asked{.log = log, .name = "agent", .messages = {}},
        listener(loop, net::testing::loopback(port), net::testing::credentials(),
                 MessageType::kHello,
                 [this](const Message& request, const AskingListener::Reply& reply) {
                   if (request.type == MessageType::kHello) {
                     return reply(answer_to(
                         request, {kMessagesVersion, epoch.number, epoch.serves ? 1U : 0U}));
                   }
                   last_reply = reply;
                   if (const auto answer = asked.take(request)) reply(*answer);
                 }) {}
  Asked asked;
  SwitchEpoch epoch;
  AskingListener::Reply last_reply;
  AskingListener listener;
};

class SnapshotsTest : public ::testing::Test {
 protected:
  SnapshotsTest() : thread_([this] { loop.run(); }) {
    start_agent(0);
    start_controller();
    servers.resize(2);
    start_server(0, {0, 1, 2});
    start_server(1, {3});
  }
  // NOLINTNEXTLINE(bugprone-exception-escape): a loop that does not answer may end the test
  ~SnapshotsTest() override {
    on_loop([&] { clients.clear(), servers.clear(), controller.reset(), agent.reset(); });
    loop.stop();
  }

  template <typename Work>
  std::invoke_result_t<Work> on_loop(Work work) {
    return loop.tasks().call(work, Deadline::after(std::chrono::seconds(20)));
  }
  bool eventually(const std::function<bool()>& condition) {
    const Deadline deadline = Deadline::after(std::chrono::seconds(20));
    while (!on_loop(condition)) {
      if (deadline.passed()) return false;
      std::this_thread::yield();
    }
    return true;
  }

  void start_agent(std::uint16_t agent_port) {
    on_loop([&] {
      agent = std::make_unique<FakeAgent>(loop, agent_port, log);
      agent->asked.answer_of = [this](const Message& asked) {
        const bool is_end = asked.type == MessageType::kFinish;
        return std::optional(answer_to(asked, {}, is_end ? cut : std::vector<Record>()));
      };
      agent->epoch = epoch;
    });
  }
  void start_controller() {
    on_loop([&] {
      controller = std::make_unique<ControllerNode>(loop, net::testing::loopback(port),
                                                    net::testing::credentials("controller"),
                                                    directory.path(), [](const std::string&) {});
      port = controller->port();
    });
    controller->configure({{"method", "farreach"},
                           {"scale", 4},
                           {"agent_address", "127.0.0.1"},
                           {"agent_port", agent->listener.port()}});
    ASSERT_TRUE(eventually([&] { return agent->listener.is_up(); }));
    ASSERT_TRUE(eventually_stats("agent_connected", true));
  }
  void start_server(std::size_t index, const std::vector<std::uint32_t>& partitions) {
    ServerHello hello{.scale = 4, .served = {}};
    for (const auto partition : partitions) hello.served.push_back({partition, kStore});
    on_loop([&] {
      servers[index].reset();
      servers[index] = std::make_unique<Peer>(loop, port, log, "server", message_of(hello));
    });
    ASSERT_TRUE(eventually([&] { return servers[index]->link.is_up(); }));
  }
  Peer& start_client() {
    on_loop([&] {
      clients.push_back(std::make_unique<Peer>(
          loop, port, log, "client", request(MessageType::kClientHello, {kMessagesVersion})));
    });
    EXPECT_TRUE(eventually([&] { return clients.back()->link.is_up(); }));
    return *clients.back();
  }
  bool eventually_stats(const char* name, const Json& value) {
    const Deadline deadline = Deadline::after(std::chrono::seconds(20));
    while (controller->stats(Json::object()).at(name) != value) {
      if (deadline.passed()) return false;
      std::this_thread::yield();
    }
    return true;
  }

  Json snapshot() { return controller->snapshot(Json::object()); }
  std::string failure_of_snapshot() {
    try {
      snapshot();
      return "none";
    } catch (const CommandError& error) {
      return error.what();
    }
  }
  Json stats() { return controller->stats(Json::object()).at("snapshots"); }
  std::optional<Snapshot> on_disk() { return SnapshotDirectory(directory.path()).last(); }
  Log logged() {
    return on_loop([&] { return std::exchange(log, {}); });
  }
  // Answers when the new server is known to the controller.
  void finish_once_up(const Message& asked) {
    if (servers[1]->link.is_up()) return agent->last_reply(answer_to(asked, {}, cut));
    loop.call_at(loop.now_ns() + 1'000'000, [this, asked] { finish_once_up(asked); });
  }
  // Whether the list says that the answer to the one before had come; once it is there.
  std::uint32_t confirmation(Peer& client, std::size_t lists) {
    EXPECT_TRUE(eventually([&] { return client.asked.messages.size() == lists; }));
    return on_loop([&] { return client.asked.messages.back().numbers.at(1); });
  }

  Log log;
  SwitchEpoch epoch{.number = 5, .serves = true};
  std::vector<Record> cut = {value_record(1, 7, 70), value_record(2, 8, 80)};
  ScratchDirectory directory;
  net::EventLoop loop;
  std::uint16_t port = 0;
  std::unique_ptr<FakeAgent> agent;
  std::unique_ptr<ControllerNode> controller;
  std::vector<std::unique_ptr<Peer>> servers, clients;

 private:
  std::jthread thread_;
};

}  // namespace turntable::cache::testing
