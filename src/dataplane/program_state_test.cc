// What one program has, in another: read_state() and take_state() of ProgramControl.
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "dataplane/program_control.h"
#include "dataplane/ternary_index.h"

namespace turntable::dataplane {
namespace {

using nlohmann::json;

// What a revision of the program may change.
struct Revision {
  const char* name = "old";
  json entries_action = {
      {"name", "In.send"},
      {"action_scope", "TableAndDefault"},
      {"data", {{{"name", "port"}, {"type", {{"type", "bytes"}, {"width", 9}}}}}}};
  const char* match_type = "Exact";
  std::uint32_t size = 4;
  bool has_const_default = false;
  bool is_const = false;
  bool begins_with_entry = false;
  DirectExterns direct = {.counter = true, .meter = MeterUnit::kBytes, .ages = true};
  std::uint32_t counter_cells = 4;
  std::uint32_t register_cells = 4;
};

json schema_of(const Revision& revision) {
  const json number = {{"type", {{"type", "uint32"}}}};
  json data = json::array();
  for (const char* field : {"$COUNTER_SPEC_PKTS", "$COUNTER_SPEC_BYTES"})
    if (revision.direct.counter) data.push_back({{"singleton", {{"name", field}}}});
  const json no_action = {
      {"name", "In.drop"}, {"action_scope", "TableAndDefault"}, {"data", json::array()}};
  json key = {{{"name", "dst"},
               {"match_type", revision.match_type},
               {"type", {{"type", "bytes"}, {"width", 32}}}}};
  if (revision.match_type == std::string("Ternary"))
    key.push_back(
        {{"name", "$MATCH_PRIORITY"}, {"match_type", "Exact"}, {"type", {{"type", "uint32"}}}});
  const json forward = {{"name", "pipe.In.forward"},
                        {"table_type", "MatchAction_Direct"},
                        {"size", revision.size},
                        {"has_const_default_action", revision.has_const_default},
                        {"attributes", revision.is_const ? json{"ConstTable"} : json::array()},
                        {"data", data},
                        {"key", key},
                        {"action_specs", {no_action, revision.entries_action}}};
  const auto cells = [](const char* name, const char* type, std::uint32_t size,
                        const json& fields) {
    return json{{"name", name},
                {"table_type", type},
                {"size", size},
                {"attributes", json::array()},
                {"data", fields},
                {"key", json::array()},
                {"has_const_default_action", false}};
  };
  const json value = {{"name", "In.values.f1"}, {"type", {{"type", "bytes"}, {"width", 32}}}};
  return {{"learn_filters", json::array()},
          {"tables",
           {forward,
            cells("pipe.In.seen", "Counter", revision.counter_cells,
                  {{{"singleton", {{"name", "$COUNTER_SPEC_PKTS"}}}}}),
            cells("pipe.In.values", "Register", revision.register_cells, {{{"singleton", value}}}),
            cells("pipe.In.pace", "Meter", 4, json::array())}}};
}

using TernaryTable = IndexedTable<TernaryMatchIndex<1>>;

// One program: its control plane, and what that is of.
class Instance {
 public:
  explicit Instance(const Revision& revision = {})
      : counter_(revision.counter_cells),
        register_(revision.register_cells, 7),
        control_(revision.name, schema_of(revision).dump(), digests_) {
    if (revision.match_type == std::string("Exact")) {
      table_ =
          std::make_unique<IndexedTable<ExactMatchIndex<1>>>(revision.size, 1, revision.direct);
    } else if (revision.match_type == std::string("Ternary")) {
      table_ = std::make_unique<TernaryTable>(
          revision.size, 1, revision.direct,
          std::vector<KeyField>{{.kind = MatchKind::kTernary, .offset = 0, .width = 32}});
    } else {
      table_ = std::make_unique<IndexedTable<LpmMatchIndex<1, 0, 32>>>(revision.size, 1,
                                                                       revision.direct);
    }
    table_->set_default({0});
    if (revision.is_const || revision.begins_with_entry) table_->add_entry({{1}, {}, 0}, {1});
    control_.add_table("pipe.In.forward", *table_);
    control_.add_counter("pipe.In.seen", counter_);
    control_.add_register("pipe.In.values", register_);
    control_.add_meter("pipe.In.pace", meter_);
  }

  json call(const char* command, const json& args) { return control_.execute(command, args); }
  void write(const json& update) { call("table_write", {{"updates", {update}}}); }
  void insert(std::uint32_t key, const json& more = json::object()) {
    json data = {{"port", key}};
    data.update(more);
    write({{"table", "forward"},
           {"op", "insert"},
           {"key", {{"dst", key}}},
           {"action", "send"},
           {"data", data}});
  }
  // One frame of 100 bytes.
  void count(std::uint32_t key) {
    write({{"table", "forward"},
           {"op", "modify"},
           {"key", {{"dst", key}}},
           {"data", {{"$COUNTER_SPEC_PKTS", 1}, {"$COUNTER_SPEC_BYTES", 100}}}});
  }
  json entries() { return call("table_read", {{"table", "forward"}}).at("entries"); }
  Table& table() { return *table_; }
  Counter& counter() { return counter_; }
  Meter& meter() { return meter_; }
  RegisterArray& values() { return register_; }
  ProgramControl& control() { return control_; }

 private:
  DigestQueue digests_;
  std::unique_ptr<Table> table_;
  Counter counter_;
  Register<std::uint32_t, 32> register_;
  Meter meter_{4, MeterUnit::kPackets};
  ProgramControl control_;
};

// Empty: it goes on from there.
std::string conflict(Instance& before, Instance& next) {
  try {
    next.control().take_state(before.control().read_state());
  } catch (const CommandError& error) {
    EXPECT_EQ(error.code(), "state_conflict");
    return error.what();
  }
  return "";
}

std::string conflict(Instance& before, const Revision& revision) {
  Instance next(revision);
  return conflict(before, next);
}

const json kLimits = {{"$METER_SPEC_CIR_KBPS", 8},
                      {"$METER_SPEC_PIR_KBPS", 8},
                      {"$METER_SPEC_CBS_KBITS", 8},
                      {"$METER_SPEC_PBS_KBITS", 8}};

TEST(ProgramState, NothingIsReadOfAProgramAsItBegins) {
  Instance program;
  const json state = program.control().read_state();
  for (const auto& [kind, objects] : state.items()) EXPECT_TRUE(objects.empty()) << kind;
}

TEST(ProgramState, EntriesGoOnWithTheirCountsLimitsBucketsAndAges) {
  Instance before, next({.name = "new"});
  before.insert(5, kLimits);
  const std::uint32_t entry = before.table().find({{5}, {}, 0});
  before.count(5);
  before.table().aging(entry).hit(1000);
  MeterCell cell = before.table().meter(entry);
  cell.execute(MeterUnit::kBytes, 64, 1000, kGreen);
  Table::Words words(before.table().words(entry).begin(), before.table().words(entry).end());
  before.table().put_meter(cell, words);
  before.table().replace(entry, words);

  ASSERT_EQ(conflict(before, next), "");
  const json found = next.entries();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].at("key").at("dst"), 5);
  EXPECT_EQ(found[0].at("data").at("port"), 5);
  EXPECT_EQ(found[0].at("data").at("$COUNTER_SPEC_BYTES"), 100);
  const std::uint32_t same = next.table().find({{5}, {}, 0});
  EXPECT_EQ(next.table().aging(same).idle_ns(3000), 2000U);
  const MeterCell taken = next.table().meter(same);
  EXPECT_EQ(taken.committed, cell.committed);
  EXPECT_EQ(taken.limits.committed_rate, 1000U) << "8 kbit/s";
}

TEST(ProgramState, EntriesThatTheNewProgramBeginsWithGiveWay) {
  Instance before, next;
  before.insert(5);
  next.insert(6);
  ASSERT_EQ(conflict(before, next), "");
  ASSERT_EQ(next.entries().size(), 1U);
  EXPECT_EQ(next.entries()[0].at("key").at("dst"), 5);
}

TEST(ProgramState, DeletedEntriesOfTheProgramDoNotComeBack) {
  const Revision with_entry{.begins_with_entry = true};
  Instance before(with_entry), next(with_entry);
  before.write({{"table", "forward"}, {"op", "delete"}, {"key", {{"dst", 1}}}});
  ASSERT_EQ(next.entries().size(), 1U);
  ASSERT_EQ(conflict(before, next), "");
  EXPECT_TRUE(next.entries().empty());
}

TEST(ProgramState, OfEqualEntriesTheSameWins) {
  const Revision ternary{.match_type = "Ternary"};
  Instance before(ternary), next(ternary);
  const auto insert = [&](unsigned value, unsigned mask, unsigned priority) {
    before.write({{"table", "forward"},
                  {"op", "insert"},
                  {"key", {{"dst", {{"value", value}, {"mask", mask}}}}},
                  {"priority", priority},
                  {"action", "send"},
                  {"data", {{"port", mask}}}});
  };
  insert(8, 8, 9);
  insert(0, 0, 5);
  insert(1, 1, 5);
  before.write({{"table", "forward"},
                {"op", "delete"},
                {"key", {{"dst", {{"value", 8}, {"mask", 8}}}}},
                {"priority", 9}});
  insert(3, 3, 5);  // in the place of the deleted one
  ASSERT_EQ(conflict(before, next), "");
  const auto mask_of_winner = [](Instance& program) {
    return static_cast<TernaryTable&>(program.table())
        .lookup(KeyWords<1>{3})
        .entry.words()[program.table().data_start()];
  };
  EXPECT_EQ(mask_of_winner(before), 0U) << "the first that was inserted";
  EXPECT_EQ(mask_of_winner(next), 0U);
  ASSERT_EQ(next.entries().size(), 3U);
  EXPECT_EQ(next.entries()[2].at("data").at("port"), 3) << "the last that was inserted";
}

TEST(ProgramState, ADefaultEntryGoesOnIfItWasChanged) {
  Instance before, next, unchanged;
  ASSERT_EQ(conflict(unchanged, next), "");
  before.write(
      {{"table", "forward"}, {"op", "set_default"}, {"action", "send"}, {"data", {{"port", 3}}}});
  ASSERT_EQ(conflict(before, next), "");
  EXPECT_EQ(next.call("table_read", {{"table", "forward"}}).at("default").at("data").at("port"), 3);
  EXPECT_EQ(conflict(before, {.name = "new", .has_const_default = true}),
            "table pipe.In.forward, default entry: it is a constant of program new; reset the "
            "entry first");
}

TEST(ProgramState, CountsAreKeptAsFarAsThereAreCells) {
  Instance before, fewer({.counter_cells = 2});
  before.counter().cell(1) = {5, 500};
  before.counter().cell(3) = {7, 700};
  ASSERT_EQ(conflict(before, fewer), "");
  EXPECT_EQ(fewer.counter().cell(1).packets, 5U);
  EXPECT_EQ(fewer.counter().cell(1).bytes, 500U);
}

TEST(ProgramState, DirectCountsNeedNoPlaceAndLimitsDo) {
  Instance before;
  before.insert(5);
  const Revision bare{.name = "new", .direct = {}};
  EXPECT_EQ(conflict(before, bare), "");
  before.insert(6, kLimits);
  EXPECT_EQ(conflict(before, bare),
            "table pipe.In.forward, entry dst 0x00000006: it has a direct meter (bytes) that is "
            "set, and the table in program new has none such; reset it first");
  EXPECT_NE(conflict(before, {.name = "new", .direct = {.meter = MeterUnit::kPackets}}), "");
}

TEST(ProgramState, ATimeToLiveNeedsATableThatAges) {
  Instance before;
  before.insert(5, {{"$ENTRY_TTL", 10}});
  EXPECT_EQ(conflict(before, {}), "");
  EXPECT_NE(conflict(before, {.name = "new", .direct = {.counter = true}}), "");
}

TEST(ProgramState, CellsOfRegistersNeedTheirPlaceUnlessTheyAreAsAtFirst) {
  Instance before, next;
  before.values().set_raw(1, 0, 9);
  ASSERT_EQ(conflict(before, next), "");
  EXPECT_EQ(next.values().raw(0, 0), 7U);
  EXPECT_EQ(next.values().raw(1, 0), 9U);
  EXPECT_EQ(before.values().raw(0, 0), 7U);
  const Revision fewer{.name = "new", .register_cells = 2};
  EXPECT_EQ(conflict(before, fewer), "");
  before.values().set_raw(3, 0, 9);
  EXPECT_EQ(conflict(before, fewer),
            "register pipe.In.values has 2 cells in program new; reset those behind it first, up "
            "to 3");
}

TEST(ProgramState, LimitsOfAMeterGoOnWithTheirBuckets) {
  Instance before, next;
  before.meter().set_limits(2, {.committed_burst = 1, .peak_burst = 1});
  EXPECT_EQ(before.meter().execute(2, 64, 0), kGreen);
  ASSERT_EQ(conflict(before, next), "");
  EXPECT_EQ(next.meter().execute(2, 64, 0), kRed) << "one packet, and no rate";
}

TEST(ProgramState, WhatAMeterAddsToAFrameGoesOn) {
  Instance before, next;
  const auto adjust_of = [](Instance& program, const char* table) {
    return program.call("meter_byte_count_adjust", {{"table", table}}).at("byte_count_adjust");
  };
  before.call("meter_byte_count_adjust", {{"table", "pace"}, {"byte_count_adjust", -18}});
  before.call("meter_byte_count_adjust", {{"table", "forward"}, {"byte_count_adjust", 24}});
  ASSERT_EQ(conflict(before, next), "");
  EXPECT_EQ(adjust_of(next, "pace"), -18);
  EXPECT_EQ(adjust_of(next, "forward"), 24);
  EXPECT_EQ(conflict(before, {.name = "new", .direct = {}}),
            "program new has no meter pipe.In.forward, whose byte_count_adjust is set; set it to "
            "what it was first");
}

TEST(ProgramState, AnActionIsTheSameWithTheSameData) {
  Instance before;
  before.insert(5);
  Revision wider{.name = "new"};
  wider.entries_action["data"][0]["type"]["width"] = 16;
  EXPECT_EQ(conflict(before, wider),
            "table pipe.In.forward, entry dst 0x00000005: action In.send has the data "
            R"([["port",16]] instead of [["port",9]] in program new; delete the entry first)");
  Revision other{.name = "new"};
  other.entries_action["name"] = "Other.In.send";
  EXPECT_NE(conflict(before, other), "") << "a name that ends so is another";
  Revision only_default{.name = "new"};
  only_default.entries_action["action_scope"] = "DefaultOnly";
  EXPECT_NE(conflict(before, only_default), "");
}

TEST(ProgramState, KeysSizesAndConstantsHaveToFit) {
  Instance before;
  for (const unsigned key : {1U, 2U}) before.insert(key);
  EXPECT_EQ(conflict(before, {.name = "new", .match_type = "LPM"}),
            R"(table pipe.In.forward: program new has the key ["dst: lpm of 32 bits"] instead of )"
            R"(["dst: exact of 32 bits"], and the table has 2 entries; delete them first)");
  EXPECT_EQ(conflict(before, {.name = "new", .size = 1}),
            "table pipe.In.forward has room for 1 entries in program new, and has 2 entries; "
            "delete them first");
  EXPECT_EQ(conflict(before, {.name = "new", .is_const = true}),
            "table pipe.In.forward: program new has constants for entries, and the table has 2 "
            "entries; delete them first");
  Instance empty;
  EXPECT_EQ(conflict(empty, {.name = "new", .match_type = "LPM"}), "");
}

TEST(ProgramState, ConstantsAreTheNewProgramsWithTheirCounts) {
  const Revision constant{.is_const = true};
  Instance before(constant), next(constant), emptied({.name = "new"});
  before.count(1);
  ASSERT_EQ(conflict(before, next), "");
  EXPECT_EQ(next.entries()[0].at("data").at("$COUNTER_SPEC_PKTS"), 1);
  EXPECT_EQ(conflict(before, emptied), "") << "they were nobody's to keep";
  EXPECT_TRUE(emptied.entries().empty());
  EXPECT_EQ(conflict(before, {.name = "new", .match_type = "LPM"}), "") << "only counts go";
}

}  // namespace
}  // namespace turntable::dataplane
