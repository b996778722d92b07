// Control-plane operations of a compiled program, by BfRt name. The commands, their arguments and
// answers are those of docs/architecture.md §5 (softswitch): table_write, table_read, table_info,
// schema, counter_read, counter_clear.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace turntable::dataplane {

// A table_write that is done, and taken back unless it is committed. Of several on the same tables,
// the last is taken back first.
class TableWrite {
 public:
  virtual ~TableWrite() = default;
  virtual const nlohmann::json& answer() const = 0;
  virtual void commit() noexcept = 0;
};

class ControlPlane {
 public:
  virtual ~ControlPlane() = default;

  // The command names this program answers.
  virtual std::vector<std::string> commands() const = 0;

  // The time, by the clock of packets (ns); commands that follow are as of then.
  virtual void at(std::uint64_t) {}

  // Runs one command on the pipeline thread. Throws turntable::CommandError.
  virtual nlohmann::json execute(std::string_view command, const nlohmann::json& args) = 0;

  // What the program has that it did not begin with: entries, members and groups of profiles, and
  // cells, with what packets did to them. Pipeline thread, or before packets come.
  virtual nlohmann::json read_state() = 0;
  // Goes on from what read_state() of another program gave, before packets come. Counts that have
  // no place here are left out. Throws CommandError state_conflict where anything else has none;
  // then this program has some of it and is of no use.
  virtual void take_state(const nlohmann::json& state) = 0;

  // What a program needs in addition to be one of several pipes (pipes_control.h).
  //
  // The command table_write, which can still be taken back. Throws CommandError.
  virtual std::unique_ptr<TableWrite> write_tables(const nlohmann::json&) {
    throw std::logic_error("this program's writes cannot be taken back");
  }
  // A packet that hit an entry of `table` here or in `other`, which is of the same program, has hit
  // it in both. Tables that do not age have nothing to share.
  virtual void share_hits(const std::string& /*table*/, ControlPlane& /*other*/) {}

  // Digests that `digest_read` would give now. Pipeline thread.
  virtual std::size_t digests_waiting() const { return 0; }
};

}  // namespace turntable::dataplane
