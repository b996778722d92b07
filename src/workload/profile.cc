#include "workload/profile.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "workload/recorded_trace.h"

namespace turntable::workload {
namespace {

using nlohmann::json;

// YCSB keeps key numbers in a Java int.
constexpr std::uint64_t kMaxRecords = std::numeric_limits<std::int32_t>::max();
constexpr std::uint64_t kMaxValueBytes = 65'536;
constexpr std::uint64_t kMaxClients = 65'536;
// Key numbers are records + inserts, and inserts are at most all operations.
constexpr std::uint64_t kMaxOperations = std::numeric_limits<std::int32_t>::max();

[[noreturn]] void fail(const std::string& field, const json& value, const std::string& expected) {
  throw bad_argument("workload field \"" + field + "\": " + value.dump() + "; expected " +
                     expected);
}

std::uint64_t integer(const std::string& field, const json& value, std::uint64_t low,
                      std::uint64_t high) {
  const std::string expected =
      "an integer from " + std::to_string(low) + " to " + std::to_string(high);
  if (!value.is_number_integer()) fail(field, value, expected);
  if (!value.is_number_unsigned() && value.get<std::int64_t>() < 0) fail(field, value, expected);
  const auto number = value.get<std::uint64_t>();
  if (number < low || number > high) fail(field, value, expected);
  return number;
}

double theta_field(const json& value) {
  const char* expected = "a number above 0 and below 1 (YCSB's zipfianconstant), such as 0.99";
  if (!value.is_number()) fail("theta", value, expected);
  const auto theta = value.get<double>();
  if (!(theta > 0 && theta < 1)) fail("theta", value, expected);
  return theta;
}

using Setter = std::function<void(Workload&, const json&)>;

const std::map<std::string, Setter>& setters() {
  static const std::map<std::string, Setter> table = {
      {"theta", [](Workload& w, const json& v) { w.theta = theta_field(v); }},
      {"records",
       [](Workload& w, const json& v) { w.records = integer("records", v, 1, kMaxRecords); }},
      {"value_bytes",
       [](Workload& w, const json& v) {
         w.value_bytes = static_cast<std::uint32_t>(integer("value_bytes", v, 1, kMaxValueBytes));
       }},
      {"clients",
       [](Workload& w, const json& v) {
         w.clients = static_cast<std::uint32_t>(integer("clients", v, 1, kMaxClients));
       }},
      {"operations",
       [](Workload& w, const json& v) {
         w.operations = integer("operations", v, 1, kMaxOperations);
       }},
      {"seed",
       [](Workload& w, const json& v) {
         w.seed = integer("seed", v, 0, std::numeric_limits<std::uint64_t>::max());
       }},
      {"round",
       [](Workload& w, const json& v) {
         w.round = static_cast<std::uint32_t>(
             integer("round", v, 0, std::numeric_limits<std::uint32_t>::max()));
       }},
  };
  return table;
}

std::string known_profiles() {
  std::string names;
  for (const Workload& profile : profiles()) names += (names.empty() ? "" : ", ") + profile.name;
  return names;
}

std::string known_fields() {
  std::string names = "name";
  for (const auto& [field, setter] : setters()) names += ", " + field;
  return names;
}

constexpr const char* kRecordedName = "trace";

Workload recorded_profile(const json& object) {
  if (object.value("name", json()) != kRecordedName) {
    fail("name", object.value("name", json()), "\"trace\" beside a field \"trace\"");
  }
  Workload workload;
  workload.name = kRecordedName;
  workload.distribution = Distribution::kRecorded;
  return workload;
}

std::shared_ptr<const RecordedTrace> recorded_of(const json& given, std::uint64_t operations) {
  const auto text = [&](const char* field) {
    const auto found = given.find(field);
    return found != given.end() && found->is_string() ? found->get<std::string>() : "";
  };
  const bool is_known = given.is_object() && given.size() == (given.contains("digest") ? 2U : 1U);
  if (!is_known || text("file").empty()) {
    fail("trace", given, R"({"file": "/path"} and perhaps "digest", of the requests)");
  }
  return std::make_shared<const RecordedTrace>(text("file"), operations, text("digest"));
}

Workload find_profile(const json& object) {
  if (object.contains("trace")) return recorded_profile(object);
  const auto name = object.find("name");
  if (name == object.end()) {
    throw bad_argument("workload: \"name\" is missing; expected one of " + known_profiles());
  }
  const auto row = std::find_if(profiles().begin(), profiles().end(), [&](const Workload& profile) {
    return name->is_string() && profile.name == name->get<std::string>();
  });
  if (row == profiles().end()) {
    fail("name", *name, "one of the profiles " + known_profiles());
  }
  return *row;
}

}  // namespace

std::string_view distribution_name(Distribution distribution) {
  switch (distribution) {
    case Distribution::kZipfian:
      return "zipfian";
    case Distribution::kLatest:
      return "latest";
    case Distribution::kUniform:
      return "uniform";
    case Distribution::kSequential:
      return "sequential";
    case Distribution::kRecorded:
      return "recorded";
  }
  return "?";
}

Workload workload_from_json(const json& object) {
  if (!object.is_object()) {
    throw bad_argument("workload: " + object.dump() +
                       "; expected an object such as {\"name\": \"workloada\"}");
  }
  Workload workload = find_profile(object);
  for (const auto& [field, value] : object.items()) {
    if (field == "name" || field == "trace") continue;
    const auto setter = setters().find(field);
    if (setter == setters().end()) {
      throw bad_argument("workload field \"" + field + "\" is unknown; expected " + known_fields());
    }
    setter->second(workload, value);
  }
  if (workload.operations < workload.clients) {
    throw bad_argument("workload field \"operations\": " + std::to_string(workload.operations) +
                       " for " + std::to_string(workload.clients) +
                       " clients; expected at least one operation per client");
  }
  if (const auto recorded = object.find("trace"); recorded != object.end()) {
    workload.recorded = recorded_of(*recorded, workload.operations);
  }
  return workload;
}

json workload_to_json(const Workload& workload) {
  json object = {{"name", workload.name},       {"theta", workload.theta},
                 {"records", workload.records}, {"value_bytes", workload.value_bytes},
                 {"clients", workload.clients}, {"operations", workload.operations},
                 {"seed", workload.seed},       {"round", workload.round}};
  if (workload.recorded) {
    object["trace"] = {{"file", workload.recorded->file()},
                       {"digest", workload.recorded->digest()}};
  }
  return object;
}

void check_runnable(const Workload& workload) {
  if (workload.proportions.scan <= 0) return;
  throw bad_argument("workload \"" + workload.name +
                     "\" cannot run: it scans ranges, which hash partitions do not support; "
                     "analyse it with workload-analyze, or run another profile");
}

}  // namespace turntable::workload
