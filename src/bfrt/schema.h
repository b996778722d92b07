// The tables of a program or of a switch as BF Runtime names and numbers them: bfrt.json read.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace turntable::bfrt {

struct Field {
  enum class Kind : std::uint8_t { kNumber, kBool, kText, kFloat, kContainer };
  enum class Match : std::uint8_t { kExact, kTernary, kLpm, kRange, kOptional };

  std::uint32_t id = 0;
  std::string name;
  Kind kind = Kind::kNumber;
  int width = 0;  // bits of a number
  bool mandatory = false;
  bool read_only = false;
  bool repeated = false;             // a list
  bool of_each_pipe = false;         // of a register: read, it has a value of each pipe
  std::vector<std::string> choices;  // of a text; empty: any
  std::vector<Field> container;      // what each of a list of containers has
  Match match = Match::kExact;       // of a key

  std::size_t bytes() const { return (static_cast<std::size_t>(width) + 7) / 8; }
};

struct Action {
  std::uint32_t id = 0;
  std::string name;
  std::vector<Field> data;
};

struct Table {
  std::uint32_t id = 0;
  std::string name;
  std::string type;  // table_type: "MatchAction_Direct", "Register", ...
  std::uint32_t size = 0;
  bool has_const_default_action = false;
  std::vector<Field> keys;
  std::vector<Action> actions;
  std::vector<Field> data;  // beside that of an action
  std::vector<std::string> operations;
  std::vector<std::string> attributes;
  std::vector<std::uint32_t> depends_on;  // ids: of its action profile, of its selector

  // nullptr: there is none.
  const Field* key(std::uint32_t id) const;
  const Field* key(std::string_view name) const;
  const Action* action(std::uint32_t id) const;
  const Action* action(std::string_view name) const;
  // Of the action (nullptr: none) or beside it.
  const Field* datum(const Action* action, std::uint32_t id) const;
  const Field* datum(const Action* action, std::string_view name) const;
};

// A digest.
struct LearnFilter {
  std::uint32_t id = 0;
  std::string name;
  std::vector<Field> fields;
};

// Tables stay where they are while the schema lives.
class Schema {
 public:
  // Throws std::runtime_error that says what the document lacks.
  explicit Schema(const nlohmann::json& document);

  const std::vector<Table>& tables() const { return tables_; }
  const std::vector<LearnFilter>& learn_filters() const { return learn_filters_; }

  // nullptr: there is none. A name is whole, or a suffix at a dot that only one table has.
  const Table* table(std::uint32_t id) const;
  const Table* table(std::string_view name) const;
  const LearnFilter* learn_filter(std::string_view name) const;

 private:
  std::vector<Table> tables_;
  std::map<std::uint32_t, std::size_t> by_id_;
  std::vector<LearnFilter> learn_filters_;
};

}  // namespace turntable::bfrt
