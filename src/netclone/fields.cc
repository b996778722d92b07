#include "netclone/fields.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/command_error.h"

namespace turntable::netclone {

Fields::Fields(std::string where, const Json& json, std::initializer_list<const char*> known)
    : where_(std::move(where)), json_(json) {
  if (!json.is_object()) {
    throw bad_argument(where_ + " is " + json.dump() + "; expected a JSON object");
  }
  for (const auto& [name, value] : json.items()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string names;
    for (const char* each : known) names += (names.empty() ? "" : ", ") + std::string(each);
    throw bad_argument(where_ + ": \"" + name + "\" is unknown; expected " + names);
  }
}

const Fields::Json& Fields::required(const char* name) const {
  const auto found = json_.find(name);
  if (found == json_.end()) throw bad_argument(where_ + ": \"" + name + "\" is missing");
  return *found;
}

double Fields::number(const char* name, double low, double high) const {
  const Json& value = required(name);
  if (!value.is_number() || !(value.get<double>() >= low && value.get<double>() <= high)) {
    fail(name, value, "a number from " + Json(low).dump() + " to " + Json(high).dump());
  }
  return value.get<double>();
}

std::int64_t Fields::integer(const char* name, std::int64_t low, std::int64_t high) const {
  const Json& value = required(name);
  const bool fits = value.is_number_integer() &&
                    (!value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX) &&
                    value.get<std::int64_t>() >= low && value.get<std::int64_t>() <= high;
  if (!fits) {
    fail(name, value, "an integer from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return value.get<std::int64_t>();
}

bool Fields::boolean_or(const char* name, bool otherwise) const {
  if (!has(name)) return otherwise;
  const Json& value = required(name);
  if (!value.is_boolean()) fail(name, value, "true or false");
  return value.get<bool>();
}

std::string Fields::text(const char* name) const {
  const Json& value = required(name);
  if (!value.is_string()) fail(name, value, "a string");
  return value.get<std::string>();
}

bool Fields::has(const char* name) const {
  return json_.contains(name);
}

void Fields::fail(const char* name, const Json& value, const std::string& expected) const {
  throw bad_argument(where_ + ": \"" + name + "\" is " + value.dump() + "; expected " + expected);
}

}  // namespace turntable::netclone
