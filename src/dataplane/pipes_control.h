// The control plane of a program with a state in each pipe (program_pipes.h). Commands go to all
// pipes, or to those of their "pipes"; answers are made one.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "dataplane/control.h"
#include "dataplane/entry_scopes.h"

namespace turntable::dataplane {

class PipesControl final : public ControlPlane {
 public:
  // By number of the pipe; they outlive this one.
  explicit PipesControl(std::vector<ControlPlane*> pipes);

  // Those of the program, scope_write and scope_read.
  std::vector<std::string> commands() const override;
  void at(std::uint64_t now_ns) override;
  nlohmann::json execute(std::string_view command, const nlohmann::json& args) override;
  // With the scopes of tables. The other program has as many pipes.
  nlohmann::json read_state() override;
  void take_state(const nlohmann::json& state) override;
  std::size_t digests_waiting() const override;

 private:
  using Json = nlohmann::json;
  using Handler = Json (PipesControl::*)(const std::string& command, const Json& args);
  static const std::map<std::string, Handler, std::less<>>& handlers();
  // A part of a batch whose updates are for the same pipes.
  struct Run {
    std::size_t first;
    std::size_t end;
    Pipes pipes;
  };
  // Updates of one run, done in each of its pipes.
  class Writes;

  Json in_first(const std::string& command, const Json& args);
  Json in_each(const std::string& command, const Json& args);
  Json table_write(const std::string& command, const Json& args);
  Json table_read(const std::string& command, const Json& args);
  Json table_info(const std::string& command, const Json& args);
  Json counter_write(const std::string& command, const Json& args);
  Json counter_read(const std::string& command, const Json& args);
  Json register_read(const std::string& command, const Json& args);
  Json aging_update(const std::string& command, const Json& args);
  Json aging_events(const std::string& command, const Json& args);
  Json aging_read(const std::string& command, const Json& args);
  Json digest_read(const std::string& command, const Json& args);
  Json random_seed(const std::string& command, const Json& args);
  Json scope_write(const std::string& command, const Json& args);
  Json scope_read(const std::string& command, const Json& args);

  std::vector<Json> ask(const Pipes& pipes, const std::string& command, const Json& args);
  struct KnownTable {
    std::string name;  // in full
    bool has_cells;
  };
  // args["table"]. Throws as the program does.
  const KnownTable& known(const Json& args);
  Pipes pipes_to_write(const Json& update);
  // Without an update whose pipes are wrong: that is among `errors`, or is thrown without them.
  std::vector<Run> runs_of(const Json& updates, Json* errors);
  Writes write(const Json& args, const Run& run);
  bool counts_in(std::uint32_t pipe, const Pipes& written, const Json& args);
  Json write_all(const Json& args, std::span<const Run> runs);
  void write_run(const Json& args, const Run& run, Json& answer);
  void write_one_by_one(const Json& args, const Run& run, Json& answer);
  void check_handles(const std::string& table, const Pipes& pipes) const;
  void share_hits(const std::string& table);
  std::size_t entries_of(const Json& args);

  std::vector<ControlPlane*> pipes_;
  EntryScopes scopes_;
  std::map<std::string, KnownTable, std::less<>> known_;  // by the names that were asked for
  std::size_t next_digests_ = 0;                          // the pipe whose digests are read first
};

}  // namespace turntable::dataplane
