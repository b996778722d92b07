// The arguments of mcload-node's commands.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "mcload/settings.h"

namespace turntable::mcload {

// Where the store is and what is in it: "server", "protocol" and "content".
struct Store {
  ServerAddress server;
  Protocol protocol = Protocol::kAscii;
  ContentSettings content;
};

Store store_argument(const std::string& where, const nlohmann::json& args);

// A rate that is a share of a peak which `tune` found.
struct PeakShare {
  double share = 0;
  std::string key;
};

struct PreparePlan {
  Store store;
  GeneratorSettings generator;  // without content; its rate is that of all clients
  std::uint32_t clients = 1;
  std::optional<PeakShare> peak;
};

// All throw CommandError.
PreparePlan prepare_plan(const std::string& where, const nlohmann::json& args);
// "threads", "connections", "depth", "arrivals", "update".
void read_load(const std::string& where, const nlohmann::json& args, GeneratorSettings& out);
// "placement", "realtime", "spin_us".
void read_thread_settings(const std::string& where, const nlohmann::json& args,
                          GeneratorSettings& out);

}  // namespace turntable::mcload
