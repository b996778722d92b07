// The commands of mcload-node (docs/mcload.md).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "load/client_life.h"
#include "mcload/generator.h"
#include "mcload/peak.h"
#include "mcload/plan.h"

namespace turntable::mcload {

class McloadNode {
 public:
  using Json = nlohmann::json;

  // As play_here(), for `tune`.
  using MakePlay = std::function<Play(const std::string& where, const std::atomic<bool>& cancelled,
                                      double drain_s)>;

  explicit McloadNode(std::function<void(std::string)> set_state, MakePlay make_play = play_here);
  ~McloadNode();

  // Thread-safe. All throw CommandError. The statistics of an iteration stay until the next
  // `prepare` or `tune`, also if `stop` ended it early.
  Json populate(const Json& args);
  Json tune(const Json& args);
  Json prepare(const Json& args);
  Json start(const Json& args) { return life_.start(args); }
  Json wait(const Json& args) { return life_.wait(args); }
  Json stats(const Json& args);
  Json stop(const Json& args) { return life_.stop(args); }

  // Ends whatever runs or waits. Thread-safe; for the end of the process.
  void cancel() { life_.cancel(); }

 private:
  std::shared_ptr<const Content> content(const std::string& where, const ContentSettings& settings);
  Json peak_of(const std::string& where, const PreparePlan& plan);

  const MakePlay make_play_;
  std::mutex mutex_;                        // of the next two
  std::shared_ptr<const Content> content_;  // the last one: to draw its sizes takes a while
  std::map<std::string, Json> peaks_;       // by key: what `tune` answered

  std::unique_ptr<Generator> generator_;
  double rate_per_s_ = 0;  // of this client
  Json peak_;              // that this is a share of; null where the rate was given
  load::ClientLife life_;  // last: its threads use the others
};

}  // namespace turntable::mcload
