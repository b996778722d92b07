#include "bfrt/schema.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace turntable::bfrt {
namespace {

// A table as a compiler writes it, and a register.
const char* const kDocument = R"({"schema_version": "1.0.0",
 "learn_filters": [{"id": 7, "name": "pipe.D.learn",
   "fields": [{"id": 1, "name": "mac", "type": {"type": "bytes", "width": 48}}]}],
 "tables": [
  {"name": "pipe.In.route", "id": 101, "table_type": "MatchAction_Direct", "size": 64,
   "key": [{"id": 1, "name": "dst", "mandatory": false, "match_type": "LPM",
            "type": {"type": "bytes", "width": 32}},
           {"id": 65537, "name": "$MATCH_PRIORITY", "match_type": "Exact",
            "type": {"type": "uint32"}}],
   "action_specs": [{"id": 5, "name": "In.to", "data": [
      {"id": 1, "name": "port", "mandatory": true, "type": {"type": "bytes", "width": 9}}]}],
   "data": [{"mandatory": false, "read_only": false, "singleton":
      {"id": 65554, "name": "$COUNTER_SPEC_PKTS", "type": {"type": "uint64"}}}],
   "supported_operations": ["SyncCounters"], "attributes": ["EntryScope"]},
  {"name": "pipe.Out.route", "id": 102, "table_type": "Register", "size": 8,
   "key": [{"id": 65557, "name": "$REGISTER_INDEX", "match_type": "Exact",
            "type": {"type": "uint32"}}],
   "data": [{"mandatory": false, "read_only": false, "singleton":
      {"id": 1, "name": "Out.route.f1", "repeated": true,
       "type": {"type": "bytes", "width": 16}}}]}]})";

Schema parsed() {
  return Schema(nlohmann::json::parse(kDocument));
}

TEST(Schema, has_tables_by_id) {
  const Schema schema = parsed();
  ASSERT_NE(schema.table(101U), nullptr);
  EXPECT_EQ(schema.table(101U)->name, "pipe.In.route");
  EXPECT_EQ(schema.table(103U), nullptr);
}

TEST(Schema, has_tables_by_unique_suffix) {
  const Schema schema = parsed();
  ASSERT_NE(schema.table("In.route"), nullptr);
  EXPECT_EQ(schema.table("In.route")->id, 101U);
  EXPECT_EQ(schema.table("route"), nullptr);    // two have it
  EXPECT_EQ(schema.table("n.route"), nullptr);  // not at a dot
}

TEST(Schema, knows_keys_actions_and_data) {
  const Schema schema = parsed();
  const Table& table = *schema.table(101U);
  EXPECT_EQ(table.key(1U)->match, Field::Match::kLpm);
  EXPECT_EQ(table.key("$MATCH_PRIORITY")->width, 32);
  const Action* action = table.action("to");
  ASSERT_NE(action, nullptr);
  EXPECT_EQ(action->id, 5U);
  EXPECT_EQ(table.datum(action, 1U)->width, 9);
  EXPECT_EQ(table.datum(action, 1U)->bytes(), 2U);
  EXPECT_TRUE(table.datum(action, "port")->mandatory);
  EXPECT_EQ(table.datum(action, 65554U)->name, "$COUNTER_SPEC_PKTS");
  EXPECT_EQ(table.datum(nullptr, 1U), nullptr);
  EXPECT_TRUE(schema.table(102U)->datum(nullptr, "f1")->repeated);
}

TEST(Schema, has_learn_filters) {
  const Schema schema = parsed();
  ASSERT_NE(schema.learn_filter("learn"), nullptr);
  EXPECT_EQ(schema.learn_filter("learn")->fields.at(0).width, 48);
}

TEST(Schema, knows_what_a_container_has) {
  const Schema schema(nlohmann::json::parse(R"({"tables": [
    {"name": "h.configure", "id": 9, "table_type": "DynHashConfigure", "key": [], "data": [
      {"mandatory": false, "read_only": false, "singleton":
        {"id": 1, "name": "hdr.a", "repeated": true, "container": [
          {"mandatory": true, "read_only": false, "singleton":
            {"id": 65586, "name": "order", "type": {"type": "uint64"}}}]}}]}]})"));
  const Field* field = schema.table(9U)->datum(nullptr, "hdr.a");
  ASSERT_NE(field, nullptr);
  EXPECT_EQ(field->kind, Field::Kind::kContainer);
  ASSERT_EQ(field->container.size(), 1U);
  EXPECT_EQ(field->container[0].id, 65586U);
  EXPECT_EQ(field->container[0].width, 64);
  EXPECT_TRUE(field->container[0].mandatory);
}

TEST(Schema, says_what_a_document_lacks) {
  EXPECT_THROW(Schema(nlohmann::json::parse(R"({"tables": [{"name": "x"}]})")), std::runtime_error);
}

}  // namespace
}  // namespace turntable::bfrt
