#include "farreach/kv/arguments.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "common/command_error.h"
#include "net/udp.h"
#include "workload/key.h"

namespace turntable::kv {
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

const Arguments::Json* Arguments::object_or_null(const char* name) const {
  const auto found = args_.find(name);
  if (found == args_.end()) return nullptr;
  if (!found->is_object()) fail(name, *found, "an object");
  return &*found;
}

std::optional<sockaddr_in> Arguments::controller_or_none(bool has_secret) const {
  const Json* given = object_or_null("controller");
  if (given == nullptr) return std::nullopt;
  if (!has_secret) {
    fail("controller", *given, "none with a node that was started without --secret FILE");
  }
  const Arguments fields(where_ + ", controller", *given, {"address", "port"});
  return net::parse_ipv4(where_ + ": \"controller.address\"", fields.text("address"),
                         static_cast<std::uint16_t>(fields.integer("port", 1, UINT16_MAX)));
}

unsigned Arguments::scale() const {
  const auto scale = integer("scale", 1, workload::kSlots);
  workload::check_scale(static_cast<std::uint64_t>(scale));
  return static_cast<unsigned>(scale);
}

std::vector<unsigned> Arguments::partitions(unsigned scale) const {
  std::vector<unsigned> partitions;
  std::set<unsigned> seen;
  for (const Json& value : array("partitions")) {
    if (!is_integer_in(value, 0, scale - 1)) {
      fail("partitions", value, range(0, scale - 1) + " in each element (below scale)");
    }
    const auto partition = value.get<unsigned>();
    if (!seen.insert(partition).second) fail("partitions", value, "each partition once");
    partitions.push_back(partition);
  }
  return partitions;
}

workload::Workload Arguments::workload() const {
  auto workload = workload::workload_from_json(required("workload"));
  workload::check_runnable(workload);
  return workload;
}

}  // namespace turntable::kv
