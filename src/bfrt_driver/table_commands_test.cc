#include "bfrt_driver/table_commands.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bfrt_driver/testing_switch.h"
#include "common/packed_numbers.h"

namespace turntable::bfrt_driver {
namespace {

using Json = nlohmann::json;
using testing::FakeSwitch;
using namespace std::string_literals;

class TableCommands : public ::testing::Test {
 protected:
  TableCommands() : connection(options()), calls(connection) {}

  ConnectionOptions options() const {
    ConnectionOptions all;
    all.address = fake.address();
    all.program = "toy";
    all.call_deadline_s = 60;
    return all;
  }

  static Json send_to(const Json& key, int port) {
    return {{"op", "insert"},
            {"table", "route"},
            {"key", key},
            {"action", "send"},
            {"data", {{"port", port}, {"mac", "02:00:00:00:00:51"}}}};
  }

  std::string message(const Json& updates) {
    try {
      table_write(calls, {{"updates", updates}}, since);
    } catch (const CommandError& error) {
      return error.code() + ": " + error.what();
    }
    return "no error";
  }

  FakeSwitch fake;
  SwitchConnection connection;
  SwitchCalls calls;
  CountsSince since;
};

TEST_F(TableCommands, write_sends_big_endian_bytes_of_each_field) {
  Json update = send_to({{"dst", {{"value", "198.18.0.255"}, {"prefix_len", 24}}},
                         {"port", {{"low", 1}, {"high", 258}}}},
                        259);
  update["priority"] = 5;
  EXPECT_EQ(table_write(calls, {{"updates", {update}}}, since), Json({{"applied", 1}}));
  ASSERT_EQ(fake.writes.size(), 1U);
  const auto& request = fake.writes[0];
  EXPECT_EQ(request.target().pipe_id(), 0xFFFFU);
  EXPECT_EQ(request.atomicity(), bfrt_proto::WriteRequest::ROLLBACK_ON_ERROR);
  EXPECT_EQ(request.updates(0).type(), bfrt_proto::Update::INSERT);
  const auto& entry = request.updates(0).entity().table_entry();
  EXPECT_EQ(entry.table_id(), testing::kRoute);
  EXPECT_EQ(entry.key().fields(0).lpm().value(), "\xC6\x12\x00\x00"s);  // masked
  EXPECT_EQ(entry.key().fields(0).lpm().prefix_len(), 24);
  EXPECT_EQ(entry.key().fields(1).range().low(), "\x00\x01"s);
  EXPECT_EQ(entry.key().fields(1).range().high(), "\x01\x02"s);
  EXPECT_EQ(entry.key().fields(2).field_id(), testing::kPriorityField);
  EXPECT_EQ(entry.key().fields(2).exact().value(), "\x00\x00\x00\x05"s);
  EXPECT_EQ(entry.data().action_id(), testing::kSend);
  EXPECT_EQ(entry.data().fields(0).stream(), "\x01\x03"s);
  EXPECT_EQ(entry.data().fields(1).stream(), "\x02\x00\x00\x00\x00\x51"s);
}

TEST_F(TableCommands, a_key_that_is_left_out_matches_anything) {
  table_write(calls, {{"updates", {send_to(Json::object(), 1)}}}, since);
  const auto& key = fake.writes.at(0).updates(0).entity().table_entry().key();
  EXPECT_EQ(key.fields(0).lpm().prefix_len(), 0);
  EXPECT_EQ(key.fields(1).range().low(), "\x00\x00"s);
  EXPECT_EQ(key.fields(1).range().high(), "\x01\xFF"s);
}

TEST_F(TableCommands, operations_have_the_types_of_the_protocol) {
  const Json key = {{"dst", {{"value", 0}, {"prefix_len", 32}}}};
  Json modify = send_to(key, 1), upsert = modify, remove = modify;
  modify["op"] = "modify";
  upsert["op"] = "upsert";
  remove["op"] = "delete";
  const Json clear = {{"op", "clear"}, {"table", "route"}};
  const Json set_default = {{"op", "set_default"}, {"table", "route"}, {"action", "drop"}};
  table_write(calls, {{"updates", {modify, upsert, remove, clear, set_default}}}, since);
  const auto& updates = fake.writes.at(0).updates();
  using Update = bfrt_proto::Update;
  EXPECT_EQ(updates.at(0).type(), Update::MODIFY);
  EXPECT_EQ(updates.at(1).type(), Update::INSERT_OR_MODIFY);
  EXPECT_EQ(updates.at(2).type(), Update::DELETE);
  EXPECT_EQ(updates.at(3).type(), Update::DELETE);
  EXPECT_FALSE(updates.at(3).entity().table_entry().has_key());
  EXPECT_EQ(updates.at(4).type(), Update::MODIFY);
  EXPECT_TRUE(updates.at(4).entity().table_entry().is_default_entry());
  EXPECT_EQ(updates.at(4).entity().table_entry().data().action_id(), testing::kDrop);
}

TEST_F(TableCommands, each_row_of_columns_is_an_update) {
  using Update = bfrt_proto::Update;
  const std::map<std::string, Update::Type> operations = {
      {"insert_columns", Update::INSERT},
      {"modify_columns", Update::MODIFY},
      {"upsert_columns", Update::INSERT_OR_MODIFY},
      {"delete_columns", Update::DELETE}};
  for (const auto& [operation, type] : operations) {
    Json update = {{"op", operation}, {"table", "cache"}};
    update["key"] = {{"low", pack_numbers(std::vector<std::uint64_t>{1, 0xFFF})},
                     {"high", {2, 0x304}}};
    if (type != Update::DELETE) {
      update["action"] = "cached_at";
      update["data"] = {{"slot", {7, 256}}};
    }
    fake.writes.clear();
    message(Json::array({update}));  // what the switch says of it does not matter
    ASSERT_EQ(fake.writes.size(), 1U) << operation;
    ASSERT_EQ(fake.writes[0].updates_size(), 2) << operation;
    EXPECT_EQ(fake.writes[0].updates(0).type(), type);
    const auto& entry = fake.writes[0].updates(1).entity().table_entry();
    EXPECT_EQ(entry.key().fields(0).exact().value(), "\x0F\xFF"s);
    EXPECT_EQ(entry.key().fields(1).exact().value(), "\x03\x04"s);
    EXPECT_EQ(entry.has_data(), type != Update::DELETE);
    if (type != Update::DELETE) {
      EXPECT_EQ(entry.data().fields(0).stream(), "\x01\x00"s);
    }
  }
  const Json other = {{"op", "clear_columns"}, {"table", "cache"}};
  EXPECT_NE(message(Json::array({other})).find("is not known"), std::string::npos);
}

TEST_F(TableCommands, plain_numbers_are_checked_like_others) {
  const auto insertion = [](const Json& low, const Json& slot) {
    return Json{{"op", "insert"},
                {"table", "cache"},
                {"key", {{"low", low}, {"high", 1}}},
                {"action", "cached_at"},
                {"data", {{"slot", slot}}}};
  };
  EXPECT_EQ(message(Json::array({insertion(0xFFFU, "0x1ff")})), "no error");
  const auto& entry = fake.writes.at(0).updates(0).entity().table_entry();
  EXPECT_EQ(entry.key().fields(0).exact().value(), "\x0F\xFF"s);
  EXPECT_EQ(entry.data().fields(0).stream(), "\x01\xFF"s);
  EXPECT_NE(message(Json::array({insertion(0x1000U, 1U)})).find("key low: 4096 is too wide"),
            std::string::npos);
  EXPECT_NE(message(Json::array({insertion(1U, 512U)})).find("512 is too wide"), std::string::npos);
  EXPECT_NE(message(Json::array({insertion(-1, 1U)})).find("-1 is not"), std::string::npos);
}

TEST_F(TableCommands, a_mirror_session_is_written_by_its_names) {
  const Json update = {
      {"op", "upsert"},
      {"table", "$mirror.cfg"},
      {"key", {{"$sid", 300}}},
      {"data", {{"$session_enable", true}, {"$direction", "EGRESS"}, {"$ucast_egress_port", 64}}}};
  table_write(calls, {{"updates", {update}}}, since);
  const auto& entry = fake.writes.at(0).updates(0).entity().table_entry();
  EXPECT_EQ(entry.key().fields(0).exact().value(), "\x01\x2C"s);
  EXPECT_EQ(entry.data().action_id(), 1U);
  EXPECT_TRUE(entry.data().fields(0).bool_val());
  EXPECT_EQ(entry.data().fields(1).str_val(), "EGRESS");
  EXPECT_EQ(entry.data().fields(2).stream(), "\x00\x00\x00\x40"s);
  const Json read = table_read(calls, {{"table", "$mirror.cfg"}}, since);
  const Json expected = {{"key", update.at("key")}, {"data", update.at("data")}};
  EXPECT_EQ(read.at("entries"), Json::array({expected}));
}

TEST_F(TableCommands, read_gives_what_was_written) {
  const Json key = {{"hdr.ip.dst", {{"value", 0xC6120000U}, {"prefix_len", 24}}},
                    {"ig_md.port", {{"low", 1}, {"high", 2}}}};
  table_write(calls, {{"updates", {send_to(key, 3)}}}, since);
  const Json answer = table_read(calls, {{"table", "route"}}, since);
  EXPECT_EQ(answer.at("table"), "pipe.In.route");
  ASSERT_EQ(answer.at("entries").size(), 1U);
  const Json& entry = answer.at("entries")[0];
  EXPECT_EQ(entry.at("key"), key);
  EXPECT_EQ(entry.at("priority"), 0);
  EXPECT_EQ(entry.at("action"), "In.send");
  EXPECT_EQ(entry.at("data").at("port"), 3);
  EXPECT_EQ(fake.operations, std::vector<std::string>{"SyncCounters"});
  EXPECT_EQ(table_info(calls, {{"table", "route"}}).at("entries"), 1);
}

TEST_F(TableCommands, wrong_updates_are_named_before_anything_is_sent) {
  const Json good = send_to(Json::object(), 1);
  Json wide = send_to(Json::object(), 512);
  EXPECT_EQ(message({good, wide}).find("bad_argument: updates[1]: data port"), 0U)
      << message({good, wide});
  wide["data"].erase("mac");
  wide["data"]["port"] = 1;
  EXPECT_NE(message(Json::array({wide})).find("data mac of action In.send"), std::string::npos);
  EXPECT_TRUE(fake.writes.empty());
}

TEST_F(TableCommands, an_update_that_the_switch_refuses_is_named_as_the_command_numbers_it) {
  // The switch counts rows of columns as updates of their own.
  fake.failing[2] = {grpc::StatusCode::RESOURCE_EXHAUSTED, "Not enough space"};
  const Json clear = {{"op", "clear"}, {"table", "route"}};
  const std::string text = message({clear, send_to(Json::object(), 1), clear});
  EXPECT_EQ(text.find("full: updates[2]: "), 0U) << text;
  EXPECT_NE(text.find("Not enough space"), std::string::npos) << text;
  EXPECT_NE(text.find("no update of this batch was applied"), std::string::npos) << text;
}

// An SDE's code is the same for both; its words are those of bf_status.
TEST_F(TableCommands, a_member_in_use_is_referenced_and_no_entry_that_exists) {
  const Json clear = Json::array({{{"op", "clear"}, {"table", "route"}}});
  fake.failing[0] = {grpc::StatusCode::ALREADY_EXISTS,
                     "Table Entry delete failed table:pipe.In.members: Action data entry is being "
                     "referenced by match entries"};
  const std::string text = message(clear);
  EXPECT_EQ(text.find("referenced: updates[0]: "), 0U) << text;
  EXPECT_EQ(text.find("upsert"), std::string::npos) << text;
  EXPECT_NE(text.find("delete the entries that name it first"), std::string::npos) << text;
  fake.failing[0] = {grpc::StatusCode::ALREADY_EXISTS, "Already exists"};
  EXPECT_NE(message(clear).find("use \"modify\" or \"upsert\""), std::string::npos);
}

TEST_F(TableCommands, an_op_that_is_no_text_is_an_error_of_its_update) {
  const std::string text = message({{{"op", 5}, {"table", "route"}}});
  EXPECT_EQ(text.find("bad_argument: updates[0]: \"op\" is 5, no text; expected \"insert\""), 0U)
      << text;
}

TEST_F(TableCommands, a_row_that_the_switch_refuses_is_named) {
  fake.failing[4] = {grpc::StatusCode::ALREADY_EXISTS, "Already exists"};
  const Json rows = {{"op", "insert_columns"},
                     {"table", "cache"},
                     {"key", {{"low", {1, 2, 3}}, {"high", {1, 2, 3}}}},
                     {"action", "cached_at"},
                     {"data", {{"slot", {7, 8, 9}}}}};
  const Json clear = {{"op", "clear"}, {"table", "route"}};
  const std::string text = message({clear, clear, rows});
  EXPECT_EQ(text.find("exists: updates[2]: row 2: "), 0U) << text;
}

// The errors of all updates before it come along, as more metadata than gRPC takes by default.
TEST_F(TableCommands, the_last_of_many_updates_is_named) {
  constexpr int kMany = 3000;
  fake.failing[kMany] = {grpc::StatusCode::NOT_FOUND, "Object not found"};
  Json updates = Json::array();
  for (int i = 0; i <= kMany; ++i) updates.push_back(send_to(Json::object(), 1));
  EXPECT_EQ(message(updates).find("not_found: updates[3000]: "), 0U) << message(updates);
}

TEST_F(TableCommands, registers_are_written_and_read_as_numbers) {
  const Json written =
      register_write(calls, {{"table", "cells"}, {"first", 2}, {"values", {0x10203, 5}}});
  EXPECT_EQ(written, Json({{"table", "pipe.In.cells"}, {"written", 2}}));
  const auto& updates = fake.writes.at(0).updates();
  EXPECT_EQ(updates.at(0).type(), bfrt_proto::Update::MODIFY);
  EXPECT_EQ(updates.at(0).entity().table_entry().key().fields(0).exact().value(),
            "\x00\x00\x00\x02"s);
  EXPECT_EQ(updates.at(0).entity().table_entry().data().fields(0).stream(), "\x01\x02\x03"s);
  fake.cells[{3, 0}] = {"\x00\x00\x09"s};
  const Json read = register_read(calls, {{"table", "cells"}, {"first", 2}, {"count", 2}}, 0);
  EXPECT_EQ(read, Json({{"table", "pipe.In.cells"}, {"first", 2}, {"values", {0, 9}}}));
  ASSERT_EQ(fake.reads.size(), 1U);  // a range is one call
  EXPECT_EQ(fake.reads[0].entities_size(), 2);
  EXPECT_TRUE(fake.reads[0].entities(0).table_entry().table_flags().from_hw());
}

TEST_F(TableCommands, many_cells_are_synchronised_before_they_are_read) {
  fake.cells[{150, 0}] = {"\x00\x01\x00"s};
  const Json read = register_read(calls, {{"table", "cells"}, {"first", 100}, {"packed", true}}, 0);
  EXPECT_EQ(unpack_numbers(read.at("values"), "cells").at(50), 256U);
  EXPECT_EQ(fake.operations, std::vector<std::string>{"Sync"});
  EXPECT_FALSE(fake.reads.at(0).entities(0).table_entry().table_flags().from_hw());
}

TEST_F(TableCommands, a_register_has_the_values_of_the_pipe_that_was_chosen) {
  fake.pipes = 2;
  fake.cells[{1, 0}] = {"\x11"s, "\x00\x22"s};
  fake.cells[{1, 1}] = {"\x33"s, "\x00\x44"s};
  const Json args = {{"table", "pairs"}};
  EXPECT_EQ(register_read(calls, args, 0).at("values"), Json::parse("[[0, 0], [17, 34]]"));
  EXPECT_EQ(register_read(calls, args, 1).at("values"), Json::parse("[[0, 0], [51, 68]]"));
  try {
    register_read(calls, args, 2);
    FAIL() << "no error";
  } catch (const CommandError& error) {
    EXPECT_EQ(error.code(), "wrong_state");
    EXPECT_NE(std::string(error.what()).find("values of 2 pipes"), std::string::npos);
  }
  fake.pipes = 1;
  EXPECT_EQ(register_read(calls, args, 2).at("values"), Json::parse("[[0, 0], [17, 34]]"));
}

TEST_F(TableCommands, registers_are_cleared_whole_or_cell_by_cell) {
  register_clear(calls, {{"table", "cells"}, {"first", 3}, {"count", 2}});
  EXPECT_EQ(fake.writes.at(0).updates_size(), 2);
  EXPECT_TRUE(fake.writes.at(0).updates(0).entity().table_entry().has_key());
  register_clear(calls, Json::object());
  EXPECT_EQ(fake.writes.at(1).updates_size(), 2);  // both registers
  EXPECT_FALSE(fake.writes.at(1).updates(0).entity().table_entry().has_key());
}

// What the entry of table route has counted, at the switch.
void count_packets(FakeSwitch& fake, std::uint8_t packets) {
  for (auto& [key, entry] : fake.entries) {
    entry.mutable_data()->clear_fields();
    auto& count = *entry.mutable_data()->add_fields();
    count.set_field_id(testing::kCountPackets);
    count.set_stream(std::string(7, '\0') + static_cast<char>(packets));
  }
}

TEST_F(TableCommands, counts_are_those_since_they_were_cleared) {
  const Json args = {{"table", "route"}};
  const auto packets = [&] {
    return counter_read(calls, args, since).at("counters").at(0).at("$COUNTER_SPEC_PKTS");
  };
  table_write(calls, {{"updates", {send_to(Json::object(), 1)}}}, since);
  count_packets(fake, 10);
  EXPECT_EQ(packets(), 10);
  counter_clear(calls, args, since);
  EXPECT_EQ(packets(), 0);
  count_packets(fake, 25);
  EXPECT_EQ(packets(), 15);
  EXPECT_EQ(table_read(calls, args, since).at("entries").at(0).at("data").at("$COUNTER_SPEC_PKTS"),
            15);
  // Another entry with the same key counts from zero.
  const Json clear = {{"op", "clear"}, {"table", "route"}};
  table_write(calls, {{"updates", {clear, send_to(Json::object(), 1)}}}, since);
  count_packets(fake, 30);
  EXPECT_EQ(packets(), 30);
}

TEST_F(TableCommands, a_counter_is_cleared_at_the_switch) {
  counter_clear(calls, Json::object(), since);
  const auto& request = fake.writes.back();
  ASSERT_EQ(request.updates_size(), 1);
  EXPECT_EQ(request.updates(0).type(), bfrt_proto::Update::DELETE);
  EXPECT_EQ(request.updates(0).entity().table_entry().table_id(), testing::kPorts);
}

TEST_F(TableCommands, a_register_is_no_table) {
  EXPECT_THROW(table_read(calls, {{"table", "cells"}}, since), CommandError);
  EXPECT_THROW(register_read(calls, {{"table", "route"}}, 0), CommandError);
  EXPECT_THROW(counter_read(calls, {{"table", "cells"}}, since), CommandError);
}

}  // namespace
}  // namespace turntable::bfrt_driver
