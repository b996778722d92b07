// The updates of one Write, gathered into as few control commands as their order allows: runs of
// table entries into one table_write, like ones as columns; runs of neighbouring register cells
// into one register_write.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "bfrt_server/call_options.h"
#include "bfrt_server/entry_command.h"
#include "bfrt_server/entry_rows.h"
#include "bfrt_server/failure.h"
#include "bfrt_server/switch_link.h"

namespace turntable::bfrt_server {

class WriteBatch {
 public:
  enum class Atomicity : std::uint8_t { kContinueOnError, kRollbackOnError, kDataplaneAtomic };
  using Json = nlohmann::json;

  // A table entry of the program or, `fixed`, of the switch: an element of table_write's "updates".
  struct Entry {
    Json update;
    bool fixed;
  };
  // Entries of the program; `done` is called for each row that was.
  using RowDone = std::function<void(const EntryRows&, std::size_t row)>;
  struct Rows {
    EntryRows rows;
    RowDone done;
  };
  // A cell of a register: its fields.
  struct Cell {
    const bfrt::Table* table;
    std::uint32_t index;
    std::vector<std::uint64_t> values;
    Pipes pipes = {};
  };
  // Anything else; may throw Failure or CommandError, unless `is_sure`.
  struct Act {
    std::function<void()> run;
    bool is_sure = false;
  };

  using What = std::variant<Entry, Rows, Cell, Act>;

  // options.abandoned: whether nobody waits for the outcome any more; then no further command is
  // begun. options.ignore_not_found: a batch that is all or nothing goes on where it is to delete
  // an entry that is not there.
  WriteBatch(SwitchLink& link, std::size_t updates, Atomicity atomicity, const CallOptions& options)
      : link_(link),
        atomicity_(atomicity),
        abandoned_(options.abandoned),
        ignores_not_found_(options.ignore_not_found),
        statuses_(updates),
        replaced_(updates) {}

  // What is added from here on belongs to update `number`; its failures begin with `context`.
  void begin(std::size_t number) { current_ = number; }
  void add(What what, std::string context, std::function<void()> done = nullptr);
  // The same for one more row of the Rows that were added last, where those are of its kind.
  bool add_row(const EntryRows::Kind& kind, const EntryRows::Row& row);

  void fail(std::size_t number, const Failure& failure) { statuses_[number] = failure.status(); }

  // Does it all. Throws Failure for the whole of it: UNAVAILABLE where the switch has gone,
  // UNIMPLEMENTED where the batch cannot be as atomic as it should.
  void run();

  SwitchLink& link() { return link_; }
  const grpc::Status& status(std::size_t number) const { return statuses_[number]; }
  // Whether INSERT_OR_MODIFY found an entry.
  bool replaced(std::size_t number) const { return replaced_[number]; }
  // Whether any failed, or found an entry.
  bool has_news() const;

 private:
  struct Step {
    std::size_t number;
    What what;
    std::string context;
    std::function<void()> done;
  };

  struct Range {
    std::size_t first;
    std::size_t end;
  };
  // A command that was sent.
  struct Sent {
    EntryCommand command;
    Range steps;
    std::size_t bytes;
  };

  static bool is_of_entries(const Step& step);
  static bool is_sure(const Step& step);
  void run_atomic();
  std::size_t run_entries(std::size_t first);
  Sent next_command(std::size_t first);
  void receive(const Sent& sent, CommandSequence& sequence);
  std::size_t run_cells(std::size_t first);
  void run_act(Step& step);
  void check_wanted() const;
  void finish(Range steps);
  void refuse(Range steps, const CommandError& error);
  void refuse(EntryCommand::Place place, const CommandError& error);
  std::size_t number(EntryCommand::Place place) const;

  SwitchLink& link_;
  Atomicity atomicity_;
  std::function<bool()> abandoned_;
  bool ignores_not_found_;
  std::size_t current_ = 0;
  std::vector<Step> steps_;
  std::vector<grpc::Status> statuses_;
  std::vector<bool> replaced_;
};

}  // namespace turntable::bfrt_server
