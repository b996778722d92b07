// The commands of textstore-node (docs/shadowfax-nodes.md): memcached or Redis, served beside
// Shadowfax.
#pragma once

#include <filesystem>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/schedstat.h"
#include "load/window_sampler.h"
#include "node/children.h"
#include "shadowfax/beside/store_process.h"

namespace turntable::shadowfax {

class TextstoreNode {
 public:
  using Json = nlohmann::json;

  // address: where stores listen. directory: of their logs. `set_state` is told "idle" or
  // "serving".
  TextstoreNode(std::string address, std::filesystem::path directory,
                std::function<void(std::string)> set_state);

  // Thread-safe. All throw CommandError.
  Json prepare(const Json& args);
  Json start(const Json& args);
  Json sums(const Json& args);
  Json stats(const Json& args);
  Json stop(const Json& args);

 private:
  struct Sample {
    std::int64_t at_ns = 0;
    std::vector<std::optional<SchedulingTimes>> workers;  // nothing: it has ended
  };
  using WindowSampler = load::WindowSampler<Sample>;

  Sample sample() const;
  void require_serving(const char* command) const;
  void close();

  const std::string address_;
  const std::filesystem::path directory_;
  const std::function<void(std::string)> set_state_;

  std::mutex mutex_;
  node::Children children_;
  std::optional<StoreProcess> store_;
  std::string version_;
  std::vector<std::string> workers_;      // their directories in /proc
  std::optional<WindowSampler> sampler_;  // last: it reads the others
};

}  // namespace turntable::shadowfax
