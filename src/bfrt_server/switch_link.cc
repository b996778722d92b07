#include "bfrt_server/switch_link.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "common/command_error.h"

namespace turntable::bfrt_server {
namespace {

constexpr std::chrono::seconds kAnswerDeadline{30};

}  // namespace

std::unique_ptr<node::ControlClient> SwitchLink::connect() const {
  return std::make_unique<node::ControlClient>(directory_, node_name_);
}

std::unique_ptr<node::ControlClient> SwitchLink::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto client = std::move(idle_.back());
      idle_.pop_back();
      return client;
    }
  }
  return connect();
}

// A client that failed is out of step, and is left out of `idle_`.
SwitchLink::Json SwitchLink::call(const std::string& command, const Json& args) {
  auto client = take();
  node::ControlClient::CallOptions options;
  options.deadline = Deadline::after(kAnswerDeadline);
  Json answer = client->request(command, args, options);
  {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(client));
  }
  if (answer.at("ok").get<bool>()) return std::move(answer.at("result"));
  const Json error = answer.value("error", Json::object());
  throw CommandError(error.value("code", "internal"), error.value("message", "no message"));
}

}  // namespace turntable::bfrt_server
