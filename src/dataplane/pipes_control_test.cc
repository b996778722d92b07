#include "dataplane/pipes_control.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "common/packed_numbers.h"
#include "dataplane/program_control.h"

namespace turntable::dataplane {
namespace {

using nlohmann::json;

// An exact table with a direct counter, a register and a counter.
constexpr const char* kPipesSchema = R"({"learn_filters": [], "tables": [
  {"name": "pipe.In.forward", "table_type": "MatchAction_Direct", "size": 2,
   "has_const_default_action": false, "attributes": [],
   "data": [{"singleton": {"name": "$COUNTER_SPEC_PKTS"}}],
   "key": [{"name": "port", "match_type": "Exact", "type": {"type": "bytes", "width": 9}}],
   "action_specs": [{"name": "In.send", "action_scope": "TableAndDefault",
                     "data": [{"name": "to", "type": {"type": "bytes", "width": 9}}]},
                    {"name": "In.drop", "action_scope": "TableAndDefault", "data": []},
                    {"name": "In.pass", "action_scope": "TableAndDefault", "data": []}]},
  {"name": "pipe.In.cells", "table_type": "Register", "size": 4, "has_const_default_action": false,
   "attributes": [], "key": [{"name": "$REGISTER_INDEX", "type": {"type": "uint32"}}],
   "data": [{"singleton": {"name": "In.cells.f1", "type": {"type": "bytes", "width": 32}}}]},
  {"name": "pipe.In.packets", "table_type": "Counter", "size": 4, "has_const_default_action": false,
   "attributes": [], "key": [{"name": "$COUNTER_INDEX", "type": {"type": "uint32"}}],
   "data": [{"singleton": {"name": "$COUNTER_SPEC_PKTS"}}]}]})";

struct OnePipe {
  OnePipe() {
    control.add_table("pipe.In.forward", table);
    control.add_register("pipe.In.cells", cells);
    control.add_counter("pipe.In.packets", counter);
  }
  DigestQueue digests;
  ProgramControl control{"test", kPipesSchema, digests};
  // A packet of port `number`: what the program does with it.
  void receive(std::uint64_t number, std::uint64_t now_ns = 0) {
    const Lookup found = table.lookup(KeyWords<1>{number});
    found.entry.count(100);
    found.entry.hit<kAgingStart>(now_ns);
    ++counter.cell(0).packets;
  }

  // Behind the words of action, counts and data.
  static constexpr int kAgingStart = 4;
  IndexedTable<ExactMatchIndex<1>> table{2, 1, {.counter = true, .ages = true}};
  Register<std::uint32_t, 32> cells{4, 7};
  Counter counter{4};
};

class PipesControlTest : public ::testing::Test {
 protected:
  json run(const std::string& command, const json& args) { return control_.execute(command, args); }
  json write(std::initializer_list<json> updates, const char* on_error = "stop") {
    json args = {{"updates", json::array()}, {"on_error", on_error}};
    for (const json& update : updates) args["updates"].push_back(update);
    return run("table_write", args);
  }
  // What goes wrong; "" where nothing does.
  std::string error_of(const std::string& command, const json& args) {
    try {
      run(command, args);
    } catch (const CommandError& error) {
      return std::string(error.code()) + ": " + error.what();
    }
    return "";
  }
  static json update(const char* op, unsigned port, unsigned to) {
    return {{"op", op},
            {"table", "forward"},
            {"key", {{"port", port}}},
            {"action", "send"},
            {"data", {{"to", to}}}};
  }
  static json of_pipes(json args, const json& pipes) {
    args["pipes"] = pipes;
    return args;
  }
  json entries(const json& args = json::object()) {
    json question = args;
    question["table"] = "forward";
    return run("table_read", question).at("entries");
  }
  void give_each_pipe_its_entries() {
    run("scope_write", {{"table", "forward"}, {"scopes", {{0}, {1}}}});
  }

  OnePipe first_;
  OnePipe second_;
  PipesControl control_{{&first_.control, &second_.control}};
};

TEST_F(PipesControlTest, CommandsGoToAllPipes) {
  EXPECT_EQ(write({update("insert", 1, 2)}), (json{{"applied", 1}}));
  EXPECT_EQ(first_.table.size(), 1U);
  EXPECT_EQ(second_.table.size(), 1U);
  run("register_write", {{"table", "cells"}, {"values", {5}}});
  EXPECT_EQ(first_.cells.at(0), 5U);
  EXPECT_EQ(second_.cells.at(0), 5U);
}

TEST_F(PipesControlTest, ARegisterIsWrittenAndReadInOnePipe) {
  run("register_write", {{"table", "cells"}, {"first", 1}, {"values", {9}}, {"pipes", {1}}});
  EXPECT_EQ(first_.cells.at(1), 7U);
  const json question = {{"table", "cells"}, {"first", 1}, {"count", 1}};
  EXPECT_EQ(run("register_read", question).at("pipes"),
            (json{{{"pipe", 0}, {"values", {7}}}, {{"pipe", 1}, {"values", {9}}}}));
  EXPECT_EQ(run("register_read", of_pipes(question, {1})).at("values"), json{9});
  EXPECT_EQ(error_of("register_read", of_pipes(question, {2})),
            "bad_argument: \"pipes\" is [2]; expected numbers of pipes from 0 to 1, each once, for "
            "instance [0]");
}

TEST_F(PipesControlTest, ABatchIsForAllPipesOrForNone) {
  give_each_pipe_its_entries();
  write({of_pipes(update("insert", 1, 3), {1})});
  const std::string error =
      error_of("table_write",
               {{"updates", {of_pipes(update("insert", 5, 5), {0}), update("insert", 1, 2)}}});
  EXPECT_EQ(error.find("exists: updates[1]: table pipe.In.forward: entry"), 0U) << error;
  EXPECT_EQ(first_.table.size(), 0U);
  EXPECT_EQ(entries({{"pipes", {1}}}).at(0).at("data").at("to"), 3);
}

TEST_F(PipesControlTest, AnUpdateThatFailsInOnePipeIsDoneInNone) {
  give_each_pipe_its_entries();
  write({of_pipes(update("insert", 1, 3), {1})});
  const json answer =
      write({update("insert", 1, 2), update("upsert", 2, 4), update("insert", 2, 4)}, "continue");
  EXPECT_EQ(answer.at("applied"), 1);
  ASSERT_EQ(answer.at("errors").size(), 2U);
  EXPECT_EQ(answer["errors"][0].at("index"), 0);
  EXPECT_EQ(answer["errors"][1].at("index"), 2);
  EXPECT_EQ(answer["errors"][1].at("code"), "exists");
  EXPECT_EQ(first_.table.size(), 1U);
  EXPECT_EQ(second_.table.size(), 2U);
}

TEST_F(PipesControlTest, AnUpdateForWrongPipesIsAnErrorOfItsOwn) {
  json unknown = update("insert", 3, 3);
  unknown["table"] = "elsewhere";
  unknown["data"]["$COUNTER_SPEC_PKTS"] = 1;
  const json answer = write({update("insert", 1, 2), unknown, update("insert", 1, 3),
                             of_pipes(update("insert", 2, 2), {1}), update("insert", 4, 4)},
                            "continue");
  EXPECT_EQ(answer.at("applied"), 2);
  std::vector<std::size_t> places;
  for (const json& error : answer.at("errors")) places.push_back(error.at("index"));
  EXPECT_EQ(places, (std::vector<std::size_t>{1, 2, 3}));
  EXPECT_EQ(error_of("table_write", {{"updates", {update("insert", 5, 5), unknown}}})
                .find("bad_argument: updates[1]: "),
            0U);
}

TEST_F(PipesControlTest, PartsOfABatchAreToldByTheirPlaceInTheWhole) {
  give_each_pipe_its_entries();
  const json answer =
      write({of_pipes(update("upsert", 1, 1), {0}), of_pipes(update("upsert", 1, 1), {1}),
             of_pipes(update("upsert", 1, 2), {1}), of_pipes(update("insert", 1, 2), {0})},
            "continue");
  EXPECT_EQ(answer.at("applied"), 3);
  EXPECT_EQ(answer.at("replaced"), json{2});
  EXPECT_EQ(answer.at("errors").at(0).at("index"), 3);
}

TEST_F(PipesControlTest, PipesOfOneScopeAreWrittenTogether) {
  const std::string error =
      error_of("table_write", {{"updates", json::array({of_pipes(update("insert", 1, 2), {1})})}});
  EXPECT_EQ(error.find("bad_argument: updates[0]: table pipe.In.forward has the same entries in "
                       "pipes [0,1]; write all of them"),
            0U)
      << error;
  EXPECT_EQ(second_.table.size(), 0U);
}

TEST_F(PipesControlTest, ScopesChangeWhileThereAreNoEntries) {
  EXPECT_EQ(run("scope_read", {{"table", "forward"}}),
            (json{{"table", "pipe.In.forward"}, {"scopes", {{0, 1}}}}));
  write({update("insert", 1, 2)});
  const json single = {{"table", "forward"}, {"scopes", {{1}, {0}}}};
  EXPECT_EQ(
      error_of("scope_write", single).find("wrong_state: table pipe.In.forward has 1 entries"), 0U);
  // Those that it has already are no change.
  EXPECT_EQ(error_of("scope_write", {{"table", "forward"}, {"scopes", {{0, 1}}}}), "");
  write({{{"op", "clear"}, {"table", "forward"}}});
  run("scope_write", single);
  EXPECT_EQ(run("scope_read", {{"table", "forward"}}).at("scopes"), (json{{0}, {1}}));
}

TEST_F(PipesControlTest, WrongScopesAreRefused) {
  for (const json& scopes : {json(), json::array(), json{{2}}, json{{0}, {0, 1}}, json{{"0"}},
                             json{json::array()}, json{{0, 0}}}) {
    EXPECT_EQ(
        error_of("scope_write", {{"table", "forward"}, {"scopes", scopes}}).find("bad_argument"),
        0U)
        << scopes;
  }
}

TEST_F(PipesControlTest, ADefaultEntryOfOnePipeEndsWithItsScope) {
  give_each_pipe_its_entries();
  write({{{"op", "set_default"},
          {"table", "forward"},
          {"action", "send"},
          {"data", {{"to", 9}}},
          {"pipes", {1}}}});
  run("scope_write", {{"table", "forward"}, {"scopes", {{0, 1}}}});
  const json question = {{"table", "forward"}, {"pipes", {1}}};
  EXPECT_EQ(run("table_read", question).at("default").at("data").at("to"), 0);
}

TEST_F(PipesControlTest, CountsAreAddedUp) {
  write({update("insert", 1, 2)});
  for (int i = 0; i < 3; ++i) first_.receive(1);
  second_.receive(1);
  EXPECT_EQ(entries().at(0).at("data").at("$COUNTER_SPEC_PKTS"), 4);
  EXPECT_EQ(entries({{"pipes", {0}}}).at(0).at("data").at("$COUNTER_SPEC_PKTS"), 3);
  const json direct = run("counter_read", {{"table", "forward"}}).at("counters");
  EXPECT_EQ(direct, (json{{{"$COUNTER_SPEC_PKTS", 4}, {"key", {{"port", 1}}}}}));
  const json cells = run("counter_read", {{"table", "packets"}, {"index", 0}}).at("counters");
  EXPECT_EQ(cells, (json{{{"$COUNTER_SPEC_PKTS", 4}, {"index", 0}}}));
}

TEST_F(PipesControlTest, AWrittenCountIsReadAsItWasWritten) {
  json entry = update("insert", 1, 2);
  entry["data"]["$COUNTER_SPEC_PKTS"] = 10;
  const json cell = {{"table", "packets"}, {"index", 1}, {"data", {{"$COUNTER_SPEC_PKTS", 20}}}};
  json in_batch = cell;
  in_batch.update({{"op", "modify"}, {"index", 2}});
  write({entry, in_batch});
  run("counter_write", cell);
  EXPECT_EQ(entries().at(0).at("data").at("$COUNTER_SPEC_PKTS"), 10);
  const json read = run("counter_read", {{"table", "packets"}}).at("counters");
  EXPECT_EQ(read.at(1).at("$COUNTER_SPEC_PKTS"), 20);
  EXPECT_EQ(read.at(2).at("$COUNTER_SPEC_PKTS"), 20);
}

TEST_F(PipesControlTest, EntriesThatDifferAreToldPipeByPipe) {
  give_each_pipe_its_entries();
  write({of_pipes(update("insert", 1, 2), {0}), of_pipes(update("insert", 1, 3), {1}),
         of_pipes(update("insert", 4, 4), {1})});
  const json all = entries();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].at("data_of_pipes").at(0).at("to"), 2);
  EXPECT_EQ(all[0].at("data_of_pipes").at(1).at("to"), 3);
  EXPECT_EQ(all[1].at("key"), (json{{"port", 4}}));
  EXPECT_FALSE(all[1].contains("data_of_pipes"));
  const json keys = {{"entries", {{{"key", {{"port", 4}}}}}}, {"pipes", {0}}};
  EXPECT_EQ(entries(keys), json{nullptr});
}

TEST_F(PipesControlTest, ActionsThatDifferAreToldPipeByPipe) {
  give_each_pipe_its_entries();
  const auto default_in = [&](unsigned pipe, const char* action) {
    write({{{"op", "set_default"}, {"table", "forward"}, {"action", action}, {"pipes", {pipe}}}});
  };
  default_in(0, "drop");
  default_in(1, "pass");
  const auto read = [&] { return run("table_read", {{"table", "forward"}}).at("default"); };
  EXPECT_EQ(read().at("actions_of_pipes"), (json{"In.drop", "In.pass"}));
  default_in(1, "drop");
  EXPECT_FALSE(read().contains("actions_of_pipes"));
}

TEST_F(PipesControlTest, HandlesAreThoseOfOneScope) {
  write({update("insert", 1, 2)});
  EXPECT_EQ(entries({{"handles", {2}}}).at(0).at("key").at("port"), 1);
  write({{{"op", "clear"}, {"table", "forward"}}});
  give_each_pipe_its_entries();
  write({of_pipes(update("insert", 1, 2), {0}), of_pipes(update("insert", 4, 4), {1})});
  const std::string expected =
      "bad_argument: table_read: entries of table pipe.In.forward have other handles in each of "
      "[[0],[1]]; ask for pipes of one of these with \"pipes\"";
  EXPECT_EQ(error_of("table_read", {{"table", "forward"}, {"handles", {2}}}), expected);
  EXPECT_EQ(error_of("table_read", {{"table", "forward"}, {"with_handles", true}}), expected);
  const json of_second = entries({{"handles", {2}}, {"pipes", {1}}});
  EXPECT_EQ(of_second.at(0).at("key").at("port"), 4);
}

// A second, in ns.
constexpr std::uint64_t kSecondNs = 1'000'000'000;

class AgingPipesTest : public PipesControlTest {
 protected:
  void insert_with_ttl(const json& pipes) {
    json entry = update("insert", 1, 2);
    entry["data"]["$ENTRY_TTL"] = 1000;
    control_.at(0);
    write({of_pipes(entry, pipes)});
    EXPECT_EQ(events(0), json::array());
  }
  json events(std::uint64_t now_ns) {
    control_.at(now_ns);
    return run("aging_events", {{"table", "forward"}}).at("events");
  }
};

TEST_F(AgingPipesTest, AHitInOnePipeKeepsAnEntryOfAllAlive) {
  insert_with_ttl({0, 1});
  second_.receive(1, kSecondNs * 3 / 2);
  EXPECT_EQ(events(2 * kSecondNs), json::array());
  EXPECT_EQ(entries().at(0).at("data").at("$ENTRY_TTL"), 500);
  EXPECT_EQ(events(3 * kSecondNs), (json{{{"key", {{"port", 1}}}, {"state", "ENTRY_IDLE"}}}));
  run("aging_update", {{"table", "forward"}});
  EXPECT_EQ(entries({{"pipes", {0}}}).at(0).at("data").at("$ENTRY_HIT_STATE"), "ENTRY_ACTIVE");
}

TEST_F(AgingPipesTest, AHitInOnePipeIsToldThoughTheTimeHasRunOutAgain) {
  insert_with_ttl({0, 1});
  const auto told = [](const char* state) {
    return json{{{"key", {{"port", 1}}}, {"state", state}}};
  };
  EXPECT_EQ(events(2 * kSecondNs), told("ENTRY_IDLE"));
  second_.receive(1, 3 * kSecondNs);
  EXPECT_EQ(events(6 * kSecondNs), told("ENTRY_ACTIVE"));
  EXPECT_EQ(events(6 * kSecondNs), told("ENTRY_IDLE"));
}

TEST_F(AgingPipesTest, EntriesOfAScopeAgeForThemselves) {
  give_each_pipe_its_entries();
  insert_with_ttl({0});
  insert_with_ttl({1});
  first_.receive(1, kSecondNs * 3 / 2);
  EXPECT_EQ(events(2 * kSecondNs),
            (json{{{"key", {{"port", 1}}}, {"state", "ENTRY_IDLE"}, {"pipe", 1}}}));
}

TEST(EntryScopes, AllPipesOfAWriteHaveEntries) {
  EntryScopes scopes(4);
  scopes.set("t", {{0, 2}, {1}});
  EXPECT_EQ(scopes.to_write("t", {0, 1, 2, 3}), (Pipes{0, 1, 2}));
  EXPECT_EQ(scopes.to_write("t", {0, 2}), (Pipes{0, 2}));
  EXPECT_THROW(scopes.to_write("t", {3}), CommandError);
  EXPECT_THROW(scopes.to_write("t", {0, 1}), CommandError);
}

}  // namespace
}  // namespace turntable::dataplane
