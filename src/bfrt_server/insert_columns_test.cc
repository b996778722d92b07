#include "bfrt_server/insert_columns.h"

#include <gtest/gtest.h>

#include "common/packed_numbers.h"

namespace turntable::bfrt_server {
namespace {

using nlohmann::json;

json insertion(std::uint64_t key, std::uint64_t port) {
  return {{"op", "insert"},
          {"table", "t"},
          {"action", "send"},
          {"key", {{"k", key}}},
          {"data", {{"port", port}}}};
}

TEST(InsertColumns, have_a_row_of_each_insertion) {
  const auto columns = as_columns({insertion(7, 1), insertion(300, 2)});
  ASSERT_TRUE(columns);
  EXPECT_EQ(columns->at("op"), "insert_columns");
  EXPECT_EQ(columns->at("table"), "t");
  EXPECT_EQ(columns->at("action"), "send");
  EXPECT_EQ(unpack_numbers(columns->at("key").at("k"), "k"), (std::vector<std::uint64_t>{7, 300}));
  EXPECT_EQ(unpack_numbers(columns->at("data").at("port"), "p"),
            (std::vector<std::uint64_t>{1, 2}));
}

TEST(InsertColumns, are_of_one_kind_only) {
  for (const auto& [member, value] : std::map<std::string, json>{{"op", "modify"},
                                                                 {"table", "u"},
                                                                 {"action", "drop"},
                                                                 {"priority", 1U},
                                                                 {"key", {{"other", 1U}}},
                                                                 {"key", {{"k", "0x10"}}},
                                                                 {"data", json::object()}}) {
    json other = insertion(8, 1);
    other[member] = value;
    EXPECT_FALSE(as_columns({insertion(7, 1), other})) << member;
  }
  json wide = insertion(8, 1);
  wide["key"]["k"] = {{"value", 1U}, {"prefix_len", 8U}};
  EXPECT_FALSE(as_columns({wide}));
  EXPECT_FALSE(as_columns({json{{"op", "clear"}, {"table", "t"}}}));
  EXPECT_FALSE(as_columns({}));
}

}  // namespace
}  // namespace turntable::bfrt_server
