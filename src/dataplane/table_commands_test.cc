// A table_write of everything that a switch has: it applies wholly or not at all.
#include "dataplane/table_commands.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "dataplane/program_control.h"

namespace turntable::dataplane {
namespace {

using nlohmann::json;

constexpr const char* kCellsSchema = R"({"learn_filters": [], "tables": [
  {"name": "pipe.In.seen", "table_type": "Counter", "size": 4, "has_const_default_action": false,
   "attributes": [], "key": [{"name": "$COUNTER_INDEX", "type": {"type": "uint32"}}],
   "data": [{"singleton": {"name": "$COUNTER_SPEC_PKTS"}}]},
  {"name": "pipe.In.hits", "table_type": "Register", "size": 4, "has_const_default_action": false,
   "attributes": [], "key": [{"name": "$REGISTER_INDEX", "type": {"type": "uint32"}}],
   "data": [{"singleton": {"name": "In.hits.f1", "type": {"type": "bytes", "width": 32}}}]},
  {"name": "pipe.In.limits", "table_type": "Meter", "size": 4, "has_const_default_action": false,
   "attributes": [], "key": [{"name": "$METER_INDEX", "type": {"type": "uint32"}}], "data": []}]})";

class TableCommandsTest : public ::testing::Test {
 protected:
  TableCommandsTest() {
    control_.add_counter("pipe.In.seen", seen_);
    control_.add_register("pipe.In.hits", hits_);
    control_.add_meter("pipe.In.limits", limits_);
  }

  static json count(json index, unsigned packets) {
    json update = {
        {"op", "modify"}, {"table", "seen"}, {"data", {{"$COUNTER_SPEC_PKTS", packets}}}};
    if (!index.is_null()) update["index"] = index;
    return update;
  }
  static json values(unsigned first, const json& given) {
    return {{"op", "modify"}, {"table", "hits"}, {"first", first}, {"values", given}};
  }
  static json limit(unsigned index, unsigned packets) {
    return {{"op", "modify"},
            {"table", "limits"},
            {"index", index},
            {"data",
             {{"$METER_SPEC_CIR_PPS", packets},
              {"$METER_SPEC_PIR_PPS", packets},
              {"$METER_SPEC_CBS_PKTS", packets},
              {"$METER_SPEC_PBS_PKTS", packets}}}};
  }
  static json node(unsigned id, const char* operation = "insert") {
    return {{"op", operation},
            {"table", "$pre.node"},
            {"key", {{"$MULTICAST_NODE_ID", id}}},
            {"data", {{"$MULTICAST_RID", 1}, {"$DEV_PORT", {2}}}}};
  }

  // The error's text; "": there was none.
  std::string write(const json& updates, const char* on_error = "stop") {
    try {
      run_table_command(fixed_, control_, "table_write",
                        {{"updates", updates}, {"on_error", on_error}});
    } catch (const CommandError& error) {
      return error.what();
    }
    return "";
  }
  std::size_t nodes() {
    return run_table_command(fixed_, control_, "table_read", {{"table", "$pre.node"}})
        .at("entries")
        .size();
  }

  DigestQueue digests_;
  ProgramControl control_{"test", kCellsSchema, digests_};
  Counter seen_{4};
  Register<std::uint32_t, 32> hits_{4, 7};
  Meter limits_{4, MeterUnit::kPackets};
  std::size_t configured_ = 0;
  FixedTables fixed_{
      [this](const FixedTables::State& state) { configured_ = state.at("$pre.node").size(); }};
};

TEST_F(TableCommandsTest, CellsAreWrittenInABatch) {
  EXPECT_EQ(write({count(1, 5), values(2, {8, 9}), limit(3, 10), node(1)}), "");
  EXPECT_EQ(seen_.cell(0).packets, 0U);
  EXPECT_EQ(seen_.cell(1).packets, 5U);
  EXPECT_EQ(hits_.raw(1, 0), 7U);
  EXPECT_EQ(hits_.raw(2, 0), 8U);
  EXPECT_EQ(hits_.raw(3, 0), 9U);
  EXPECT_EQ(limits_.cell(3).limits.peak_burst, 10U);
  EXPECT_EQ(nodes(), 1U);
  EXPECT_EQ(write(json::array({count(nullptr, 6)})), "");
  EXPECT_EQ(seen_.cell(0).packets, 6U);
  EXPECT_EQ(seen_.cell(3).packets, 6U);
}

TEST_F(TableCommandsTest, ABatchThatFailsLeavesAllAsItWas) {
  ASSERT_EQ(write({count(1, 5), values(2, {8}), limit(3, 10), node(1)}), "");
  const MeterCell before = limits_.cell(3);
  const std::string error =
      write({node(2), node(1, "modify"), count(1, 50), count(nullptr, 1), values(1, {1, 2, 3}),
             limit(3, 100), limit(0, 1), values(4, {1})});
  EXPECT_TRUE(error.starts_with("updates[7]: ")) << error;
  EXPECT_EQ(nodes(), 1U);
  EXPECT_EQ(configured_, 1U) << "packets see what was before";
  EXPECT_EQ(seen_.cell(0).packets, 0U);
  EXPECT_EQ(seen_.cell(1).packets, 5U);
  EXPECT_EQ(hits_.raw(1, 0), 7U);
  EXPECT_EQ(hits_.raw(2, 0), 8U);
  EXPECT_EQ(limits_.cell(0).is_limited, 0U);
  EXPECT_EQ(limits_.cell(3).limits.peak_burst, before.limits.peak_burst);
  EXPECT_EQ(limits_.cell(3).peak, before.peak);
}

TEST_F(TableCommandsTest, AnErrorHasTheNumberInTheWholeBatch) {
  ASSERT_EQ(write(json::array({node(1)})), "");
  EXPECT_TRUE(write({count(1, 5), node(2), count(1, 6), node(1)}).starts_with("updates[3]: "));
  EXPECT_EQ(seen_.cell(1).packets, 0U);
  EXPECT_EQ(nodes(), 1U);
}

TEST_F(TableCommandsTest, CellsAreOnlyModified) {
  json update = count(1, 5);
  update["op"] = "insert";
  EXPECT_NE(write(json::array({update})), "");
  EXPECT_EQ(seen_.cell(1).packets, 0U);
}

TEST_F(TableCommandsTest, BothOwnersAreOneBatchOrNone) {
  EXPECT_NE(write({count(1, 5), node(1)}, "continue"), "");
  EXPECT_EQ(seen_.cell(1).packets, 0U);
  EXPECT_EQ(nodes(), 0U);
}

}  // namespace
}  // namespace turntable::dataplane
