#include "workload/profile.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/command_error.h"

namespace turntable::workload {
namespace {

using nlohmann::json;

std::string refusal(const json& object) {
  try {
    workload_from_json(object);
  } catch (const CommandError& error) {
    EXPECT_EQ(error.code(), "bad_argument");
    return error.what();
  }
  return "accepted";
}

TEST(Profile, NameAloneGivesThePaperSettings) {
  const Workload workload = workload_from_json({{"name", "skewness-90"}});
  EXPECT_EQ(workload.theta, 0.90);
  EXPECT_EQ(workload.records, 100'000'000U);
  EXPECT_EQ(workload.value_bytes, 128U);
  EXPECT_EQ(workload.proportions.update, 1.0);
}

TEST(Profile, ProportionsAddUpToOne) {
  for (const Workload& row : profiles()) {
    const Proportions& p = row.proportions;
    EXPECT_DOUBLE_EQ(p.read + p.update + p.insert + p.scan + p.read_modify_write, 1) << row.name;
  }
}

TEST(Profile, FieldsOverrideTheProfile) {
  const json object = {{"name", "workloadb"},
                       {"records", 1},
                       {"theta", 0.5},
                       {"value_bytes", 16},
                       {"clients", 3},
                       {"operations", 7},
                       {"seed", 18446744073709551615ULL},
                       {"round", 4}};
  EXPECT_EQ(workload_to_json(workload_from_json(object)), object);
}

TEST(Profile, UnknownProfileListsTheKnownOnes) {
  const std::string message = refusal({{"name", "workloadx"}});
  EXPECT_NE(message.find("workloadx"), std::string::npos);
  for (const Workload& row : profiles()) EXPECT_NE(message.find(row.name), std::string::npos);
}

TEST(Profile, RefusalsNameFieldValueAndExpectation) {
  EXPECT_EQ(refusal({{"name", "workloada"}, {"theta", 1.0}}),
            "workload field \"theta\": 1.0; expected a number above 0 and below 1 (YCSB's "
            "zipfianconstant), such as 0.99");
  EXPECT_EQ(refusal({{"name", "workloada"}, {"records", 0}}),
            "workload field \"records\": 0; expected an integer from 1 to 2147483647");
}

TEST(Profile, WrongFieldsAreRefused) {
  const json base = {{"name", "workloada"}};
  const std::vector<std::pair<std::string, json>> wrong = {
      {"theta", 0},        {"theta", 1},           {"theta", "0.9"}, {"theta", nullptr},
      {"records", -1},     {"records", 1.5},       {"clients", 0},   {"operations", 0},
      {"value_bytes", 0},  {"value_bytes", 65537}, {"seed", -1},     {"round", -1},
      {"operations", 127}, {"recordcount", 5},     {"name", 7},      {"name", nullptr}};
  for (const auto& [field, value] : wrong) {
    json object = base;
    object[field] = value;
    EXPECT_NE(refusal(object).find("\"" + field + "\""), std::string::npos) << object;
  }
  EXPECT_NE(refusal(json::array()).find("expected an object"), std::string::npos);
  EXPECT_NE(refusal(json::object()).find("\"name\" is missing"), std::string::npos);
}

TEST(Profile, OnlyTheScanningProfileCannotRun) {
  for (const Workload& row : profiles()) {
    if (row.name == "workloade") {
      EXPECT_THROW(check_runnable(row), CommandError);
    } else {
      EXPECT_NO_THROW(check_runnable(row)) << row.name;
    }
  }
}

}  // namespace
}  // namespace turntable::workload
