#include "workload/recorded_trace.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "common/scratch_directory.h"
#include "workload/hottest.h"
#include "workload/profile.h"
#include "workload/recorded_reader.h"

namespace turntable::workload {
namespace {

class RecordedTraceTest : public ::testing::Test {
 protected:
  RecordedTrace trace_of(const std::string& text, std::uint64_t operations = 1000) {
    std::ofstream(file_) << text;
    return RecordedTrace(file_, operations, "");
  }

  ScratchDirectory directory_;
  const std::string file_ = directory_.path() / "trace";
};

using Type = OperationType;

Operation operation(const std::string& key, Type type, std::uint32_t bytes) {
  const KeyId id = recorded_key_id(key);
  return {.key = id, .slot = slot_of(id), .type = type, .value_bytes = bytes};
}

TEST(RecordedKeyId, YcsbKeysKeepTheirIdAndOthersHaveAHash) {
  EXPECT_EQ(recorded_key_id("user2571001333982442796"), 2571001333982442796U);
  // FNV-1a 64 of "a" is af63dc4c8601ec8c.
  EXPECT_EQ(recorded_key_id("a"), 0xaf63dc4c8601ec8cU >> 1);
  EXPECT_NE(recorded_key_id("user07"), recorded_key_id("user7"));
  EXPECT_NE(recorded_key_id("user"), 0U);
}

TEST_F(RecordedTraceTest, ClientsTakeTurnsAndAGetKnowsTheSizeOfAKeyThatHasOne) {
  const RecordedTrace trace =
      trace_of("a,get,8\nb,put,16\na,get,\nb,get,16\nb,put,20\nc,delete,\n");
  const auto traces = trace.traces(2, 0, 2);
  EXPECT_EQ(traces[0], (std::vector{operation("a", Type::kGet, 8), operation("a", Type::kGet, 8),
                                    operation("b", Type::kPut, 20)}));
  EXPECT_EQ(traces[1], (std::vector{operation("b", Type::kPut, 16), operation("b", Type::kGet, 0),
                                    operation("c", Type::kDelete, 0)}));
  EXPECT_EQ(trace.traces(2, 1, 1).front(), traces[1]);
  EXPECT_EQ(trace.deletes(), 1U);
}

TEST_F(RecordedTraceTest, WhatIsThereBeforeFollowsFromTheFirstLines) {
  const RecordedTrace trace =
      trace_of("a,get,\na,put,30\na,put,40\nb,insert,10\nb,get,10\nc,get,\nd,get,50\nd,put,9\n");
  const auto of = [&](const char* key) { return trace.keys().at(recorded_key_id(key)); };
  EXPECT_EQ(of("a").loaded_bytes, 30U);  // the first size that is said
  EXPECT_TRUE(of("a").is_loaded);
  EXPECT_FALSE(of("b").is_loaded);
  EXPECT_EQ(of("c").loaded_bytes, 128U);  // nothing says it
  EXPECT_EQ(of("d").loaded_bytes, 50U);
  EXPECT_EQ(trace.longest_value(), 128U);
}

TEST_F(RecordedTraceTest, TheHottestKeysAreThoseThatFit) {
  std::string lines = "long,put,129\n";
  for (int i = 0; i < 5; ++i) lines += "long,get,\nshort,put,128\n";
  const RecordedTrace trace = trace_of(lines + "cold,get,1\n");
  EXPECT_EQ(trace.hottest(5), (std::vector{recorded_key_id("short"), recorded_key_id("cold")}));
  EXPECT_EQ(trace.hottest(1), std::vector{recorded_key_id("short")});
}

TEST_F(RecordedTraceTest, AnotherFileThanThePlannedOneIsRefused) {
  const std::string digest = trace_of("a,get,8\nb,get,8\n").digest();
  const auto workload = [&](const std::string& of) {
    return workload_from_json({{"name", "trace"},
                               {"clients", 1},
                               {"operations", 2},
                               {"trace", {{"file", file_}, {"digest", of}}}});
  };
  EXPECT_EQ(hottest_keys(workload(digest), 9).size(), 2U);
  EXPECT_EQ(workload_to_json(workload_from_json(workload_to_json(workload(digest)))),
            workload_to_json(workload(digest)));
  std::ofstream(file_) << "a,get,8\nc,get,8\n";
  EXPECT_THROW(hottest_keys(workload(digest), 9), CommandError);
  std::ofstream(file_) << "a,get,8\n";
  EXPECT_THROW(hottest_keys(workload(digest), 9), CommandError);
}

TEST_F(RecordedTraceTest, EveryPartOfARequestIsInTheDigest) {
  std::vector<std::string> digests;
  for (const char* text : {"a,get,8\n", "a,get,9\n", "b,get,8\n", "a,put,8\n", "a,insert,8\n",
                           "a,delete,8\n", "a,get,8\na,get,8\n"}) {
    digests.push_back(trace_of(text).digest());
  }
  std::sort(digests.begin(), digests.end());
  EXPECT_EQ(std::unique(digests.begin(), digests.end()), digests.end());
}

TEST(RecordedWorkload, IsNamedTrace) {
  const nlohmann::json trace = {{"file", "/none"}};
  EXPECT_NO_THROW(workload_from_json({{"name", "trace"}, {"trace", trace}}));
  EXPECT_THROW(workload_from_json({{"name", "trace"}}), CommandError);
  EXPECT_THROW(workload_from_json({{"name", "workloada"}, {"trace", trace}}), CommandError);
  EXPECT_THROW(workload_from_json({{"name", "trace"}, {"trace", "/none"}}), CommandError);
  EXPECT_THROW(workload_from_json({{"name", "trace"}, {"trace", {{"fil", "/none"}}}}),
               CommandError);
}

}  // namespace
}  // namespace turntable::workload
