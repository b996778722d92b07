// Connections to softswitch's control socket, one for each call under way.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "node/control_client.h"

namespace turntable::bfrt_server {

// Thread-safe.
class SwitchLink {
 public:
  using Json = nlohmann::json;

  SwitchLink(std::filesystem::path directory, std::string node_name)
      : directory_(std::move(directory)), node_name_(std::move(node_name)) {}

  // The result. Throws CommandError: softswitch's own, or "unavailable" and "timeout" where no
  // answer came; then the switch may have done it or not.
  Json call(const std::string& command, const Json& args);

  // A connection of the caller's own.
  std::unique_ptr<node::ControlClient> connect() const;

  const std::string& node_name() const { return node_name_; }

 private:
  std::unique_ptr<node::ControlClient> take();

  std::filesystem::path directory_;
  std::string node_name_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<node::ControlClient>> idle_;
};

}  // namespace turntable::bfrt_server
