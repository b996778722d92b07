#include "bfrt_server/switch_link.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "common/command_error.h"

namespace turntable::bfrt_server {
namespace {

constexpr std::chrono::seconds kAnswerDeadline{30};

// Those of the switch itself go on, whatever program it runs.
bool is_of_program(const std::string& command) {
  return command != "info" && command != "library_info" && command != "program_load" &&
         !command.starts_with("port_") && !command.starts_with("tm_");
}

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

SwitchLink::Json SwitchLink::call(const std::string& command, Json args) {
  CommandSequence one(*this);
  one.send(command, std::move(args));
  return one.receive();
}

ProgramFacts SwitchLink::program() {
  const Json info = call("info", Json::object());
  return {info.at("program_number"), info.at("program"), info.at("library_sha256")};
}

ProgramFacts SwitchLink::bind_program() {
  ProgramFacts facts = program();
  program_number_ = facts.number;
  return facts;
}

// A client that failed, or whose answers nobody has read, is out of step and left to end.
CommandSequence::~CommandSequence() {
  if (client_ != nullptr && waiting_ == 0) link_.give_back(std::move(client_));
}

void CommandSequence::send(const std::string& command, SwitchLink::Json args) {
  const std::uint64_t program = link_.program_number_;
  if (program != 0 && is_of_program(command)) args["program_number"] = program;
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
