// One table_write of updates that come one after the other in a batch, and what its answer says of
// each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "bfrt_server/entry_rows.h"
#include "common/command_error.h"

namespace turntable::bfrt_server {

class EntryCommand {
 public:
  // ignores_not_found: deleting what is not there does not refuse the command.
  explicit EntryCommand(bool ignores_not_found = false) : ignores_not_found_(ignores_not_found) {}

  // A step of the batch, and of one that has rows which.
  struct Place {
    std::size_t step;
    std::size_t row;
  };
  enum class Form : std::uint8_t { kColumns, kOneByOne };

  void add(std::size_t step, nlohmann::json update);
  void add(std::size_t step, const EntryRows& rows, Form form);

  bool has_columns() const { return has_columns_; }
  std::size_t size() const { return entries_; }
  // About so many if it is of columns only; else more than anybody can say.
  std::size_t bytes() const { return bytes_; }
  // Arguments of the command, once: they are moved out.
  nlohmann::json take(bool continues);

  // The answer of a command that went on after errors.
  using OnError = std::function<void(Place, const CommandError&)>;
  using OnReplaced = std::function<void(Place)>;
  void read_answer(const nlohmann::json& answer, const OnError& on_error,
                   const OnReplaced& on_replaced) const;
  // The answer of one that applied all, or all but what it was to delete and did not find.
  void read_not_found(const nlohmann::json& answer, const OnError& on_error) const;
  // Whom an error of a command that applied nothing is about ("updates[17]: …").
  Place place_in(const CommandError& error) const;

 private:
  void put(nlohmann::json update, Place place);

  struct Update {
    Place first;
    std::size_t rows;
  };

  bool ignores_not_found_;
  nlohmann::json updates_ = nlohmann::json::array();
  std::vector<Update> of_;  // each of updates_
  std::size_t entries_ = 0;
  std::size_t bytes_ = 0;
  bool has_columns_ = false;
};

// Without what table_write puts before and after it.
CommandError own_words(const CommandError& error);

}  // namespace turntable::bfrt_server
