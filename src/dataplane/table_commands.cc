#include "dataplane/table_commands.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/command_error.h"
#include "dataplane/update_errors.h"

namespace turntable::dataplane {
namespace {

using Json = nlohmann::json;

bool is_of_fixed_table(const Json& update) {
  if (!update.is_object()) return false;
  const auto table = update.find("table");
  return table != update.end() && table->is_string() &&
         FixedTables::owns(table->get_ref<const std::string&>());
}

// Those of one owner, and where they are in the whole.
struct Part {
  Json updates = Json::array();
  std::vector<std::size_t> places;

  void add(std::size_t place, const Json& update) {
    updates.push_back(update);
    places.push_back(place);
  }
};

bool has_both(const Json& args) {
  if (!args.is_object() || !args.contains("updates") || !args.at("updates").is_array())
    return false;
  std::size_t fixed = 0;
  for (const Json& update : args.at("updates")) fixed += is_of_fixed_table(update) ? 1 : 0;
  return fixed != 0 && fixed != args.at("updates").size();
}

template <typename Write>
void write_part(const Part& part, const Write& write) {
  try {
    write(Json{{"updates", part.updates}});
  } catch (const CommandError& error) {
    throw renumbered(error, part.places);
  }
}

Json write_both(FixedTables& fixed, ControlPlane& program, const Json& args) {
  if (continues_on_error(args)) {
    throw bad_argument(
        "table_write: \"on_error\": \"continue\" with tables of the switch beside those of the "
        "program; send two commands");
  }
  const Json& updates = args.at("updates");
  Part of_switch, of_program;
  for (std::size_t i = 0; i < updates.size(); ++i)
    (is_of_fixed_table(updates[i]) ? of_switch : of_program).add(i, updates[i]);
  const FixedTables::State before = fixed.state();
  write_part(of_switch, [&](const Json& part) { fixed.execute("table_write", part); });
  try {
    write_part(of_program, [&](const Json& part) { program.execute("table_write", part); });
  } catch (...) {
    fixed.put_back(before);
    throw;
  }
  return {{"applied", updates.size()}};
}

}  // namespace

Json run_table_command(FixedTables& fixed, ControlPlane& program, std::string_view command,
                       const Json& args) {
  if (command == "table_write" && has_both(args)) return write_both(fixed, program, args);
  if (FixedTables::concerns(args)) return fixed.execute(command, args);
  return program.execute(command, args);
}

}  // namespace turntable::dataplane
