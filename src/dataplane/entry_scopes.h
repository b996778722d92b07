// Which pipes have the same entries of a table: BfRt's attribute entry_scope. The pipes of a scope
// are written together; in the beginning a table has one scope, of all pipes.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace turntable::dataplane {

using Pipes = std::vector<std::uint32_t>;  // ascending, each once

class EntryScopes {
 public:
  explicit EntryScopes(std::uint32_t pipes);

  // "pipes" of a command or an update: numbers of pipes; all where it is left out. Throws
  // bad_argument.
  Pipes pipes_in(const nlohmann::json& args) const;
  const Pipes& all() const { return all_; }

  // Of the table with this full name, in the order of their lowest pipes.
  const std::vector<Pipes>& of(const std::string& table) const;
  // Of the tables with others than one of all pipes, by full name.
  const std::map<std::string, std::vector<Pipes>>& of_all() const { return of_tables_; }
  // Whether every table has one scope of all pipes.
  bool are_all_one() const { return of_tables_.empty(); }

  // [[0, 2], [1, 3]]: no pipe twice; entries of a pipe that is left out cannot be written. Throws
  // bad_argument.
  std::vector<Pipes> parse(const nlohmann::json& scopes) const;
  void set(const std::string& table, std::vector<Pipes> scopes);

  // The pipes that a write of `table` is for, where it asks for `pipes`: whole scopes. Throws
  // bad_argument where they are no whole scopes.
  Pipes to_write(const std::string& table, const Pipes& pipes) const;

 private:
  Pipes parse_pipes(const std::string& what, const nlohmann::json& list) const;

  Pipes all_;
  std::vector<Pipes> one_;
  std::map<std::string, std::vector<Pipes>> of_tables_;  // those with others than `one_`
};

}  // namespace turntable::dataplane
