#include "dataplane/entry_scopes.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "common/command_error.h"

namespace turntable::dataplane {

using Json = nlohmann::json;

EntryScopes::EntryScopes(std::uint32_t pipes) : all_(pipes) {
  std::iota(all_.begin(), all_.end(), 0U);
  one_ = {all_};
}

Pipes EntryScopes::parse_pipes(const std::string& what, const Json& list) const {
  const auto refuse = [&] {
    throw bad_argument(what + " is " + list.dump() + "; expected numbers of pipes from 0 to " +
                       std::to_string(all_.back()) + ", each once, for instance [0]");
  };
  if (!list.is_array() || list.empty()) refuse();
  Pipes pipes;
  for (const Json& pipe : list) {
    if (!pipe.is_number_integer() || pipe < 0 || pipe > all_.back()) refuse();
    pipes.push_back(pipe.get<std::uint32_t>());
  }
  std::ranges::sort(pipes);
  if (std::ranges::adjacent_find(pipes) != pipes.end()) refuse();
  return pipes;
}

Pipes EntryScopes::pipes_in(const Json& args) const {
  const auto given = args.find("pipes");
  return given == args.end() ? all_ : parse_pipes("\"pipes\"", *given);
}

const std::vector<Pipes>& EntryScopes::of(const std::string& table) const {
  const auto found = of_tables_.find(table);
  return found == of_tables_.end() ? one_ : found->second;
}

std::vector<Pipes> EntryScopes::parse(const Json& scopes) const {
  if (!scopes.is_array() || scopes.empty()) {
    throw bad_argument("\"scopes\" is " + scopes.dump() +
                       "; expected lists of pipes, for instance [[0], [1]]");
  }
  std::vector<Pipes> parsed;
  Pipes seen;
  for (const Json& scope : scopes) {
    parsed.push_back(parse_pipes("a scope of \"scopes\"", scope));
    seen.insert(seen.end(), parsed.back().begin(), parsed.back().end());
  }
  std::ranges::sort(seen);
  if (std::ranges::adjacent_find(seen) != seen.end())
    throw bad_argument("\"scopes\" is " + scopes.dump() + "; expected each pipe in one of them");
  std::ranges::sort(parsed);
  return parsed;
}

void EntryScopes::set(const std::string& table, std::vector<Pipes> scopes) {
  if (scopes == one_) {
    of_tables_.erase(table);
  } else {
    of_tables_[table] = std::move(scopes);
  }
}

Pipes EntryScopes::to_write(const std::string& table, const Pipes& pipes) const {
  Pipes written;
  for (const Pipes& scope : of(table)) {
    const auto asked = std::ranges::count_if(
        scope, [&](std::uint32_t pipe) { return std::ranges::binary_search(pipes, pipe); });
    if (asked == 0) continue;
    if (static_cast<std::size_t>(asked) != scope.size()) {
      throw bad_argument("table " + table + " has the same entries in pipes " + Json(scope).dump() +
                         "; write all of them, or change that with scope_write");
    }
    written.insert(written.end(), scope.begin(), scope.end());
  }
  if (written.empty() || (pipes != all_ && written.size() != pipes.size()))
    throw bad_argument("table " + table + " has no entries in all of the pipes " +
                       Json(pipes).dump() + ", but in " + Json(of(table)).dump());
  std::ranges::sort(written);
  return written;
}

}  // namespace turntable::dataplane
