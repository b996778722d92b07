#include "dataplane/entries_asked.h"

#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "dataplane/values.h"

namespace turntable::dataplane {

EntriesAsked::EntriesAsked(const nlohmann::json& args) {
  if (args.contains("entries") && args.contains("handles"))
    throw bad_argument("table_read: \"entries\" and \"handles\"; expected one of them, or none");
  if (args.contains("entries")) {
    keys_ = &args.at("entries");
    if (!keys_->is_array()) throw bad_argument("table_read: \"entries\" is no list of keys");
  }
  if (args.contains("handles")) {
    if (!args.at("handles").is_array())
      throw bad_argument("table_read: \"handles\" is no list of numbers");
    handles_.emplace();
    for (const nlohmann::json& handle : args.at("handles"))
      handles_->push_back(
          static_cast<std::uint32_t>(parse_value(handle, 32, "table_read, \"handles\"")));
  }
  if (!args.contains("with_handles")) return;
  if (!args.at("with_handles").is_boolean())
    throw bad_argument("table_read: \"with_handles\" is " + args.at("with_handles").dump() +
                       "; expected true or false");
  with_handles_ = args.at("with_handles");
}

}  // namespace turntable::dataplane
