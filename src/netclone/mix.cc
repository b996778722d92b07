#include "netclone/mix.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/command_error.h"

namespace turntable::netclone {
namespace {

using Json = nlohmann::json;

[[noreturn]] void fail(const std::string& where, const Json& json, const char* expected) {
  throw bad_argument(where + ": \"mix\" is " + json.dump() + "; expected " + expected);
}

bool is_part(const Json& json) {
  return json.is_object() && json.size() == 2 && json.contains("operation") &&
         json.contains("share") && json["share"].is_number() && json["share"] >= 0 &&
         json["share"] <= 1 && (json["operation"] == "GET" || json["operation"] == "SCAN");
}

}  // namespace

OperationMix OperationMix::from_json(const std::string& where, const Json& json) {
  if (json.is_null()) return {};
  constexpr const char* kForm = R"(null or [{"operation": "GET" or "SCAN", "share": 0 to 1}, ...])";
  if (!json.is_array() || json.empty()) fail(where, json, kForm);
  double get = 0;
  double scan = 0;
  for (const Json& part : json) {
    if (!is_part(part)) fail(where, json, kForm);
    (part["operation"] == "GET" ? get : scan) += part["share"].get<double>();
  }
  if (std::abs(get + scan - 1) > 1e-9) fail(where, json, "shares that add up to 1");
  return OperationMix(scan);
}

}  // namespace turntable::netclone
