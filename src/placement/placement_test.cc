// Placements on machines of files; what is expected was worked out by hand.
#include "placement/placement.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "placement/testing.h"

namespace turntable {
namespace {

using testing::Machine;
using Json = nlohmann::json;

Placement placed(const Machine& machine, const Json& request, const std::string& allowed = "0-63") {
  return place(machine.topology(allowed), placement_request("test", request));
}

std::string error_of(const Machine& machine, const Json& request) {
  try {
    placed(machine, request);
  } catch (const CommandError& error) {
    return error.what();
  }
  return "no error";
}

std::string text(const Placement& placement) {
  return cpu_list_text(placement.hp) + " | " + cpu_list_text(placement.l1) + " | " +
         cpu_list_text(placement.l3) + " | " + cpu_list_text(placement.generator);
}

TEST(CpuList, IsReadAndWrittenInTheKernelsNotation) {
  EXPECT_EQ(parse_cpu_list("x", "0-2,5,7-8"), (CpuList{0, 1, 2, 5, 7, 8}));
  EXPECT_EQ(parse_cpu_list("x", "3,1,3"), (CpuList{1, 3}));
  EXPECT_EQ(parse_cpu_list("x", ""), CpuList{});
  EXPECT_EQ(cpu_list_text({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(cpu_list_text({}), "");
  for (const char* wrong : {"a", "1-", "-1", "3-1", "1;2", "1,,2", "70000"})
    EXPECT_THROW(parse_cpu_list("x", wrong), CommandError) << wrong;
}

TEST(Topology, SaysCoresSocketsNodesAndCaches) {
  const Machine machine(2, 4, 2);
  const Topology topology = machine.topology("0-63");
  ASSERT_EQ(topology.cpus.size(), 16U);
  const Cpu& cpu = topology.cpu(13);  // the second thread of the second core of socket 1
  EXPECT_EQ(cpu.socket, 1);
  EXPECT_EQ(cpu.node, 1);
  EXPECT_EQ(cpu.core, 1);
  EXPECT_EQ(cpu.siblings, (CpuList{5, 13}));
  EXPECT_EQ(cpu.share.at("l2"), (CpuList{5, 13}));
  EXPECT_EQ(cpu_list_text(cpu.share.at("l3")), "4-7,12-15");
  EXPECT_EQ(topology.cache_kib, (std::map<std::string, std::int64_t>{
                                    {"l1d", 32}, {"l1i", 64}, {"l2", 2048}, {"l3", 8192}}));
  EXPECT_EQ(machine.topology("2-3").numbers(), (CpuList{2, 3}));
  EXPECT_THROW(machine.topology("40"), CommandError);
  EXPECT_EQ(to_json(topology.cpus)[13]["l1d"], Json({5, 13}));
}

TEST(Placement, SameCoreGivesTheGeneratorAllOthers) {
  const Machine two(1, 2, 1);
  EXPECT_EQ(text(placed(two, {{"layout", "same-core"}, {"one_machine", true}})), "0 | 0 | 0 | 1");
  EXPECT_EQ(text(placed(two, {{"layout", "same-core"}})), "0 | 0 | 0 | ");
  const Placement one = placed(Machine(1, 1, 1), {{"layout", "same-core"}, {"one_machine", true}});
  EXPECT_EQ(text(one), "0 | 0 | 0 | ");
  ASSERT_EQ(one.notes.size(), 1U);
  EXPECT_NE(one.notes[0].find("not pinned"), std::string::npos);
  EXPECT_EQ(text(placed(Machine(2, 4, 2),
                        {{"layout", "same-core"}, {"hp_count", 3}, {"one_machine", true}})),
            "0-2 | 0-2 | 0-2 | 3-15");
  EXPECT_NE(error_of(two, {{"layout", "same-core"}, {"hp_count", 3}}).find("3 processors needed"),
            std::string::npos);
}

TEST(Placement, SharedCacheLetsTheGeneratorShareWhereNothingRemains) {
  const Json request = {{"layout", "shared-cache"}, {"one_machine", true}};
  const Placement two = placed(Machine(1, 2, 1), request);
  EXPECT_EQ(text(two), "0 | 1 | 1 | 1");
  EXPECT_EQ(two.notes.size(), 1U);
  const Placement more = placed(Machine(2, 4, 2), request);
  EXPECT_EQ(text(more), "0 | 1 | 1 | 2-15");
  EXPECT_TRUE(more.notes.empty());
  EXPECT_NE(error_of(Machine(1, 1, 1), request).find("layout same-core"), std::string::npos);
}

// Swan: one thread per core of one socket; HP the first, L1 their siblings, L3 the next cores.
TEST(Placement, AutomaticFollowsSwansRule) {
  const Machine machine(2, 4, 2);  // socket 0: cores {0,8} {1,9} {2,10} {3,11}
  EXPECT_EQ(text(placed(machine, {{"layout", "automatic"}, {"one_machine", true}})),
            "0 | 8 | 1 | 2-7,9-15");
  EXPECT_EQ(text(placed(machine, {{"layout", "automatic"}, {"hp_count", 2}, {"be_count", 2}})),
            "0-1 | 8-9 | 2-3 | ");
  EXPECT_NE(error_of(machine, {{"layout", "automatic"}, {"hp_count", 3}, {"be_count", 2}})
                .find("5 cores of one socket needed, the largest has 4"),
            std::string::npos);
}

TEST(Placement, AutomaticTakesTheFirstSocketWithCoresEnough) {
  const Machine machine(2, 4, 2);
  // Of socket 0 only core {0,8} and core {1,9} may be used; of socket 1 all.
  const Placement placement =
      placed(machine, {{"layout", "automatic"}, {"hp_count", 2}}, "0-1,8-9,4-7,12-15");
  EXPECT_EQ(text(placement), "4-5 | 12-13 | 6 | ");
}

TEST(Placement, AutomaticWithoutSiblingsPutsL1OnTheLastLevelSet) {
  const Placement four = placed(Machine(1, 4, 1), {{"layout", "automatic"}, {"one_machine", true}});
  EXPECT_EQ(text(four), "0 | 1 | 1 | 2-3");
  ASSERT_EQ(four.notes.size(), 1U);
  EXPECT_EQ(four.notes[0].find("no siblings"), 0U);
  // Siblings that this process may not use are none.
  EXPECT_EQ(text(placed(Machine(1, 4, 2), {{"layout", "automatic"}}, "0-3")), "0 | 1 | 1 | ");
}

TEST(Placement, AutomaticNeedsAProcessorForTheGeneratorOfThisMachine) {
  const Machine two(1, 2, 1);
  const std::string error = error_of(two, {{"layout", "automatic"}, {"one_machine", true}});
  EXPECT_NE(error.find("same-core"), std::string::npos);
  EXPECT_NE(error.find("shared-cache"), std::string::npos);
  EXPECT_EQ(text(placed(two, {{"layout", "automatic"}})), "0 | 1 | 1 | ");
  EXPECT_EQ(text(placed(
                two, {{"layout", "automatic"}, {"one_machine", true}, {"generator_cpus", "0-1"}})),
            "0 | 1 | 1 | 0-1");
}

// Three threads of memcached and a generator have four cores.
TEST(Placement, WithoutAJobNothingIsKeptForOne) {
  const auto alone = [](int hp_count, const std::string& layout) {
    return Json{{"layout", layout}, {"hp_count", hp_count}, {"be_count", 0}, {"one_machine", true}};
  };
  EXPECT_EQ(text(placed(Machine(1, 4, 1), alone(3, "automatic"))), "0-2 |  |  | 3");
  // Two cores with two threads each: 0 and 2, 1 and 3.
  EXPECT_EQ(text(placed(Machine(1, 2, 2), alone(2, "automatic"))), "0-1 |  |  | 2-3");
  EXPECT_NE(error_of(Machine(1, 4, 1), alone(4, "automatic")).find("no processor is left"),
            std::string::npos);
  EXPECT_EQ(text(placed(Machine(1, 2, 1), alone(1, "shared-cache"))), "0 |  |  | 1");
  const Placement all = placed(Machine(1, 2, 1), alone(2, "shared-cache"));
  EXPECT_EQ(text(all), "0-1 |  |  | ");
  ASSERT_EQ(all.notes.size(), 1U);
  EXPECT_NE(all.notes[0].find("not pinned"), std::string::npos);
}

TEST(Placement, ManualIsAsAsked) {
  const Machine machine(2, 4, 2);
  const Json request = {{"layout", "manual"}, {"hp_cpus", "0-2"},   {"l1_cpus", "8-10"},
                        {"l3_cpus", "3"},     {"use", "generator"}, {"one_machine", true}};
  EXPECT_EQ(text(placed(machine, request)), "0-2 | 8-10 | 3 | 4-7,11-15");
  Json incomplete = request;
  incomplete.erase("l1_cpus");
  EXPECT_NE(error_of(machine, incomplete).find("expected hp_cpus, l1_cpus and l3_cpus"),
            std::string::npos);
  Json elsewhere = request;
  elsewhere["l3_cpus"] = "3,40";
  EXPECT_NE(error_of(machine, elsewhere).find("cannot use 40"), std::string::npos);
}

TEST(Placement, WrongRequestsAreNamed) {
  const Machine machine(1, 2, 1);
  EXPECT_NE(error_of(machine, {{"layout", "nearby"}}).find("expected same-core, shared-cache"),
            std::string::npos);
  EXPECT_NE(error_of(machine, {{"layout", "manual"}, {"hp_cpus", "x"}}).find("\"hp_cpus\" is"),
            std::string::npos);
  EXPECT_NE(error_of(machine, {{"layout", "same-core"}, {"hp_count", 0}}).find("hp_count"),
            std::string::npos);
  EXPECT_NE(error_of(machine, {{"layout", "same-core"}, {"cpus", 1}}).find("unknown"),
            std::string::npos);
}

}  // namespace
}  // namespace turntable
