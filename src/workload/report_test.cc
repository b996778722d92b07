#include "workload/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "workload/hottest.h"

namespace turntable::workload {
namespace {

Report small_report() {
  Report report;
  report.workload = workload_from_json(
      {{"name", "workloada"}, {"records", 1000}, {"clients", 2}, {"operations", 500}});
  report.cached_keys = 3;
  KeySet cached(1000);
  for (const auto number : hottest_key_numbers(report.workload, 3)) cached.insert(number);
  const SlotLoads loads = expected_slot_loads(report.workload, cached, 1 << 16);
  report.scales = {analyze_scale(2, loads.total, loads.cached),
                   analyze_scale(4, loads.total, loads.cached)};
  TraceReport trace;
  trace.composition = compose_traces(report.workload, hottest_keys(report.workload, 3));
  for (const unsigned scale : {2U, 4U}) {
    trace.scales.push_back(
        analyze_scale(scale, trace.composition.requests(), trace.composition.cached));
  }
  report.trace = trace;
  return report;
}

TEST(Report, JsonHasTheDocumentedFields) {
  const nlohmann::json json = report_as_json(small_report());
  EXPECT_EQ(workload_to_json(workload_from_json(json["workload"])), json["workload"]);
  ASSERT_EQ(json["scales"].size(), 2U);
  const nlohmann::json& scale = json["scales"][1];
  EXPECT_EQ(scale["scale"], 4);
  EXPECT_EQ(scale["shares"].size(), 4U);
  for (const nlohmann::json& object : {scale, scale["trace"]}) {
    EXPECT_TRUE(object["bottleneck"].is_number());
    EXPECT_TRUE(object["near_ties"].is_array());
    EXPECT_TRUE(object["uncached"]["normalized"].is_number());
    EXPECT_TRUE(object["uncached"]["imbalance"].is_number());
    EXPECT_EQ(object["cached"]["keys"], 3);
    EXPECT_TRUE(object["cached"]["hit_mass"].is_number());
    EXPECT_TRUE(object["cached"]["bottleneck"].is_number());
    EXPECT_TRUE(object["cached"]["normalized"].is_number());
    EXPECT_TRUE(object["cached"]["imbalance"].is_number());
    EXPECT_EQ(object["cached"]["shares"].size(), 4U);
  }
}

TEST(Report, TracePartitionsAddUpToTheOperations) {
  const nlohmann::json json = report_as_json(small_report());
  int total = 0;
  for (const nlohmann::json& partition : json["scales"][0]["trace"]["partitions"]) {
    total += partition["total"].get<int>();
    EXPECT_EQ(partition["total"], partition["reads"].get<int>() + partition["writes"].get<int>());
  }
  EXPECT_EQ(total, 500);
}

TEST(Report, WhatDoesNotExistIsNullAndDash) {
  Report report = small_report();
  report.trace.reset();
  report.scales[0].cached.normalized.reset();
  const nlohmann::json json = report_as_json(report);
  EXPECT_TRUE(json["scales"][0]["cached"]["normalized"].is_null());
  EXPECT_TRUE(json["scales"][0]["trace"].is_null());
  EXPECT_TRUE(json["trace_seconds"].is_null());
  EXPECT_NE(report_as_text(report).find(" - "), std::string::npos);
}

}  // namespace
}  // namespace turntable::workload
