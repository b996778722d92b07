// The tables of a switch: those of the program that it runs, and its own, read from what the switch
// itself answers.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bfrt/schema.h"

namespace turntable::bfrt_driver {

// Of the switch, not of its program: ports, copies, mirror sessions, the traffic manager.
bool is_fixed(const bfrt::Table& table);
bool is_match_action(const bfrt::Table& table);
// Its data has $COUNTER_SPEC_...
bool counts(const bfrt::Table& table);
bool has_operation(const bfrt::Table& table, const std::string& operation);

class SwitchSchema {
 public:
  // The two documents of a switch's answer. Throws std::runtime_error where they lack something.
  SwitchSchema(std::string program, const std::string& program_json, const std::string& fixed_json);

  const std::string& program() const { return program_; }
  const nlohmann::json& document() const { return document_; }  // of the program
  const bfrt::Schema& of_program() const { return tables_; }

  // By name or a suffix of it that is unique. Throws CommandError bad_argument.
  const bfrt::Table& table(const std::string& wanted) const;
  bool has(const std::string& name) const;                        // a table of exactly this name
  const bfrt::LearnFilter* learn_filter(std::uint32_t id) const;  // nullptr: none

 private:
  std::string program_;
  nlohmann::json document_;
  bfrt::Schema tables_;
  bfrt::Schema fixed_;
  std::vector<std::string> names_;  // of both
};

// How the program of a switch differs from the schema of the one that was compiled: a line for each
// table, key, action or field that only one has or that has another form. At most `most` lines.
std::vector<std::string> differences(const bfrt::Schema& loaded, const nlohmann::json& expected,
                                     std::size_t most);

}  // namespace turntable::bfrt_driver
