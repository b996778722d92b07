#include "node/arguments.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/command_error.h"

namespace turntable::node {
namespace {

std::string range(std::int64_t low, std::int64_t high) {
  return "an integer from " + std::to_string(low) + " to " + std::to_string(high);
}

bool is_integer_in(const Arguments::Json& value, std::int64_t low, std::int64_t high) {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) return false;
  const auto number = value.get<std::int64_t>();
  return low <= number && number <= high;
}

}  // namespace

Arguments::Arguments(std::string where, const Json& args, std::initializer_list<const char*> known)
    : where_(std::move(where)), args_(args) {
  for (const auto& [name, value] : args.items()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string names;
    for (const char* expected : known) names += (names.empty() ? "" : ", ") + std::string(expected);
    throw bad_argument(where_ + ": argument \"" + name + "\" is unknown; expected " +
                       (names.empty() ? "none" : names));
  }
}

void Arguments::fail(const std::string& name, const Json& value,
                     const std::string& expected) const {
  throw bad_argument(where_ + ": \"" + name + "\" is " + value.dump() + "; expected " + expected);
}

const Arguments::Json& Arguments::required(const char* name) const {
  const auto found = args_.find(name);
  if (found == args_.end()) throw bad_argument(where_ + ": \"" + name + "\" is missing");
  return *found;
}

std::int64_t Arguments::integer(const char* name, std::int64_t low, std::int64_t high) const {
  const Json& value = required(name);
  if (!is_integer_in(value, low, high)) fail(name, value, range(low, high));
  return value.get<std::int64_t>();
}

std::int64_t Arguments::integer_or(const char* name, std::int64_t low, std::int64_t high,
                                   std::int64_t otherwise) const {
  return args_.contains(name) ? integer(name, low, high) : otherwise;
}

double Arguments::number(const char* name, double low, double high) const {
  const Json& value = required(name);
  if (!value.is_number() || !(value.get<double>() >= low && value.get<double>() <= high)) {
    fail(name, value, "a number from " + Json(low).dump() + " to " + Json(high).dump());
  }
  return value.get<double>();
}

bool Arguments::boolean(const char* name) const {
  const Json& value = required(name);
  if (!value.is_boolean()) fail(name, value, "true or false");
  return value.get<bool>();
}

std::string Arguments::text(const char* name) const {
  const Json& value = required(name);
  if (!value.is_string()) fail(name, value, "a string");
  return value.get<std::string>();
}

std::string Arguments::text_or(const char* name, const std::string& otherwise) const {
  return args_.contains(name) ? text(name) : otherwise;
}

const Arguments::Json& Arguments::array(const char* name) const {
  const Json& value = required(name);
  if (!value.is_array() || value.empty()) fail(name, value, "an array with at least one element");
  return value;
}

const Arguments::Json& Arguments::array_or_empty(const char* name) const {
  const Json& value = required(name);
  if (!value.is_array()) fail(name, value, "an array");
  return value;
}

const Arguments::Json& Arguments::object(const char* name) const {
  const Json& value = required(name);
  if (!value.is_object()) fail(name, value, "an object");
  return value;
}

const Arguments::Json* Arguments::object_or_null(const char* name) const {
  return args_.contains(name) ? &object(name) : nullptr;
}

std::vector<std::int64_t> Arguments::integers(const char* name, std::int64_t low, std::int64_t high,
                                              const std::string& hint) const {
  std::vector<std::int64_t> integers;
  for (const Json& value : array(name)) {
    if (!is_integer_in(value, low, high)) {
      fail(name, value, range(low, high) + " in each element" + hint);
    }
    integers.push_back(value.get<std::int64_t>());
  }
  return integers;
}

}  // namespace turntable::node
