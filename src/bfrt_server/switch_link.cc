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

void SwitchLink::give_back(std::unique_ptr<node::ControlClient> client) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(client));
}

SwitchLink::Json SwitchLink::call(const std::string& command, const Json& args) {
  CommandSequence one(*this);
  one.send(command, args);
  return one.receive();
}

// A client that failed, or whose answers nobody has read, is out of step and left to end.
CommandSequence::~CommandSequence() {
  if (client_ != nullptr && waiting_ == 0) link_.give_back(std::move(client_));
}

void CommandSequence::send(const std::string& command, const SwitchLink::Json& args) {
  if (client_ == nullptr) client_ = link_.take();
  ++waiting_;
  client_->send(command, args, Deadline::after(kAnswerDeadline));
}

SwitchLink::Json CommandSequence::receive() {
  node::ControlClient::CallOptions options;
  options.deadline = Deadline::after(kAnswerDeadline);
  SwitchLink::Json answer = client_->receive(options);
  --waiting_;
  if (answer.at("ok").get<bool>()) return std::move(answer.at("result"));
  const SwitchLink::Json error = answer.value("error", SwitchLink::Json::object());
  throw CommandError(error.value("code", "internal"), error.value("message", "no message"));
}

}  // namespace turntable::bfrt_server
