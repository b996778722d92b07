// The updates of one Write, gathered into as few control commands as their order allows: runs of
// table entries into one table_write, runs of neighbouring register cells into one register_write.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

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
  // Cells one after the other; `checked`: they cannot fail any more.
  struct Cells {
    std::string table;
    std::uint32_t first;
    std::vector<Json> values;
  };
  // Anything else; may throw Failure or CommandError.
  struct Act {
    std::function<void()> run;
  };

  // `abandoned`: whether nobody waits for the outcome any more; then no further command is begun.
  WriteBatch(SwitchLink& link, std::size_t updates, Atomicity atomicity,
             std::function<bool()> abandoned)
      : link_(link),
        atomicity_(atomicity),
        abandoned_(std::move(abandoned)),
        statuses_(updates),
        replaced_(updates) {}

  // What is added from here on belongs to update `number`; its failures begin with `context`.
  void begin(std::size_t number) { current_ = number; }
  void add(std::variant<Entry, Cells, Act> what, std::string context,
           std::function<void()> done = nullptr);
  void fail(std::size_t number, const Failure& failure) { statuses_[number] = failure.status(); }

  // Does it all. Throws Failure for the whole of it: UNAVAILABLE where the switch has gone,
  // UNIMPLEMENTED where the batch cannot be as atomic as it should.
  void run();

  SwitchLink& link() { return link_; }
  const grpc::Status& status(std::size_t number) const { return statuses_[number]; }
  // Whether INSERT_OR_MODIFY found an entry.
  bool replaced(std::size_t number) const { return replaced_[number]; }

 private:
  struct Step {
    std::size_t number;
    std::variant<Entry, Cells, Act> what;
    std::string context;
    std::function<void()> done;
  };

  void run_atomic();
  bool insert_columns(const std::vector<Json>& updates);
  std::size_t run_entries(std::size_t first);
  std::size_t run_cells(std::size_t first);
  void run_act(Step& step);
  void finish(Step& step);
  void refuse(const Step& step, const CommandError& error);

  SwitchLink& link_;
  Atomicity atomicity_;
  std::function<bool()> abandoned_;
  std::size_t current_ = 0;
  std::vector<Step> steps_;
  std::vector<grpc::Status> statuses_;
  std::vector<bool> replaced_;
};

}  // namespace turntable::bfrt_server
