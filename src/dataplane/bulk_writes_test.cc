// Many entries and cells in one command: columns, and packed numbers.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "common/command_error.h"
#include "common/packed_numbers.h"
#include "dataplane/program_control.h"

namespace turntable::dataplane {
namespace {

using nlohmann::json;

// An exact table of two keys and four entries at most; registers of one field and of pairs.
constexpr const char* kBulkSchema = R"({"learn_filters": [], "tables": [
  {"name": "pipe.In.cache", "table_type": "MatchAction_Direct", "size": 4,
   "has_const_default_action": false, "attributes": [], "data": [],
   "key": [{"name": "key_low", "match_type": "Exact", "type": {"type": "bytes", "width": 32}},
           {"name": "key_high", "match_type": "Exact", "type": {"type": "bytes", "width": 16}}],
   "action_specs": [
     {"name": "In.miss", "action_scope": "DefaultOnly", "data": []},
     {"name": "In.cached_at", "action_scope": "TableOnly",
      "data": [{"name": "slot", "type": {"type": "bytes", "width": 12}}]}]},
  {"name": "pipe.In.prefixes", "table_type": "MatchAction_Direct", "size": 4,
   "has_const_default_action": false, "attributes": [], "data": [],
   "key": [{"name": "dst", "match_type": "LPM", "type": {"type": "bytes", "width": 32}}],
   "action_specs": [{"name": "In.drop", "action_scope": "TableAndDefault", "data": []}]},
  {"name": "pipe.In.cells", "table_type": "Register", "size": 8,
   "has_const_default_action": false, "attributes": [],
   "key": [{"name": "$REGISTER_INDEX", "type": {"type": "uint32"}}],
   "data": [{"singleton": {"name": "f1", "type": {"type": "bytes", "width": 12}}}]},
  {"name": "pipe.In.pairs", "table_type": "Register", "size": 8,
   "has_const_default_action": false, "attributes": [],
   "key": [{"name": "$REGISTER_INDEX", "type": {"type": "uint32"}}],
   "data": [{"singleton": {"name": "first", "type": {"type": "bytes", "width": 32}}},
            {"singleton": {"name": "second", "type": {"type": "bytes", "width": 8}}}]}]})";

struct Pair {
  std::uint32_t first;
  std::uint8_t second;
};

// Its fields have different widths, as BfRt's have.
class PairCells final : public RegisterArray {
 public:
  std::uint32_t size() const noexcept override { return 8; }
  int fields() const noexcept override { return 2; }
  std::uint64_t raw(std::uint32_t index, int field) const override {
    return field == 0 ? cells_.at(index).first : cells_.at(index).second;
  }
  void set_raw(std::uint32_t index, int field, std::uint64_t bits) override {
    if (field == 0) {
      cells_.at(index).first = static_cast<std::uint32_t>(bits);
    } else {
      cells_.at(index).second = static_cast<std::uint8_t>(bits);
    }
  }
  void reset(std::uint32_t index) override { cells_.at(index) = {}; }

 private:
  std::array<Pair, 8> cells_{};
};

class BulkWritesTest : public ::testing::Test {
 protected:
  BulkWritesTest() {
    control_.add_table("pipe.In.cache", table_);
    control_.add_table("pipe.In.prefixes", prefixes_);
    control_.add_register("pipe.In.cells", cells_);
    control_.add_register("pipe.In.pairs", pairs_);
  }

  // Entries (low, high) -> slot.
  static json columns(const json& low, const json& high, const json& slot) {
    return {{"op", "upsert_columns"},
            {"table", "cache"},
            {"key", {{"key_low", low}, {"key_high", high}}},
            {"action", "cached_at"},
            {"data", {{"slot", slot}}}};
  }
  json run(const char* command, const json& args) { return control_.execute(command, args); }
  std::string error_of(const char* command, const json& args) {
    try {
      run(command, args);
    } catch (const CommandError& error) {
      return error.what();
    }
    return "no error";
  }
  std::string write_error(const json& update) {
    return error_of("table_write", {{"updates", json::array({update})}});
  }
  void write(const json& update) { run("table_write", {{"updates", json::array({update})}}); }
  // The slot of an entry; -1: none.
  int slot_of(std::uint64_t low, std::uint64_t high) {
    const Lookup found = table_.lookup(KeyWords<1>{low | high << 32});
    return found.hit ? static_cast<int>(found.entry.data<1, 0, 12>()) : -1;
  }
  json values(const char* name) { return run("register_read", {{"table", name}}).at("values"); }

  DigestQueue digests_;
  ProgramControl control_{"test", kBulkSchema, digests_};
  IndexedTable<ExactMatchIndex<1>> table_{4, 1, {}};
  IndexedTable<LpmMatchIndex<1, 0, 32>> prefixes_{4, 0, {}};
  Register<std::uint16_t, 12> cells_{8};
  PairCells pairs_;
};

json raw(std::vector<std::uint8_t> bytes) {
  return json::binary(std::move(bytes));
}

TEST(PackedNumbers, AreLittleEndian) {
  const json packed = pack_numbers(std::vector<std::uint64_t>{1, 2, 511});
  EXPECT_EQ(packed, (json{{"bytes", 2}, {"raw", raw({1, 0, 2, 0, 255, 1})}}));
  EXPECT_EQ(unpack_numbers(packed, "x"), (std::vector<std::uint64_t>{1, 2, 511}));
  for (const std::uint64_t number : {0ULL, 255ULL, 256ULL, 0xffffffffULL, 1ULL << 32, ~0ULL}) {
    const std::vector<std::uint64_t> two = {number, 7};
    EXPECT_EQ(unpack_numbers(pack_numbers(two), "x"), two);
  }
  EXPECT_TRUE(unpack_numbers(pack_numbers({}), "x").empty());
}

TEST(PackedNumbers, OtherFormsAreRefused) {
  for (const json& wrong :
       {json{{"bytes", 3}, {"raw", raw({1, 0, 2})}}, json{{"raw", raw({1, 0, 2})}},
        json{{"bytes", 2}, {"raw", raw({1, 0, 2})}}, json{{"bytes", 1}},
        json{{"bytes", 1}, {"raw", "AQAC"}}, json{{"bytes", 1}, {"raw", {1, 0, 2}}},
        json{{"bytes", 1}, {"raw", raw({1})}, {"more", 1}}, raw({1, 0, 2})}) {
    EXPECT_THROW(unpack_numbers(wrong, "x"), CommandError) << wrong;
  }
}

TEST_F(BulkWritesTest, ColumnsInsertAndReplace) {
  write(columns({1, 2}, {10, 20}, {100, 200}));
  EXPECT_EQ(slot_of(1, 10), 100);
  EXPECT_EQ(slot_of(2, 20), 200);
  EXPECT_EQ(slot_of(1, 20), -1);
  write(columns(pack_numbers(std::vector<std::uint64_t>{2, 3}), {20, "0x1e"}, {201, 300}));
  EXPECT_EQ(slot_of(1, 10), 100);
  EXPECT_EQ(slot_of(2, 20), 201);
  EXPECT_EQ(slot_of(3, 30), 300);
  EXPECT_EQ(table_.size(), 3U);
}

TEST_F(BulkWritesTest, InsertedColumnsReplaceNothing) {
  json insertion = columns({1, 2}, {10, 20}, {100, 200});
  insertion["op"] = "insert_columns";
  write(insertion);
  EXPECT_EQ(slot_of(2, 20), 200);
  json again = columns({3, 2}, {30, 20}, {300, 201});
  again["op"] = "insert_columns";
  EXPECT_NE(
      write_error(again).find(
          "row 1: table pipe.In.cache: entry key_low 0x00000002, key_high 0x0014 exists already"),
      std::string::npos);
  EXPECT_EQ(slot_of(2, 20), 200);
  EXPECT_EQ(slot_of(3, 30), -1);
}

TEST_F(BulkWritesTest, ABatchMayGoOnAfterErrors) {
  const auto one = [](const char* operation, int low, int slot) {
    return json{{"op", operation},
                {"table", "cache"},
                {"key", {{"key_low", low}, {"key_high", 0}}},
                {"action", "cached_at"},
                {"data", {{"slot", slot}}}};
  };
  // The columns are full at their last two rows.
  const json updates = {
      one("insert", 1, 11), one("insert", 1, 12),
      one("modify", 9, 1),  columns({1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}),
      one("upsert", 1, 13), one("upsert", 2, 14),
      "no update"};
  const json answer = run("table_write", {{"updates", updates}, {"on_error", "continue"}});
  EXPECT_EQ(answer.at("applied"), 5);
  EXPECT_EQ(answer.at("replaced"), json({4}));
  std::vector<std::tuple<int, int, std::string>> errors;
  for (const json& error : answer.at("errors"))
    errors.emplace_back(error["index"], error.value("row", -1), error["code"]);
  EXPECT_EQ(errors, (std::vector<std::tuple<int, int, std::string>>{{1, -1, "exists"},
                                                                    {2, -1, "not_found"},
                                                                    {3, 3, "full"},
                                                                    {3, 4, "full"},
                                                                    {5, -1, "full"},
                                                                    {6, -1, "bad_argument"}}));
  EXPECT_EQ(slot_of(1, 0), 13);
  EXPECT_EQ(slot_of(3, 3), 3);
  EXPECT_EQ(table_.size(), 4U);
}

TEST_F(BulkWritesTest, RowsOfColumnsAreTriedLikeTheSameUpdatesOneByOne) {
  const auto rows_of = [&](const char* operation, const json& keys) {
    json update = columns(keys, keys, keys);
    update["op"] = operation;
    return update;
  };
  // In this order 3 is there twice at once, and 9 never.
  const std::vector<std::pair<std::string, std::vector<int>>> runs = {{"insert", {1, 2, 3, 3}},
                                                                      {"modify", {9, 3, 1}},
                                                                      {"delete", {2, 2, 9}},
                                                                      {"upsert", {4, 1, 5, 6}}};
  json in_columns = json::array();
  json one_by_one = json::array();
  for (const auto& [operation, keys] : runs) {
    in_columns.push_back(rows_of((operation + "_columns").c_str(), keys));
    for (const int key : keys) {
      json update = rows_of(operation.c_str(), key);
      update["data"]["slot"] = key;
      one_by_one.push_back(update);
    }
  }
  const json at_once = run("table_write", {{"updates", in_columns}, {"on_error", "continue"}});
  const auto entries = [&] {
    const json read = run("table_read", {{"table", "cache"}}).at("entries");
    return std::set<json>(read.begin(), read.end());
  };
  const auto left = entries();
  write({{"op", "clear"}, {"table", "cache"}});
  const json single = run("table_write", {{"updates", one_by_one}, {"on_error", "continue"}});
  EXPECT_EQ(entries(), left);
  EXPECT_EQ(at_once.at("applied"), single.at("applied"));
  EXPECT_EQ(at_once.at("replaced"), json::parse(R"([{"index": 3, "rows": [1]}])"));
  ASSERT_EQ(at_once.at("errors").size(), single.at("errors").size());
  ASSERT_EQ(single.at("errors").size(), 5U);
  const std::vector<std::size_t> first = {0, 4, 7, 10};
  for (std::size_t i = 0; i < single.at("errors").size(); ++i) {
    const json& error = at_once.at("errors").at(i);
    const json& expected = single.at("errors").at(i);
    EXPECT_EQ(first.at(error.at("index")) + error.at("row").get<std::size_t>(),
              expected.at("index"));
    EXPECT_EQ(error.at("code"), expected.at("code"));
    EXPECT_EQ(error.at("message"), expected.at("message"));
  }
}

TEST_F(BulkWritesTest, ColumnsThatFailBringErasedAndChangedEntriesBack) {
  write(columns({1, 2, 3}, {10, 20, 30}, {100, 200, 300}));
  const json before = run("table_read", {{"table", "cache"}});
  json erased = columns({2, 1, 7}, {20, 10, 70}, {0, 0, 0});
  erased["op"] = "delete_columns";
  json changed = columns({3}, {30}, {301});
  changed["op"] = "modify_columns";
  EXPECT_NE(error_of("table_write", {{"updates", {changed, erased}}})
                .find("updates[1]: row 2: table pipe.In.cache: entry"),
            std::string::npos);
  EXPECT_EQ(run("table_read", {{"table", "cache"}}), before);
  erased["key"] = {{"key_low", {2, 1}}, {"key_high", {20, 10}}};
  run("table_write", {{"updates", {changed, erased}}});
  EXPECT_EQ(table_.size(), 1U);
  EXPECT_EQ(slot_of(3, 30), 301);
}

TEST_F(BulkWritesTest, ChosenEntriesAreRead) {
  write(columns({1, 2}, {10, 20}, {100, 200}));
  const auto key = [](int low, int high) {
    return json{{"key", {{"key_low", low}, {"key_high", high}}}};
  };
  const json answer =
      run("table_read", {{"table", "cache"}, {"entries", {key(2, 20), key(1, 20), key(1, 10)}}});
  EXPECT_EQ(answer.at("entries").at(0).at("data").at("slot"), 200);
  EXPECT_TRUE(answer.at("entries").at(1).is_null());
  EXPECT_EQ(answer.at("entries").at(2).at("data").at("slot"), 100);
}

TEST_F(BulkWritesTest, TheProgramsDefaultEntryComesBack) {
  table_.set_default({0});
  const auto default_of = [&] { return run("table_read", {{"table", "cache"}}).at("default"); };
  const json before = default_of();
  prefixes_.set_default({0});
  write({{"op", "set_default"}, {"table", "cache"}, {"action", "miss"}, {"data", json::object()}});
  write({{"op", "reset_default"}, {"table", "cache"}});
  EXPECT_EQ(default_of(), before);
}

TEST_F(BulkWritesTest, AFailedBatchOfColumnsLeavesEverythingAsItWas) {
  write(columns({1, 2}, {10, 20}, {100, 200}));
  const json before = run("table_read", {{"table", "cache"}});
  // A good update, then one that is full at its last row.
  EXPECT_EQ(error_of("table_write", {{"updates",
                                      {columns({1, 3}, {10, 30}, {101, 300}),
                                       columns({2, 4, 5}, {20, 40, 50}, {201, 400, 500})}}}),
            "updates[1]: row 2: table pipe.In.cache is full at 4 entries; delete some, or "
            "enlarge `size` in the P4 program (no update of this batch was applied)");
  EXPECT_EQ(run("table_read", {{"table", "cache"}}), before);
  EXPECT_EQ(slot_of(2, 20), 200);
  EXPECT_EQ(slot_of(3, 30), -1);
}

TEST_F(BulkWritesTest, EntriesThatABatchHadDeletedComeBackAsTheyWere) {
  write(columns({1, 2}, {10, 20}, {100, 200}));
  const json one = {{"key_low", 1}, {"key_high", 10}};
  const json change = {{"op", "modify"},
                       {"table", "cache"},
                       {"key", one},
                       {"action", "cached_at"},
                       {"data", {{"slot", 101}}}};
  const json removal = {{"op", "delete"}, {"table", "cache"}, {"key", one}};
  error_of("table_write", {{"updates",
                            {change, removal, columns({3, 4}, {30, 40}, {300, 400}),
                             columns({5, 6}, {50, 60}, {500, 600})}}});
  EXPECT_EQ(slot_of(1, 10), 100);
  EXPECT_EQ(slot_of(2, 20), 200);
  EXPECT_EQ(table_.size(), 2U);
}

TEST_F(BulkWritesTest, ErrorsNameRowAndField) {
  EXPECT_NE(write_error(columns({1, 2}, {10, 65536}, {1, 2}))
                .find("key key_high, row 1: 65536 is too wide; the field is bit<16>"),
            std::string::npos);
  EXPECT_NE(
      write_error(columns({1, 2}, {10, 20}, pack_numbers(std::vector<std::uint64_t>{4096, 1})))
          .find("data slot, row 0: 4096 is too wide; the field is bit<12>"),
      std::string::npos);
  EXPECT_NE(write_error(columns({1, 2}, {10}, {1, 2}))
                .find("key key_high has 1 rows; expected as many as the first column, 2"),
            std::string::npos);
  EXPECT_NE(write_error(columns({1, -2}, {10, 20}, {1, 2})).find("key key_low, row 1: -2 is not"),
            std::string::npos);
  json without_slot = columns({1}, {10}, {1});
  without_slot["data"] = json::object();
  EXPECT_NE(write_error(without_slot).find("column slot is missing"), std::string::npos);
  json other_action = columns({1}, {10}, {1});
  other_action["action"] = "miss";
  EXPECT_NE(write_error(other_action).find("@defaultonly"), std::string::npos);
  EXPECT_NE(write_error({{"op", "upsert_columns"},
                         {"table", "prefixes"},
                         {"key", {{"dst", {1}}}},
                         {"action", "drop"}})
                .find("for tables whose keys are all exact"),
            std::string::npos);
  EXPECT_EQ(table_.size(), 0U);
}

TEST_F(BulkWritesTest, RegistersTakeAndGivePackedCells) {
  const std::vector<std::uint64_t> numbers = {4095, 0, 7};
  EXPECT_EQ(
      run("register_write", {{"table", "cells"}, {"first", 2}, {"values", pack_numbers(numbers)}}),
      (json{{"table", "pipe.In.cells"}, {"written", 3}}));
  EXPECT_EQ(values("cells"), (json{0, 0, 4095, 0, 7, 0, 0, 0}));
  EXPECT_EQ(run("register_read", {{"table", "cells"}, {"first", 2}, {"count", 3}, {"packed", true}})
                .at("values"),
            pack_numbers(numbers));

  run("register_write", {{"table", "pairs"},
                         {"first", 6},
                         {"values", pack_numbers(std::vector<std::uint64_t>{70'000, 1, 9, 255})}});
  EXPECT_EQ(values("pairs").at(6), (json{70'000, 1}));
  EXPECT_EQ(values("pairs").at(7), (json{9, 255}));
}

TEST_F(BulkWritesTest, WrongCellsAreNamedAndNoneIsWritten) {
  const auto write_packed = [&](const char* name, int first, std::vector<std::uint64_t> numbers) {
    return error_of("register_write",
                    {{"table", name}, {"first", first}, {"values", pack_numbers(numbers)}});
  };
  EXPECT_EQ(write_packed("cells", 0, {1, 4096}),
            "register pipe.In.cells: values[1]: 4096 is too wide; the field is bit<12>");
  EXPECT_EQ(write_packed("pairs", 0, {1, 2, 3, 256}),
            "register pipe.In.pairs: values[1]: 256 is too wide; the field is bit<8>");
  EXPECT_EQ(write_packed("pairs", 0, {1, 2, 3}),
            "register pipe.In.pairs: values are 3 numbers; expected pairs");
  EXPECT_NE(write_packed("cells", 6, {1, 2, 3}).find("go beyond its size 8"), std::string::npos);
  EXPECT_NE(error_of("register_write", {{"table", "cells"}, {"values", 5}})
                .find("expected an array, one value per cell"),
            std::string::npos);
  EXPECT_EQ(values("cells"), json(std::vector<int>(8)));
}

}  // namespace
}  // namespace turntable::dataplane
