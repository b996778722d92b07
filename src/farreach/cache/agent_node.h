// The commands of switch-agent (docs/architecture.md §5).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "farreach/cache/agent.h"
#include "farreach/cache/driver.h"
#include "farreach/cache/links.h"
#include "net/event_loop.h"

namespace turntable::cache {

class AgentNode {
 public:
  using Json = nlohmann::json;

  // `set_state` is told "idle", "serving" or "failed"; it may be called on any thread. Listens for
  // the controller at `address`. The loop has to run while commands are handled. A switch that has
  // not said what it has after `adopting_max` is given up.
  AgentNode(net::EventLoop& loop, std::unique_ptr<Driver> driver, const sockaddr_in& address,
            net::Credentials credentials, std::function<void(std::string)> set_state,
            std::chrono::seconds adopting_max = std::chrono::seconds(45));
  ~AgentNode();

  // Any thread but the loop's. All throw CommandError.
  Json configure(const Json& args);
  Json settings(const Json& args);
  Json cached_set(const Json& args);
  Json stats(const Json& args);
  Json stop(const Json& args);

  std::uint16_t port() const { return controller_->port(); }
  std::size_t requests_that_wait() const { return waiting_.size(); }  // for adoption

 private:
  struct RunTime {  // settings that may change at any time, beside the agent's own
    std::uint16_t hot_threshold = 20;
    double sampling = 0.5;
    std::int64_t clear_period_ns = 1'000'000'000;  // 0: never
  };

  net::Task<Json> adopt();
  bool hears_nothing();
  void apply(const Json& args);
  Json settings_as_json() const;
  void fail(const std::string& why);
  void end();
  void schedule_clearing();
  void clear();
  Agent& agent(const char* command);
  void answer(const Message& request, AskingListener::Reply reply);

  net::EventLoop& loop_;
  std::unique_ptr<Driver> driver_;
  std::function<void(std::string)> set_state_;
  const std::chrono::seconds adopting_max_;
  RunTime run_time_;
  std::unique_ptr<Agent> agent_;
  std::uint32_t last_epoch_ = 0;
  bool is_ready_ = false;  // the agent knows what the switch has
  std::vector<std::pair<Message, AskingListener::Reply>> waiting_;  // requests, until it is
  std::string failure_;
  std::uint64_t refused_requests_ = 0;  // that came while there was no agent
  std::uint64_t clearings_ = 0;
  net::Timers::TimerId clearing_ = 0;
  std::unique_ptr<AskingListener> controller_;
};

}  // namespace turntable::cache
