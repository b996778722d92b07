#include "dataplane/program_control.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "dataplane/names.h"
#include "dataplane/values.h"

namespace turntable::dataplane {
namespace {

using nlohmann::json;

// An exact table of two keys and two entries at most, and a counter.
constexpr const char* kSchema = R"({"learn_filters": [], "tables": [
  {"name": "pipe.In.forward", "table_type": "MatchAction_Direct", "size": 2,
   "has_const_default_action": false, "attributes": [], "data": [],
   "key": [{"name": "hdr.ip.dst", "match_type": "Exact", "type": {"type": "bytes", "width": 32}},
           {"name": "md.class", "match_type": "Exact", "type": {"type": "bytes", "width": 3}}],
   "action_specs": [
     {"name": "In.drop", "action_scope": "TableAndDefault", "data": []},
     {"name": "In.send", "action_scope": "TableAndDefault",
      "data": [{"name": "port", "type": {"type": "bytes", "width": 9}},
               {"name": "label", "type": {"type": "bytes", "width": 100}}]}]},
  {"name": "pipe.In.bytes", "table_type": "Counter", "size": 4, "has_const_default_action": false,
   "attributes": [], "key": [{"name": "$COUNTER_INDEX", "type": {"type": "uint32"}}],
   "data": [{"singleton": {"name": "$COUNTER_SPEC_BYTES"}}]}]})";

class ProgramControlTest : public ::testing::Test {
 protected:
  ProgramControlTest() {
    control_.add_table("pipe.In.forward", table_);
    control_.add_counter("pipe.In.bytes", counter_);
  }

  json write(const json& updates) {
    return control_.execute("table_write", {{"updates", updates}});
  }
  json read() { return control_.execute("table_read", {{"table", "forward"}}); }
  static json insert(const std::string& destination, unsigned port) {
    return {{"op", "insert"},
            {"table", "forward"},
            {"key", {{"dst", destination}, {"class", 1}}},
            {"action", "send"},
            {"data", {{"port", port}, {"label", "0xfffffffffffffffffffffffff"}}}};
  }
  std::string code_of(const json& updates) {
    try {
      write(updates);
    } catch (const CommandError& error) {
      return error.code();
    }
    return "ok";
  }

  DigestQueue digests_;
  ProgramControl control_{"test", kSchema, digests_};
  IndexedTable<ExactMatchIndex<1>> table_{2, 3, {}};
  Counter counter_{4};
};

TEST_F(ProgramControlTest, EntriesReadBack) {
  write(json::array({insert("10.0.0.1", 7)}));
  const json entries = read().at("entries");
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].at("key"), (json{{"hdr.ip.dst", 0x0A000001}, {"md.class", 1}}));
  EXPECT_EQ(entries[0].at("action"), "In.send");
  EXPECT_EQ(entries[0].at("data").at("port"), 7);
  EXPECT_EQ(entries[0].at("data").at("label"), "0xfffffffffffffffffffffffff");
}

TEST_F(ProgramControlTest, LookupFindsWhatWasWritten) {
  write(json::array({insert("10.0.0.1", 7)}));
  const Lookup found = table_.lookup(KeyWords<1>{0x0A000001ULL | 1ULL << 32});
  EXPECT_TRUE(found.hit);
  EXPECT_EQ(found.entry.action(), 1U);
  EXPECT_EQ((found.entry.data<1, 0, 9>()), 7);
  EXPECT_TRUE((found.entry.data<1, 1, 100>()) == kMask<100>);
  EXPECT_FALSE(table_.lookup(KeyWords<1>{0x0A000001ULL}).hit);
}

TEST_F(ProgramControlTest, FailedBatchLeavesEverythingAsItWas) {
  write({insert("10.0.0.1", 1), insert("10.0.0.2", 2)});
  const json before = read();
  json modify = insert("10.0.0.2", 9);
  modify["op"] = "modify";
  const json batch = {
      {{"op", "set_default"}, {"table", "forward"}, {"action", "drop"}},
      modify,
      {{"op", "delete"}, {"table", "forward"}, {"key", {{"dst", "10.0.0.1"}, {"class", 1}}}},
      insert("10.0.0.3", 3),
      {{"op", "clear"}, {"table", "forward"}},
      insert("10.0.0.4", 512)};
  EXPECT_EQ(code_of(batch), "bad_argument");
  EXPECT_EQ(read(), before);
  EXPECT_EQ((table_.lookup(KeyWords<1>{0x0A000002ULL | 1ULL << 32}).entry.data<1, 0, 9>()), 2);
}

TEST_F(ProgramControlTest, AnEntryKeepsItsHandleWhereABatchThatRemovedItFails) {
  write(json::array({insert("10.0.0.1", 7), insert("10.0.0.2", 8)}));
  const json args = {{"table", "forward"}, {"with_handles", true}};
  const json before = control_.execute("table_read", args);
  const json key = {{"dst", "10.0.0.1"}, {"class", 1}};
  const json deletion = {{"op", "delete"}, {"table", "forward"}, {"key", key}};
  EXPECT_EQ(code_of(json::array({deletion, insert("10.0.0.3", 9), deletion})), "not_found");
  EXPECT_EQ(control_.execute("table_read", args), before);
  for (const json& entry : before.at("entries")) {
    const json by_handle = control_.execute(
        "table_read",
        {{"table", "forward"}, {"handles", {entry.at("handle")}}, {"with_handles", true}});
    EXPECT_EQ(by_handle.at("entries"), json::array({entry}));
  }
}

TEST_F(ProgramControlTest, EntriesAreAskedForByKeyOrByHandle) {
  for (const json& args :
       {json{{"handles", 1}}, json{{"handles", {-1}}}, json{{"entries", 1}},
        json{{"with_handles", 1}}, json{{"handles", json::array()}, {"entries", json::array()}}}) {
    json whole = args;
    whole["table"] = "forward";
    EXPECT_THROW(control_.execute("table_read", whole), CommandError) << args;
  }
}

TEST_F(ProgramControlTest, FullAndNotFound) {
  write({insert("10.0.0.1", 1), insert("10.0.0.2", 2)});
  EXPECT_EQ(code_of(json::array({insert("10.0.0.3", 3)})), "full");
  json missing = insert("10.0.0.3", 3);
  missing["op"] = "modify";
  EXPECT_EQ(code_of(json::array({missing})), "not_found");
  // Room is counted within a batch as well.
  EXPECT_EQ(code_of({{{"op", "clear"}, {"table", "forward"}}, insert("10.0.0.3", 3)}), "ok");
}

TEST_F(ProgramControlTest, MissingExactKeyIsAnError) {
  json update = insert("10.0.0.1", 1);
  update["key"].erase("class");
  try {
    write(json::array({update}));
    FAIL();
  } catch (const CommandError& error) {
    EXPECT_STREQ(
        error.what(),
        "updates[0]: table pipe.In.forward: key md.class is missing; it is exact, so every entry "
        "needs a value for it (no update of this batch was applied)");
  }
}

TEST_F(ProgramControlTest, CountersReadAndClear) {
  counter_.count(2, 60);
  counter_.count(2, 40);
  counter_.count(4, 40);  // outside
  const json args = {{"table", "bytes"}, {"index", 2}};
  EXPECT_EQ(control_.execute("counter_read", args).at("counters"),
            json::array({{{"index", 2}, {"$COUNTER_SPEC_BYTES", 100}}}));
  control_.execute("counter_clear", json::object());
  EXPECT_EQ(counter_.cell(2).bytes, 0U);
}

TEST_F(ProgramControlTest, MatchTableCommandsRefuseCounters) {
  EXPECT_THROW(control_.execute("table_read", {{"table", "bytes"}}), CommandError);
  EXPECT_THROW(control_.execute("counter_read", {{"table", "forward"}}), CommandError);
  EXPECT_THROW(control_.execute("counter_read", {{"table", "bytes"}, {"index", 4}}), CommandError);
}

TEST(Names, SuffixesAndSuggestions) {
  const std::vector<std::string> names = {"pipe.A.table", "pipe.B.table", "pipe.A.forward"};
  EXPECT_EQ(resolve_name(names, "A.table", "table", "here"), 0U);
  EXPECT_EQ(resolve_name(names, "forward", "table", "here"), 2U);
  const auto message = [&](const char* wanted) {
    try {
      resolve_name(names, wanted, "table", "here");
    } catch (const CommandError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message("table"),
            "table 'table' here is ambiguous: use one of 'pipe.A.table', 'pipe.B.table'");
  EXPECT_EQ(message("forwrad").find(
                "table 'forwrad' here does not exist: near names are 'pipe.A.forward'"),
            0U);
  EXPECT_FALSE(is_dotted_suffix("pipe.A.forward", "ward"));
}

TEST(Values, AcceptedForms) {
  EXPECT_TRUE(parse_value(5, 8, "x") == 5);
  EXPECT_TRUE(parse_value("0x05", 8, "x") == 5);
  EXPECT_TRUE(parse_value("255", 8, "x") == 255);
  EXPECT_TRUE(parse_value("198.18.0.1", 32, "x") == 0xC6120001);
  EXPECT_TRUE(parse_value("02:00:00:00:00:51", 48, "x") == 0x020000000051);
  EXPECT_TRUE(parse_value("2001:db8::1", 128, "x") == wide_constant(0x20010DB800000000, 1));
  EXPECT_TRUE(parse_value(true, 1, "x") == 1);
}

TEST(Values, RefusedForms) {
  for (const json& value : {json(256), json(-1), json(1.5), json("0x"), json("0x100"),
                            json("1.2.3.4"), json("two"), json(nullptr), json(true), json("")}) {
    EXPECT_THROW(parse_value(value, 8, "x"), CommandError) << value;
  }
  // 2^128 and a MAC address that is too short
  EXPECT_THROW(parse_value("340282366920938463463374607431768211456", 128, "x"), CommandError);
  EXPECT_THROW(parse_value("02:00:00:00:00", 48, "x"), CommandError);
}

}  // namespace
}  // namespace turntable::dataplane
