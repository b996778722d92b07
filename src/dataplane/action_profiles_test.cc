// Who is named is there: members of action profiles, groups of selectors, and the entries that name
// them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <tuple>

#include "common/command_error.h"
#include "dataplane/program_control.h"

namespace turntable::dataplane {
namespace {

using nlohmann::json;

constexpr const char* kProfileSchema = R"({"learn_filters": [], "tables": [
  {"name": "pipe.In.by_kind", "table_type": "MatchAction_Indirect_Selector", "size": 40000,
   "has_const_default_action": false, "attributes": [], "data": [],
   "key": [{"name": "kind", "match_type": "Exact", "type": {"type": "bytes", "width": 32}}]},
  {"name": "pipe.In.members", "table_type": "Action", "size": 4096,
   "has_const_default_action": false, "attributes": [], "data": [],
   "key": [{"name": "$ACTION_MEMBER_ID", "match_type": "Exact", "type": {"type": "uint32"}}],
   "action_specs": [{"name": "In.mark", "action_scope": "TableAndDefault",
                     "data": [{"name": "value", "type": {"type": "bytes", "width": 8}}]}]},
  {"name": "pipe.In.groups", "table_type": "Selector", "size": 8,
   "has_const_default_action": false, "attributes": [], "data": [],
   "key": [{"name": "$SELECTOR_GROUP_ID", "match_type": "Exact", "type": {"type": "uint32"}}]}]})";

class ActionProfilesTest : public ::testing::Test {
 protected:
  ActionProfilesTest() {
    control_.add_table("pipe.In.by_kind", table_);
    control_.add_table("pipe.In.members", members_);
    control_.profiles().add_selector("pipe.In.groups", groups_, "pipe.In.members");
    control_.profiles().add_implementation("pipe.In.by_kind", "pipe.In.members", "pipe.In.groups");
  }

  static json member(const char* operation, unsigned number) {
    return {{"op", operation},
            {"table", "members"},
            {"key", {{"$ACTION_MEMBER_ID", number}}},
            {"action", "mark"},
            {"data", {{"value", 1}}}};
  }
  static json group(const char* operation, unsigned number, const json& members) {
    return {{"op", operation},
            {"table", "groups"},
            {"key", {{"$SELECTOR_GROUP_ID", number}}},
            {"data",
             {{"$ACTION_MEMBER_ID", members},
              {"$ACTION_MEMBER_STATUS", json::array_t(members.size(), true)}}}};
  }
  // `name`: "$ACTION_MEMBER_ID" or "$SELECTOR_GROUP_ID".
  static json entry(const char* operation, unsigned kind, const char* name, unsigned number) {
    return {{"op", operation},
            {"table", "by_kind"},
            {"key", {{"kind", kind}}},
            {"data", {{name, number}}}};
  }
  static json clear(const char* table) { return {{"op", "clear"}, {"table", table}}; }

  json write(const json& updates, const char* on_error = "stop") {
    return control_.execute("table_write", {{"updates", updates}, {"on_error", on_error}});
  }
  std::string code_of(const json& update) {
    try {
      write(json::array({update}));
    } catch (const CommandError& error) {
      return error.code();
    }
    return "ok";
  }
  // Index and code of those that failed; the others are done.
  std::vector<std::tuple<int, std::string>> errors_of(const json& updates) {
    std::vector<std::tuple<int, std::string>> errors;
    const json answer = write(updates, "continue");
    for (const json& error : answer.at("errors"))
      errors.emplace_back(error["index"], error["code"]);
    return errors;
  }

  DigestQueue digests_;
  ProgramControl control_{"test", kProfileSchema, digests_};
  IndexedTable<ExactMatchIndex<1>> table_{40000, 1, {}};
  IndexedTable<ExactMatchIndex<1>> members_{4096, 1, {}};
  ActionSelector groups_{4, 8, false};
};

TEST_F(ActionProfilesTest, WhoIsNamedIsNotRemoved) {
  write({member("insert", 1), member("insert", 2), group("insert", 7, {2}),
         entry("insert", 1, kMemberField, 1), entry("insert", 2, kGroupField, 7)});
  for (const json& update : {member("delete", 1), member("delete", 2), group("delete", 7, {}),
                             clear("members"), clear("groups")}) {
    EXPECT_EQ(code_of(update), "referenced") << update;
  }
  write({entry("modify", 1, kGroupField, 7), member("delete", 1)});
  write({group("modify", 7, json::array()), member("delete", 2)});
  write({clear("by_kind"), group("delete", 7, {})});
}

TEST_F(ActionProfilesTest, ABatchThatIsUndoneNamesNobody) {
  write({member("insert", 1), member("insert", 2), entry("insert", 1, kMemberField, 1)});
  const json bad = member("insert", 1);
  EXPECT_EQ(code_of(bad), "exists");
  EXPECT_THROW(write({group("insert", 7, {2}), entry("insert", 2, kGroupField, 7),
                      entry("modify", 1, kMemberField, 2), bad}),
               CommandError);
  EXPECT_EQ(code_of(member("delete", 1)), "referenced");
  EXPECT_EQ(code_of(member("delete", 2)), "ok");
}

TEST_F(ActionProfilesTest, AClearThatIsRefusedLeavesAllGroups) {
  write({member("insert", 1), group("insert", 3, {1}), group("insert", 7, {1}),
         entry("insert", 1, kGroupField, 7)});
  const auto groups = [&] { return control_.execute("table_read", {{"table", "groups"}}); };
  const json before = groups();
  EXPECT_EQ(errors_of({clear("groups"), member("insert", 2)}),
            (std::vector<std::tuple<int, std::string>>{{0, "referenced"}}));
  EXPECT_EQ(groups(), before);
}

TEST_F(ActionProfilesTest, AnOperationThatIsNoTextIsAnErrorOfItsUpdate) {
  json updates = json::array({member("insert", 1)});
  for (const char* table : {"by_kind", "members", "groups"})
    updates.push_back({{"op", 5}, {"table", table}});
  updates.push_back(group("insert", 7, {1}));
  EXPECT_EQ(errors_of(updates),
            (std::vector<std::tuple<int, std::string>>{
                {1, "bad_argument"}, {2, "bad_argument"}, {3, "bad_argument"}}));
  EXPECT_EQ(groups_.groups().size(), 1U);
}

// Of the hashes 0 to 5, so many choose a member as it has weight.
TEST_F(ActionProfilesTest, AMemberIsChosenByItsWeight) {
  write({member("insert", 1), member("insert", 2)});
  json update = group("insert", 5, {1, 2});
  update["data"]["$ACTION_MEMBER_WEIGHT"] = {2, 1};
  update["data"]["$MAX_GROUP_SIZE"] = 3;
  ASSERT_EQ(code_of(update), "ok");
  const auto chosen = [&] {
    std::vector<std::uint64_t> members;
    for (std::uint64_t hash = 0; hash < 6; ++hash) members.push_back(groups_.choose(5, hash));
    return members;
  };
  EXPECT_EQ(chosen(), (std::vector<std::uint64_t>{1, 1, 2, 1, 1, 2}));
  const json args = {{"table", "groups"}};
  EXPECT_EQ(control_.execute("table_read", args)["entries"][0]["data"]["$ACTION_MEMBER_WEIGHT"],
            (json{2, 1}));
  update["op"] = "modify";
  update["data"]["$ACTION_MEMBER_STATUS"] = {true, false};
  ASSERT_EQ(code_of(update), "ok");
  EXPECT_EQ(chosen(), (std::vector<std::uint64_t>{1, 1, 1, 1, 1, 1}));
  update["data"]["$ACTION_MEMBER_WEIGHT"] = {3, 1};
  EXPECT_EQ(code_of(update), "full");
  update["data"]["$ACTION_MEMBER_WEIGHT"] = {0, 1};
  EXPECT_EQ(code_of(update), "bad_argument");
  update["data"]["$ACTION_MEMBER_WEIGHT"] = json::array({1});
  EXPECT_EQ(code_of(update), "bad_argument");
}

TEST_F(ActionProfilesTest, OnlyWhatWasThereIsToldAsReplaced) {
  write(json::array({member("insert", 1)}));
  EXPECT_EQ(write({member("upsert", 1), clear("groups")}, "continue").at("replaced"), json({0}));
}

TEST_F(ActionProfilesTest, TheDefaultEntryNamesAMember) {
  const auto by_default = [](const json& data) {
    return json{{"op", "set_default"}, {"table", "by_kind"}, {"data", data}};
  };
  const json reset = {{"op", "reset_default"}, {"table", "by_kind"}};
  const auto in_table = [&] { return control_.execute("table_read", {{"table", "by_kind"}}); };
  EXPECT_EQ(code_of(by_default({{kMemberField, 2}})), "not_found");
  write({member("insert", 1), member("insert", 2), group("insert", 7, {1})});
  EXPECT_TRUE(in_table().at("default").is_null());
  ASSERT_EQ(code_of(by_default({{kMemberField, 2}})), "ok");
  EXPECT_EQ(in_table().at("default"), (json{{"data", {{kMemberField, 2}}}}));
  EXPECT_EQ(in_table().at("entries"), json::array());
  EXPECT_EQ(code_of(member("delete", 2)), "referenced");
  EXPECT_EQ(code_of(by_default({{kGroupField, 7}})), "bad_argument");
  EXPECT_EQ(code_of({{"op", "set_default"}, {"table", "by_kind"}, {"action", "mark"}}),
            "bad_argument");
  ASSERT_EQ(code_of(reset), "ok");
  EXPECT_TRUE(in_table().at("default").is_null());
  EXPECT_EQ(code_of(member("delete", 2)), "ok");
}

}  // namespace
}  // namespace turntable::dataplane
