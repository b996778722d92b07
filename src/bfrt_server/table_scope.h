// Which pipes a target (TargetDevice) means for a table, by its attribute EntryScope: the pipes of
// a scope have the same entries, and are named by their lowest one.
#pragma once

#include <cstdint>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bfrt/bfruntime.pb.h"
#include "bfrt/schema.h"
#include "bfrt_server/failure.h"
#include "bfrt_server/switch_link.h"

namespace turntable::bfrt_server {

inline constexpr std::uint32_t kAllPipes = 0xFFFF;

// Pipes of a control command; none: those that it goes to without the argument "pipes".
using Pipes = std::vector<std::uint32_t>;
void put_pipes(const Pipes& pipes, nlohmann::json& command);

// The pipes that clients see. Without a state for each, all show the one that softswitch has.
struct PipesShown {
  std::uint32_t count = 1;
  bool have_states = false;
};

// Thread-safe.
class TableScope {
 public:
  // Scopes outlive this server: they are asked of the switch, and only how a client put them is
  // forgotten. Throws CommandError.
  TableScope(const bfrt::Table& table, PipesShown shown, SwitchLink& link);

  // The attribute. Throws Failure: UNIMPLEMENTED where entries are there, or pipes have no states.
  void write(const bfrt_proto::EntryScope& scope, SwitchLink& link);
  bfrt_proto::EntryScope read() const;

  const PipesShown& shown() const { return shown_; }
  // Of the scopes in the order of their lowest pipes; `none` where pipes have no states.
  std::vector<Pipes> scopes() const;
  // Whether it is ALL: a user-defined one, even of all pipes, is named by its lowest.
  bool is_all() const;

  // Entries: the target names a scope, and without a scope of all pipes not 0xffff. Throws Failure
  // INVALID_ARGUMENT that begins with `context`.
  Pipes of_written_entry(const bfrt_proto::TargetDevice& target, const std::string& context) const;
  // A driver looks at the device in any pipe, but knows entries by their scope. Nothing: there is
  // no such entry.
  std::optional<Pipes> of_read_entry(const bfrt_proto::TargetDevice& target, bool from_hw) const;
  // The same by a handle that is_all() tables do not have: it names the scope, and 0xffff is any.
  // Throws Failure INVALID_ARGUMENT where the device's entry of another scope is asked for.
  std::optional<Pipes> of_read_handle(const bfrt_proto::TargetDevice& target, bool from_hw,
                                      std::uint32_t lowest_pipe) const;
  // A default entry is one of each scope. Throws as of_written_entry() does.
  Pipes of_read_default(const bfrt_proto::TargetDevice& target, const std::string& context) const;

  // The scopes whose entries are counted: of 0xffff every one; of a pipe that names none, no scope.
  // Throws as of_written_entry() does where one scope has all pipes.
  std::vector<Pipes> of_usage(const bfrt_proto::TargetDevice& target,
                              const std::string& context) const;

  // Cells of registers: each pipe has its own, whatever the scope, and with one of several pipes
  // the target names the scope. Throws as of_written_entry() does.
  Pipes of_cell(const bfrt_proto::TargetDevice& target, const std::string& context) const;

 private:
  void check_pipe(const bfrt_proto::TargetDevice& target, const std::string& context) const;
  void check_parser(const bfrt_proto::TargetDevice& target, const std::string& context) const;
  std::vector<Pipes> scopes_of(const bfrt_proto::Mode& mode) const;
  std::optional<Pipes> named_by(std::uint32_t pipe) const;

  const bfrt::Table& table_;
  PipesShown shown_;
  mutable std::mutex mutex_;
  std::vector<Pipes> scopes_;
  bfrt_proto::EntryScope told_;  // as the client put it
};

}  // namespace turntable::bfrt_server
