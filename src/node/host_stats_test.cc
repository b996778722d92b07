// The kernel's files, as they look on a machine of two processors.
#include "node/host_stats.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "common/scratch_directory.h"

namespace turntable::node {
namespace {

using Json = nlohmann::json;

class HostStatsTest : public ::testing::Test {
 protected:
  HostStatsTest() {
    std::filesystem::create_directories(proc() / "net");
    std::filesystem::create_directories(proc() / "pressure");
    write("stat",
          "cpu  85828 8644 13017 29626 1021 7 144 290 5 1\n"
          "cpu0 41199 3967 5873 18007 85 0 15 159 0 0\n"
          "cpu1 44629 4676 7143 11619 936 0 128 130 0 0\n"
          "intr 5 0\n"
          "ctxt 9\n");
    write("pressure/cpu",
          "some avg10=3.70 avg60=48.35 avg300=35.27 total=158908979\n"
          "full avg10=0.00 avg60=0.00 avg300=0.00 total=3\n");
    write("net/dev",
          "Inter-|   Receive                            |  Transmit\n"
          " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs "
          "drop fifo colls carrier compressed\n"
          "    lo:    3193      29    0    0    0     0          0         0     3193      29    0 "
          "   0    0     0       0          0\n"
          "eth0.7:1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
  }

  const std::filesystem::path& proc() const { return directory_.path(); }
  void write(const char* name, const std::string& text) { std::ofstream(proc() / name) << text; }

  ScratchDirectory directory_;
};

TEST_F(HostStatsTest, ProcessorTimesAreNanosecondsOfAllProcessors) {
  const Json stats = host_stats(proc());
  const std::int64_t tick_ns = 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
  EXPECT_EQ(stats["cpus"], 2);
  EXPECT_EQ(stats["user_ns"], 85828 * tick_ns);
  EXPECT_EQ(stats["idle_ns"], 29626 * tick_ns);
  EXPECT_EQ(stats["irq_ns"], 7 * tick_ns);
  EXPECT_EQ(stats["steal_ns"], 290 * tick_ns);
}

TEST_F(HostStatsTest, PressureIsThatOfSomeTask) {
  EXPECT_EQ(host_stats(proc())["cpu_pressure_us"], 158908979);
  std::filesystem::remove(proc() / "pressure/cpu");
  EXPECT_EQ(host_stats(proc())["cpu_pressure_us"], nullptr);
}

TEST_F(HostStatsTest, InterfacesAreListedWithTheirDrops) {
  const Json rows = host_stats(proc())["interfaces"];
  ASSERT_EQ(rows.size(), 2);
  EXPECT_EQ(rows[0]["name"], "lo");
  EXPECT_EQ(rows[0]["tx_packets"], 29);
  const Json expected = {{"name", "eth0.7"}, {"rx_bytes", 1},    {"rx_packets", 2},
                         {"rx_errors", 3},   {"rx_drops", 4},    {"rx_overruns", 5},
                         {"tx_bytes", 9},    {"tx_packets", 10}, {"tx_errors", 11},
                         {"tx_drops", 12},   {"tx_overruns", 13}};
  EXPECT_EQ(rows[1], expected);
}

TEST_F(HostStatsTest, WithoutProcessorTimesItIsAnErrorThatNamesTheFile) {
  write("stat", "cpu 1 2 3\n");
  try {
    host_stats(proc());
    FAIL();
  } catch (const CommandError& error) {
    EXPECT_EQ(error.code(), "unavailable");
    EXPECT_NE(std::string(error.what()).find((proc() / "stat").native()), std::string::npos);
  }
}

TEST_F(HostStatsTest, ThisHostHasProcessorsThatWorked) {
  const Json stats = host_stats();
  EXPECT_GT(stats["cpus"], 0);
  EXPECT_GT(stats["user_ns"], 0);
  EXPECT_FALSE(stats["interfaces"].empty());
}

}  // namespace
}  // namespace turntable::node
