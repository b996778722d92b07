// The commands of hlload-node (docs/shadowfax-nodes.md).
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "load/client_life.h"
#include "shadowfax/client/load_thread.h"
#include "shadowfax/cluster/secret.h"

namespace turntable::shadowfax {

class LoadNode {
 public:
  using Json = nlohmann::json;

  // credentials: for servers and metadata services; empty: it has none.
  explicit LoadNode(std::function<void(std::string)> set_state, CredentialsFor credentials = {});
  ~LoadNode();

  // Thread-safe. All throw CommandError. The statistics of an iteration stay until the next
  // `prepare`, also if `stop` ended it early.
  Json fill(const Json& args);
  Json prepare(const Json& args);
  Json start(const Json& args) { return life_.start(args); }
  Json wait(const Json& args) { return life_.wait(args); }
  Json stats(const Json& args);
  Json stop(const Json& args) { return life_.stop(args); }

  // Ends whatever runs or waits. Thread-safe; for the end of the process.
  void cancel() { life_.cancel(); }

 private:
  // Of additions since the stores were filled: those of iterations that have ended.
  struct Additions {
    std::uint64_t issued = 0, acknowledged = 0;
  };

  std::vector<ThreadResult> results() const;
  void open_directory(const std::string& where, Servers& servers);

  const CredentialsFor credentials_;
  std::unique_ptr<Directory> directory_;  // null: servers are named
  std::int64_t sample_ns_ = 0;
  Additions before_;  // the iteration that is prepared
  Json filled_;       // what the last `fill` has answered; null: there was none
  std::vector<std::unique_ptr<LoadThread>> threads_;
  load::ClientLife life_;  // last: its threads use the others
};

}  // namespace turntable::shadowfax
