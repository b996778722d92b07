#include "bfrt_server/entry_rows.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bfrt_server/entry_command.h"
#include "common/packed_numbers.h"

namespace turntable::bfrt_server {
namespace {

using bfrt_proto::Update;
using nlohmann::json;

bfrt::Field field(std::uint32_t id, const std::string& name, int width) {
  bfrt::Field made;
  made.id = id;
  made.name = name;
  made.width = width;
  return made;
}

// Keys a (16 bits) and b (8 bits); actions `send` of two numbers, `wide` of one above 64 bits.
bfrt::Table exact_table() {
  bfrt::Table table;
  table.name = "t";
  table.keys = {field(1, "a", 16), field(2, "b", 8)};
  table.actions = {{7, "send", {field(1, "port", 9), field(2, "mark", 64)}},
                   {8, "wide", {field(1, "address", 128)}}};
  return table;
}

bfrt_proto::TableEntry entry(const std::string& a, const std::string& b) {
  bfrt_proto::TableEntry made;
  auto& key = *made.mutable_key();
  auto* first = key.add_fields();
  first->set_field_id(1);
  first->mutable_exact()->set_value(a);
  auto* second = key.add_fields();
  second->set_field_id(2);
  second->mutable_exact()->set_value(b);
  return made;
}

bfrt_proto::TableEntry sending(const std::string& a, const std::string& b) {
  bfrt_proto::TableEntry made = entry(a, b);
  made.mutable_data()->set_action_id(7);
  auto* port = made.mutable_data()->add_fields();
  port->set_field_id(1);
  port->set_stream(std::string("\x01\x02", 2));
  auto* mark = made.mutable_data()->add_fields();
  mark->set_field_id(2);
  mark->set_stream(std::string(7, '\0') + "\x09");
  return made;
}

std::vector<std::uint64_t> column(const json& update, const char* part, const char* name) {
  return unpack_numbers(update.at(part).at(name), name);
}

class EntryRowsTest : public ::testing::Test {
 protected:
  bfrt::Table table_ = exact_table();
  EntryRows::Row row_;

  bool is_row(const bfrt_proto::TableEntry& given, Update::Type type = Update::INSERT) {
    return EntryRows::parse(type, given, table_, row_).has_value();
  }
  EntryRows three_rows() {
    EntryRows rows({Update::INSERT, &table_, &table_.actions[0]});
    rows.add(10, EntryRows::Row{1, 2, 3, 4});
    rows.add(12, EntryRows::Row{5, 6, 7, 8});
    rows.add(13, EntryRows::Row{9, 10, 11, 1ULL << 40});
    return rows;
  }
};

TEST_F(EntryRowsTest, a_row_has_the_numbers_in_the_schemas_order) {
  auto given = sending(std::string("\x12\x34", 2), "\x56");
  const auto kind = EntryRows::parse(Update::MODIFY, given, table_, row_);
  ASSERT_TRUE(kind);
  EXPECT_EQ(*kind, (EntryRows::Kind{Update::MODIFY, &table_, &table_.actions[0]}));
  EXPECT_EQ(row_, (EntryRows::Row{0x1234, 0x56, 0x102, 9}));
  given.mutable_key()->mutable_fields()->SwapElements(0, 1);
  given.mutable_data()->mutable_fields()->SwapElements(0, 1);
  ASSERT_TRUE(is_row(given));
  EXPECT_EQ(row_, (EntryRows::Row{0x1234, 0x56, 0x102, 9}));
  ASSERT_TRUE(is_row(given, Update::DELETE));
  EXPECT_EQ(row_, (EntryRows::Row{0x1234, 0x56}));
}

TEST_F(EntryRowsTest, what_is_no_plain_row_is_left_to_others) {
  using Entry = bfrt_proto::TableEntry;
  const Entry good = sending(std::string(2, '\1'), "\x01");
  ASSERT_TRUE(is_row(good));
  for (const auto type : {Update::UNSPECIFIED, Update::MODIFY_INC, Update::RESET})
    EXPECT_FALSE(is_row(good, type));
  const std::vector<std::function<void(Entry&)>> changes = {
      [](Entry& e) { e.set_is_default_entry(true); },
      [](Entry& e) { e.set_handle_id(1); },
      [](Entry& e) { e.clear_key(); },
      [](Entry& e) { e.mutable_table_flags()->set_reset_stats(true); },
      [](Entry& e) { e.mutable_key()->mutable_fields()->RemoveLast(); },
      [](Entry& e) { *e.mutable_key()->add_fields() = e.key().fields(0); },
      [](Entry& e) { *e.mutable_key()->mutable_fields(1) = e.key().fields(0); },
      [](Entry& e) { e.mutable_key()->mutable_fields(0)->set_field_id(9); },
      [](Entry& e) { e.mutable_key()->mutable_fields(0)->mutable_exact()->set_value("1"); },
      [](Entry& e) { e.mutable_key()->mutable_fields(0)->mutable_lpm()->set_value("11"); },
      [](Entry& e) { e.clear_data(); },
      [](Entry& e) { e.mutable_data()->set_action_id(6); },
      [](Entry& e) { e.mutable_data()->set_action_id(8); },
      [](Entry& e) { e.mutable_data()->mutable_fields()->RemoveLast(); },
      [](Entry& e) { *e.mutable_data()->mutable_fields(1) = e.data().fields(0); },
      [](Entry& e) { e.mutable_data()->mutable_fields(0)->set_stream("\xff\xff"); },
      [](Entry& e) { e.mutable_data()->mutable_fields(0)->set_bool_val(true); },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Entry other = good;
    changes[i](other);
    EXPECT_FALSE(is_row(other)) << i;
  }
  table_.keys[0].match = bfrt::Field::Match::kTernary;
  EXPECT_FALSE(is_row(good));
}

TEST_F(EntryRowsTest, rows_become_columns_or_updates) {
  const EntryRows rows = three_rows();
  const json columns = rows.as_columns();
  EXPECT_EQ(columns.at("op"), "insert_columns");
  EXPECT_EQ(columns.at("table"), "t");
  EXPECT_EQ(columns.at("action"), "send");
  EXPECT_EQ(column(columns, "key", "a"), (std::vector<std::uint64_t>{1, 5, 9}));
  EXPECT_EQ(column(columns, "key", "b"), (std::vector<std::uint64_t>{2, 6, 10}));
  EXPECT_EQ(column(columns, "data", "port"), (std::vector<std::uint64_t>{3, 7, 11}));
  EXPECT_EQ(column(columns, "data", "mark"), (std::vector<std::uint64_t>{4, 8, 1ULL << 40}));
  EXPECT_EQ(rows.as_update(1), (json{{"op", "insert"},
                                     {"table", "t"},
                                     {"key", {{"a", 5U}, {"b", 6U}}},
                                     {"action", "send"},
                                     {"data", {{"port", 7U}, {"mark", 8U}}}}));
  EXPECT_EQ(rows.number(1), 12U);
  EntryRows gone({Update::DELETE, &table_, nullptr});
  gone.add(0, EntryRows::Row{1, 2});
  EXPECT_EQ(gone.as_columns().at("op"), "delete_columns");
  EXPECT_FALSE(gone.as_columns().contains("data"));
}

TEST_F(EntryRowsTest, an_answer_is_told_to_the_rows_it_is_about) {
  EntryRows many({Update::INSERT_OR_MODIFY, &table_, &table_.actions[0]});
  for (std::uint64_t row = 0; row < 20; ++row) many.add(row, EntryRows::Row{row, 0, 0, 0});
  EntryCommand command;
  command.add(4, {{"op", "clear"}});
  command.add(5, many, EntryCommand::Form::kColumns);
  command.add(6, three_rows(), EntryCommand::Form::kColumns);  // too few: one by one
  command.add(7, many, EntryCommand::Form::kColumns);
  EXPECT_EQ(command.size(), 44U);
  EXPECT_EQ(command.take(true).at("updates").size(), 6U);
  std::vector<std::pair<std::size_t, std::size_t>> failed;
  std::vector<std::pair<std::size_t, std::size_t>> replaced;
  command.read_answer(
      json::parse(R"({"errors": [{"index": 0, "code": "a", "message": ""},
                                 {"index": 1, "row": 17, "code": "a", "message": ""},
                                 {"index": 3, "code": "a", "message": ""},
                                 {"index": 5, "code": "a", "message": ""}],
                      "replaced": [{"index": 1, "rows": [3, 4]}, 4]})"),
      [&](EntryCommand::Place place, const CommandError&) {
        failed.emplace_back(place.step, place.row);
      },
      [&](EntryCommand::Place place) { replaced.emplace_back(place.step, place.row); });
  std::vector<std::pair<std::size_t, std::size_t>> expected = {{4, 0}, {5, 17}, {6, 1}};
  for (std::size_t row = 0; row < 20; ++row) expected.emplace_back(7, row);
  EXPECT_EQ(failed, expected);
  EXPECT_EQ(replaced, (std::vector<std::pair<std::size_t, std::size_t>>{{5, 3}, {5, 4}, {6, 2}}));
}

}  // namespace
}  // namespace turntable::bfrt_server
