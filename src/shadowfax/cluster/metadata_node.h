// The commands of hlmeta-node (docs/shadowfax-nodes.md): a metadata service for each turn of a run.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "shadowfax/cluster/secret.h"

namespace turntable::shadowfax {

class MetadataNode {
 public:
  using Json = nlohmann::json;

  // address: where it listens. `set_state` is told "idle" or "serving".
  MetadataNode(std::string address, CredentialsFor credentials,
               std::function<void(std::string)> set_state);
  ~MetadataNode();

  // Thread-safe. All throw CommandError.
  Json prepare(const Json& args);  // a new state
  Json stats(const Json& args);    // the state
  Json stop(const Json& args);

 private:
  class Service;

  const std::string address_;
  const CredentialsFor credentials_;
  const std::function<void(std::string)> set_state_;
  std::mutex mutex_;
  std::unique_ptr<Service> service_;  // null: none
};

}  // namespace turntable::shadowfax
