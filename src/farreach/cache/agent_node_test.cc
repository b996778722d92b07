// The agent as it runs, over TCP, with a switch in memory.
#include "farreach/cache/agent_node.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "common/command_error.h"
#include "farreach/cache/links.h"
#include "farreach/cache/testing_loop_switch.h"
#include "net/testing_credentials.h"
#include "net/testing_loopback.h"

namespace turntable::cache {
namespace {

using Json = nlohmann::json;
using testing::key_number;
using testing::value_record;

class AgentNodeTest : public ::testing::Test {
 protected:
  AgentNodeTest() : thread_([this] { loop.run(); }) { make_agent(std::chrono::seconds(60)); }
  // NOLINTNEXTLINE(bugprone-exception-escape): a loop that does not answer may end the test
  ~AgentNodeTest() override {
    on_loop([&] { controller.reset(), agent.reset(); });
    loop.stop();
  }

  void make_agent(std::chrono::seconds adopting_max) {
    on_loop([&] {
      auto driver = std::make_unique<testing::LoopSwitch>(loop, stores);
      the_switch = driver.get();
      agent = std::make_unique<AgentNode>(
          loop, std::move(driver), net::testing::loopback(), net::testing::credentials("agent"),
          [](const std::string&) {}, adopting_max);
    });
  }

  void on_loop(const std::function<void()>& work) {
    loop.tasks().call(
        [&] {
          work();
          return 0;
        },
        Deadline::after(std::chrono::seconds(20)));
  }
  // Probes until `condition` holds on the loop.
  bool eventually(const std::function<bool()>& condition) {
    const Deadline deadline = Deadline::after(std::chrono::seconds(20));
    bool holds = false;
    while (!holds && !deadline.passed()) {
      on_loop([&] { holds = condition(); });
      std::this_thread::yield();
    }
    return holds;
  }
  // NetCache with a single slot.
  void configure(bool fresh) {
    agent->configure({{"method", "netcache"},
                      {"egress_ports", {3, 4, 5, 6}},
                      {"clients", {{{"address", "198.18.0.1"}, {"port", 1}}}},
                      {"cpu_port", 64},
                      {"fresh", fresh},
                      {"cache_size", 1}});
  }
  // A process of the controller's node; one that was there before has been killed.
  void start_controller() {
    on_loop([&] {
      controller.reset();
      controller = std::make_unique<MessageLink>(
          loop, net::testing::loopback(agent->port()), net::testing::credentials("controller"),
          [] { return request(MessageType::kHello, {kMessagesVersion}); }, [](const Message&) {});
    });
  }
  // Of the present controller; the answer comes when it wants to.
  std::shared_ptr<std::optional<Message>> ask(MessageType type, std::vector<Record> records = {}) {
    auto answer = std::make_shared<std::optional<Message>>();
    on_loop([&] {
      controller->ask(request(type, {}, std::move(records)),
                      [answer](const Message& message) { *answer = message; });
    });
    return answer;
  }

  testing::FakeServers stores;
  net::EventLoop loop;
  testing::LoopSwitch* the_switch = nullptr;
  std::unique_ptr<AgentNode> agent;
  std::unique_ptr<MessageLink> controller;

 private:
  std::jthread thread_;
};

// As a rack's is that nobody has added, or a cable that ends somewhere else.
TEST_F(AgentNodeTest, ACpuPortThatIsDownIsNamed) {
  make_agent(std::chrono::seconds(1));
  on_loop([&] { the_switch->holds_frames = true; });
  try {
    configure(/*fresh=*/true);
    ADD_FAILURE() << "the switch holds all frames";
  } catch (const CommandError& error) {
    EXPECT_EQ(error.code(), "timeout");
    EXPECT_NE(std::string(error.what()).find("answered no control frame; expected its CPU port 64"),
              std::string::npos)
        << error.what();
  }
}

// A controller that is no more has asked for an admission while the agent was finding out what its
// switch has; its successor has asked what has a slot, and its servers have been told. The record
// of that admission may be older than what they have written since.
TEST_F(AgentNodeTest, AnAdmissionOfTheControllerBeforeIsRefusedAlsoWhileItAdopts) {
  configure(/*fresh=*/true);
  start_controller();
  const auto admitted = ask(MessageType::kAdmit, {value_record(key_number(0), 1)});
  ASSERT_TRUE(eventually([&] { return admitted->has_value(); }));

  on_loop([&] { the_switch->holds_frames = true; });
  std::jthread adopting([&] { configure(/*fresh=*/false); });
  ASSERT_TRUE(eventually([&] { return the_switch->held_frames > 0; }));
  ask(MessageType::kAdmit, {value_record(key_number(1), 1)});
  ASSERT_TRUE(eventually([&] { return agent->requests_that_wait() == 2; })) << "HELLO and ADMIT";
  start_controller();
  const auto slots = ask(MessageType::kSlots);
  ASSERT_TRUE(eventually([&] { return agent->requests_that_wait() == 4; })) << "HELLO and SLOTS";
  on_loop([&] { the_switch->holds_frames = false; });
  adopting.join();

  ASSERT_TRUE(eventually([&] { return slots->has_value(); }));
  const std::vector<CachedKey> told = read_cached(**slots);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].key, key_number(0));
  const auto is_settled = [&] {
    const Json stats = agent->stats(Json::object());
    return stats.at("in_transit") == 0 &&
           stats.at("refused").get<int>() + stats.at("admitted").get<int>() == 1;
  };
  const Deadline deadline = Deadline::after(std::chrono::seconds(20));
  while (!is_settled() && !deadline.passed()) std::this_thread::yield();
  EXPECT_EQ(agent->stats(Json::object()).at("refused"), 1);
  on_loop([&] { EXPECT_FALSE(the_switch->lookup.contains(key_number(1))); });
}

}  // namespace
}  // namespace turntable::cache
