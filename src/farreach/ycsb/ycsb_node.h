// The commands of ycsbclient (docs/from-ycsb.md): YCSB's load phase, and its run phase beside the
// measurement of the others.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/deadline.h"
#include "farreach/ycsb/ycsb_process.h"

namespace turntable::ycsb {

class YcsbNode {
 public:
  using Json = nlohmann::json;

  struct Settings {
    std::filesystem::path directory;  // for outputs
    std::string name;
    std::string class_path;
    std::string secret;  // of the run; empty: none
  };

  explicit YcsbNode(Settings settings) : settings_(std::move(settings)) {}

  // Thread-safe. All throw CommandError.
  Json load(const Json& args);   // {"arguments": [..], "deadline_s"}: to its end
  Json start(const Json& args);  // {"arguments": [..]}: begins the run phase
  Json wait(const Json& args);   // {"deadline_s"}: for its end
  Json stats(const Json& args);  // of both phases, what they have left
  Json stop(const Json& args);

  // Ends whatever runs. Thread-safe; for the end of the process.
  void cancel();

 private:
  enum class Phase : std::uint8_t { kLoad, kRun };

  std::shared_ptr<YcsbProcess> begin(Phase phase, const Json& arguments);
  void await(YcsbProcess& process, Phase phase, Deadline deadline);
  std::shared_ptr<YcsbProcess> running();
  std::filesystem::path file(Phase phase, const char* suffix) const;
  Json left_by(Phase phase) const;

  const Settings settings_;
  std::mutex mutex_;
  std::shared_ptr<YcsbProcess> process_;  // of the phase that was begun last
};

}  // namespace turntable::ycsb
