// The commands of colocator: memcached beside an aggressor on the system under test.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "node/children.h"
#include "placement/placement.h"
#include "swan/aggressor.h"
#include "swan/control_groups.h"
#include "swan/guardian.h"
#include "swan/isolation.h"
#include "swan/memcached_job.h"
#include "swan/window.h"
#include "textstore/memcached_process.h"

namespace turntable::swan {

class ColocatorNode {
 public:
  using Json = nlohmann::json;

  struct Options {
    std::filesystem::path program;    // this one's file
    std::filesystem::path directory;  // of logs
    std::string python;               // the interpreter that {python} stands for
    std::string testbed, host;        // empty: started by hand
  };

  // Removes what a dead colocator of this testbed and host has left.
  ColocatorNode(Options options, std::function<void(std::string)> set_state);
  ~ColocatorNode();  // as reset()

  // Thread-safe. All throw CommandError.
  Json prepare(const Json& args);
  Json settle(const Json& args);
  Json start(const Json& args);
  Json finish(const Json& args);
  Json stats(const Json& args);
  Json reset(const Json& args);
  Json platform(const Json& args);
  Json probe(const Json& args);

  // Ends what waits; for the end of the process.
  void cancel() { cancelled_ = true; }

 private:
  void clear();
  void forget();
  void settle_aggressor(Deadline deadline);
  void prepare_memcached(const textstore::MemcachedSettings& settings, bool fresh);
  std::unique_ptr<Aggressor> make_aggressor(const AggressorSpec& spec);
  Sample sample(const std::vector<pid_t>& ours) const;
  std::vector<pid_t> our_processes() const;
  Json memcached_stats(const Window& window);
  Json aggressor_stats(const Window& window);
  Json others_share(const Window& window) const;

  const Options options_;
  const std::function<void(std::string)> set_state_;
  const CpuList allowed_;  // before anything was pinned
  std::atomic<bool> cancelled_{false};

  std::mutex mutex_;  // of what follows
  node::Children children_;
  ControlGroups groups_;
  Resctrl resctrl_;
  Guardian guardian_;
  Placement placement_;
  Isolation isolation_;
  std::unique_ptr<textstore::MemcachedProcess> memcached_;
  bool was_started_fresh_ = false;
  bool is_prepared_ = false;
  bool is_settled_ = false;
  std::string unsettled_;  // why the last `settle` failed
  std::unique_ptr<Aggressor> aggressor_;
  CpuList aggressor_cpus_;
  Json aggressor_cache_;  // the part of a cache that it is held to; null: it is not
  std::optional<Window> window_;
  std::unique_ptr<WindowSampler> sampler_;
  // What was said last, and the probe of this key that was the first: the statistics of every
  // iteration have it. Null: never asked.
  Json platform_, probe_, first_probe_;
};

}  // namespace turntable::swan
