// The platform record of a machine of files, the kernels, and the probe of this machine.
#include "swan/platform.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "placement/testing.h"
#include "swan/kernels.h"
#include "swan/probe.h"

namespace turntable::swan {
namespace {

using Json = nlohmann::json;
using testing::Machine;
using testing::write_file;

TEST(Platform, IsReadFromFiles) {
  const Machine machine(1, 2, 1);
  const ScratchDirectory scratch;
  const auto& proc = scratch.path();
  write_file(proc / "cpuinfo", "processor\t: 0\nmodel name\t: Some CPU\n");
  write_file(proc / "sys/kernel/osrelease", "6.1.0\n");
  write_file(proc / "sys/net/ipv4/tcp_syncookies", "1\n");
  write_file(proc / "interrupts", "   CPU0 CPU1\n 7:  1  2  PCI-MSI 5-edge  eth0-rx-0\nLOC: 1 2\n");
  write_file(proc / "irq/7/smp_affinity_list", "1\n");
  write_file(proc / "os", "NAME=x\nPRETTY_NAME=\"Debian 12\"\n");
  for (const char* cpu : {"cpu0", "cpu1"})
    write_file(machine.sys() / "devices/system/cpu" / cpu / "cpufreq/scaling_governor",
               std::string(cpu) == "cpu0" ? "performance\n" : "powersave\n");
  Json record = platform_record({.proc = proc, .sys = machine.sys(), .os_release = proc / "os"},
                                machine.topology("0-1"), CgroupTree{}, Resctrl("/nowhere", "x"));
  EXPECT_EQ(record["cpu_model"], "Some CPU");
  EXPECT_EQ(record["kernel"], "6.1.0");
  EXPECT_EQ(record["os"], "Debian 12");
  EXPECT_EQ(record["irq_affinity"], (Json{{"7 eth0-rx-0", "1"}}));
  EXPECT_EQ(record["governor"], (Json{{"0", "performance"}, {"1", "powersave"}}));
  EXPECT_EQ(record["rdt"]["cat"], false);
  EXPECT_EQ(record["caches"]["l3"], 8192);

  record["load"] = {{"running_others", 0.31}, {"steal_share", 0.0}};
  record["open_files"] = 1024;
  const Json warnings = platform_warnings(record);
  ASSERT_EQ(warnings.size(), 5U) << warnings;
  EXPECT_EQ(warnings[0], "tcp_syncookies is 1; expected 0: sysctl -w net.ipv4.tcp_syncookies=0");
  EXPECT_EQ(warnings[1], "governor of processor 1 is powersave; expected performance");
  EXPECT_EQ(warnings[3], "others used 31 % of the processors' time; expected at most 20 %");
}

TEST(Kernels, DoTheirSteps) {
  Chase chase(1U << 16U, 1);
  EXPECT_EQ(chase.lines(), 1024U);
  chase.steps(10'000);
  for (const auto& kernel :
       {random_lines(1U << 16U, false), stream(1U << 20U), code_lines(4096), integers()})
    EXPECT_GE(kernel->steps(5000), 5000U);
  EXPECT_GE(random_lines(0, true)->steps(10), 10U);  // at least two lines
}

TEST(Probe, AnswersARowAloneAndBeside) {
  const Topology topology = read_topology();
  ProbeRequest request{
      .cpu = topology.cpus.front().number, .beside = {}, .size_mb = 1, .seconds = 0.002};
  EXPECT_EQ(probe(topology, request)["rows"].back()["beside"], nullptr);
  request.beside = topology.cpus.back().number;
  const Json rows = probe(topology, request)["rows"];
  std::set<std::string> kinds;
  for (const Json& row : rows) {
    kinds.insert(row["what"]);
    for (const char* value : {"ns_per_step", "gb_per_s", "per_us"})
      EXPECT_GT(row.value(value, 1.0), 0) << row;
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"chase", "stream", "integer"}));
  EXPECT_EQ(rows.back()["beside"], (Json{{"what", "integer"}, {"cpu", *request.beside}}));
  request.beside = 9'999;  // that is not there: said, by a process that lives on
  EXPECT_ANY_THROW(probe(topology, request));
}

}  // namespace
}  // namespace turntable::swan
