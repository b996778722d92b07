// Connections to softswitch's control socket, one for each call under way.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "node/control_client.h"

namespace turntable::bfrt_server {

class CommandSequence;

// A program that softswitch runs.
struct ProgramFacts {
  std::uint64_t number = 0;  // of the programs since softswitch's start
  std::string name;
  std::string library_sha256;  // in hexadecimal; empty: not known
};

// Thread-safe.
class SwitchLink {
 public:
  using Json = nlohmann::json;

  SwitchLink(std::filesystem::path directory, std::string node_name)
      : directory_(std::move(directory)), node_name_(std::move(node_name)) {}

  // The result. Throws CommandError: softswitch's own, or "unavailable" and "timeout" where no
  // answer came; then the switch may have done it or not.
  Json call(const std::string& command, Json args);

  // The program that runs now.
  ProgramFacts program();
  // The same; from now on commands to tables and the like are refused with CommandError
  // "program_changed" once softswitch runs another.
  ProgramFacts bind_program();
  // Whether the bound program still runs.
  bool has_program() { return program().number == program_number_; }

  // A connection of the caller's own.
  std::unique_ptr<node::ControlClient> connect() const;

  const std::string& node_name() const { return node_name_; }

 private:
  friend class CommandSequence;

  std::unique_ptr<node::ControlClient> take();
  void give_back(std::unique_ptr<node::ControlClient> client);

  std::filesystem::path directory_;
  std::string node_name_;
  std::atomic<std::uint64_t> program_number_{0};  // 0: not bound
  std::mutex mutex_;
  std::vector<std::unique_ptr<node::ControlClient>> idle_;
};

// Commands on one connection that are sent before those before them are answered, so that
// softswitch does one while the next is made. Their answers have to fit the socket: no more than a
// few hundred kilobytes on their way.
class CommandSequence {
 public:
  explicit CommandSequence(SwitchLink& link) : link_(link) {}
  CommandSequence(const CommandSequence&) = delete;
  CommandSequence& operator=(const CommandSequence&) = delete;
  ~CommandSequence();

  void send(const std::string& command, SwitchLink::Json args);
  // The result of the first that has not been answered yet. Throws as SwitchLink::call() does.
  SwitchLink::Json receive();

 private:
  SwitchLink& link_;
  std::unique_ptr<node::ControlClient> client_;
  std::size_t waiting_ = 0;
};

}  // namespace turntable::bfrt_server
