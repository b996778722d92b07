// What is read of aggressors: their entries, their progress, the processor time of processes.
#include "swan/aggressor.h"

#include <gtest/gtest.h>
#include <time.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "common/clock.h"
#include "common/command_error.h"
#include "node/testing.h"
#include "placement/testing.h"
#include "swan/cache_share.h"
#include "swan/window.h"

namespace turntable::swan {
namespace {

using Json = nlohmann::json;
using testing::write_file;

std::string error_of(const Json& json) {
  try {
    aggressor_spec("test", json);
  } catch (const CommandError& error) {
    return error.what();
  }
  return "no error";
}

TEST(AggressorSpec, EntriesAreReadAndOtherMembersLeftAlone) {
  const auto spec = aggressor_spec("test", {{"name", "cache"},
                                            {"title", "somebody else's"},
                                            {"command", {"stress-ng", "--cache", "{count}"}},
                                            {"placement", "l1"},
                                            {"count", 3},
                                            {"probe", {{"kind", "cpu"}, {"seconds", 0.3}}},
                                            {"progress", {{"kind", "stress-ng"}}},
                                            {"version", {"stress-ng", "--version"}}});
  EXPECT_EQ(spec.place, AggressorSpec::Place::kL1);
  EXPECT_EQ(spec.probe, AggressorSpec::Probe::kCpu);
  EXPECT_EQ(spec.unit, "bogo ops");
  EXPECT_TRUE(spec.has_fixed_workers);
  EXPECT_EQ(command_lines(spec, {}),
            (std::vector<std::vector<std::string>>{{"stress-ng", "--cache", "3"}}));
}

TEST(AggressorSpec, WithoutTheNumberInItTheCommandIsStartedSoManyTimes) {
  const auto spec = aggressor_spec(
      "test", {{"name", "l3"}, {"command", {"{bin_dir}/pressure", "-x{cpus}{"}}, {"count", 2}});
  EXPECT_EQ(spec.place, AggressorSpec::Place::kL3);
  EXPECT_FALSE(spec.has_fixed_workers);
  const auto lines = command_lines(spec, {{"bin_dir", "/b"}, {"cpus", "1-2"}});
  EXPECT_EQ(lines, (std::vector<std::vector<std::string>>(2, {"/b/pressure", "-x1-2{"})));
  EXPECT_THROW(command_lines(spec, {{"bin_dir", "/b"}}), CommandError);
}

TEST(AggressorSpec, WrongEntriesAreNamed) {
  const Json good = {{"name", "a"}, {"command", {"sleep", "1"}}};
  const auto with = [&](const Json& change) {
    Json json = good;
    json.update(change);
    return error_of(json);
  };
  EXPECT_EQ(with(Json::object()), "no error");
  EXPECT_NE(with({{"command", {1}}}).find("expected strings only"), std::string::npos);
  EXPECT_NE(with({{"placement", "moon"}}).find("one of anywhere, l1, l3"), std::string::npos);
  EXPECT_NE(with({{"probe", {{"kind", "cpu"}}}}).find("\"seconds\" is missing"), std::string::npos);
  EXPECT_NE(with({{"progress", {{"kind", "x"}}}}).find("stress-ng"), std::string::npos);
  EXPECT_NE(with({{"count", 0}}).find("\"count\" is 0"), std::string::npos);
}

TEST(CacheShare, IsTheMostWaysThatHoldNoMore) {
  const ScratchDirectory sys;
  const auto cache = [&](const std::string& index, const std::string& level,
                         const std::string& type, const std::string& size, const char* ways) {
    const auto directory = sys.path() / "devices/system/cpu/cpu2/cache" / index;
    write_file(directory / "level", level + "\n");
    write_file(directory / "type", type + "\n");
    write_file(directory / "size", size + "\n");
    write_file(directory / "ways_of_associativity", std::string(ways) + "\n");
  };
  cache("index0", "1", "Instruction", "64K", "16");
  cache("index1", "1", "Data", "48K", "12");
  cache("index3", "3", "Unified", "266240K", "20");  // 260 MB: 13 MiB a way
  const CacheShare three = cache_share(3, 40'000, 2, sys.path());
  EXPECT_EQ(to_json(three), (Json{{"level", 3},
                                  {"ways", 3},  // 39,936 KiB
                                  {"kib", 39'936},
                                  {"all_ways", 20},
                                  {"all_kib", 266'240}}));
  EXPECT_EQ(cache_share(3, 1, 2, sys.path()).ways, 1);
  EXPECT_EQ(cache_share(3, 1 << 30, 2, sys.path()).kib, 266'240);
  EXPECT_EQ(cache_share(1, 24, 2, sys.path()).ways, 6);  // of the data cache
  const auto code_of = [&](int level, int cpu) {
    try {
      cache_share(level, 1, cpu, sys.path());
    } catch (const CommandError& error) {
      return error.code();
    }
    return std::string("no error");
  };
  EXPECT_EQ(code_of(2, 2), "unsupported");
  EXPECT_EQ(code_of(3, 0), "unsupported");
  cache("index3", "3", "Unified", "32M", "0");
  EXPECT_EQ(code_of(3, 2), "unsupported");
}

TEST(ProgressLine, IsBetweenItsPoints) {
  ProgressLine line;
  EXPECT_FALSE(line.at(5));
  line.add(100, 10);
  line.add(200, 30);
  line.add(300, 40);
  EXPECT_DOUBLE_EQ(*line.at(50), 10);
  EXPECT_DOUBLE_EQ(*line.at(150), 20);
  EXPECT_DOUBLE_EQ(*line.at(200), 30);
  EXPECT_DOUBLE_EQ(*line.at(275), 37.5);
  EXPECT_DOUBLE_EQ(*line.at(900), 40);
}

TEST(ProgressLog, AddsProcessesAndKeepsTheirLastLines) {
  const ScratchDirectory scratch;
  ProgressLog log(scratch.path() / "log");
  {
    const UniqueFd one = log.open_writer();
    const UniqueFd two = log.open_writer();
    const auto say = [](const UniqueFd& to, const std::string& text) {
      ASSERT_EQ(::write(to.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    };
    say(one, "begins\nprog");
    say(one, "ress 5\n");
    say(two, "progress 100\n");
    ASSERT_TRUE(
        node::testing::eventually([&] { return log.difference(0, INT64_MAX).has_value(); }));
    ASSERT_TRUE(node::testing::eventually([&] { return log.has_line_with("progress 5"); }));
    ASSERT_TRUE(node::testing::eventually([&] { return log.has_line_with("progress 100"); }));
    say(one, "progress 7\nends\n");
    say(two, "progress 101\n");
  }
  EXPECT_TRUE(log.finish(Deadline::after_seconds(20)));
  EXPECT_DOUBLE_EQ(*log.difference(0, monotonic_ns()), 3);
  EXPECT_EQ(log.last_lines(), "  begins\n  ends");
  EXPECT_NE(node::testing::read_text(scratch.path() / "log").find("progress 101"),
            std::string::npos);
}

TEST(ProgressLog, SomebodyWhoHoldsItIsNotWaitedForForever) {
  const ScratchDirectory scratch;
  ProgressLog log(scratch.path() / "log");
  UniqueFd writer = log.open_writer();
  EXPECT_FALSE(log.finish(Deadline::after_seconds(0.02)));
  writer.reset();
  EXPECT_TRUE(log.finish(Deadline::after_seconds(20)));
}

TEST(WindowSampler, AWindowThatIsOverIsReadAlthoughTheStopComesFirst) {
  std::atomic<bool> is_over{false};
  const std::int64_t now = monotonic_ns();
  WindowSampler sampler(now, now + 1'000'000, [&] {
    // The first reading takes longer than the window, so the stop is there before the second.
    while (!is_over) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return Sample();
  });
  std::jthread stopper([&] { sampler.stop(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  is_over = true;
  stopper.join();
  EXPECT_TRUE(sampler.window());
}

TEST(WindowSampler, WhatCannotBeReadIsNoWindow) {
  const std::int64_t now = monotonic_ns();
  WindowSampler sampler(now, now, []() -> Sample { throw std::runtime_error("no /proc"); });
  sampler.stop();
  EXPECT_FALSE(sampler.window());
}

TEST(StressMetrics, AreTheSumsOfOperationsAndOfProcessorTime) {
  const ScratchDirectory scratch;
  const auto file = scratch.path() / "m.yaml";
  EXPECT_FALSE(read_stress_metrics(file));
  write_file(file,
             "---\nsystem-info:\n      uptime: 659\n\nmetrics:\n    - stressor: memcpy\n"
             "      bogo-ops: 58\n      bogo-ops-per-second-real-time: 81.6\n"
             "      wall-clock-time: 0.709951\n      user-time: 0.5\n"
             "      system-time: 0.0625\n\n    - stressor: stream\n"
             "      bogo-ops: 8\n      wall-clock-time: 0.724575\n      user-time: 0.25\n...\n");
  const auto metrics = read_stress_metrics(file);
  ASSERT_TRUE(metrics);
  EXPECT_DOUBLE_EQ(metrics->operations, 66);
  EXPECT_DOUBLE_EQ(metrics->cpu_seconds, 0.8125);
}

TEST(CpuTimes, OfAProcessAreTheSumOfItsThreads) {
  const ScratchDirectory proc;
  const auto directory = proc.path() / "7";
  write_file(directory / "stat", "7 (a) b) S 1 7 7 0 -1 4194560 1 0 0 0 30 10 0 0 20 0 2 0");
  for (const char* thread : {"7", "8"}) {
    write_file(directory / "task" / thread / "schedstat", "500000000 20 3\n");
    write_file(directory / "task" / thread / "status",
               "voluntary_ctxt_switches:\t4\nnonvoluntary_ctxt_switches:\t1\n");
  }
  const CpuTimes times = process_times(7, proc.path());
  EXPECT_EQ(times.total_ns, 1'000'000'000);
  EXPECT_EQ(times.voluntary_switches, 8);
  EXPECT_EQ(times.involuntary_switches, 2);
  const CpuTimes used = used_between({}, times);
  EXPECT_EQ(used.user_ns, 750'000'000);  // 30 ticks of 40
  EXPECT_EQ(used.system_ns, 250'000'000);
  EXPECT_EQ(process_times(9, proc.path()).total_ns, 0);
}

TEST(CpuTimes, OfAFamilyHaveThoseOfTheChildrenThatItHasWaitedFor) {
  const ScratchDirectory proc;
  write_file(proc.path() / "7/stat", "7 (sh) S 1 7 7 0 -1 4194560 1 0 0 0 3 1 50 10 20 0 1 0");
  EXPECT_EQ(process_times(7, proc.path()).total_ns, 40'000'000);  // 4 ticks of 10 ms
  const CpuTimes times = family_times(7, proc.path());
  EXPECT_EQ(times.total_ns, 640'000'000);
  EXPECT_EQ(times.user_ns, 530'000'000);
  EXPECT_EQ(times.system_ns, 110'000'000);
}

TEST(CpuTimes, ThreadsThatHaveEndedAreCounted) {
  const auto of_this_process = [] { return process_times(::getpid()); };
  const CpuTimes before = of_this_process();
  std::int64_t spun_ns = 0;
  std::thread([&spun_ns] {
    while (spun_ns < 200'000'000) {
      timespec used{};
      ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
      spun_ns = used.tv_sec * kSecondNs + used.tv_nsec;
    }
  }).join();
  // User and system time are ticks of 10 ms, each cut off at both readings.
  EXPECT_GE(used_between(before, of_this_process()).total_ns, 160'000'000);
}

TEST(CpuTimes, OfAGroupAreReadFromEitherVersion) {
  const ScratchDirectory scratch;
  write_file(scratch.path() / "first/cpuacct.usage", "123456789\n");
  write_file(scratch.path() / "first/cpuacct.stat", "user 3\nsystem 1\n");
  const auto first = group_times(scratch.path() / "first");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->total_ns, 123'456'789);
  write_file(scratch.path() / "second/cpu.stat",
             "usage_usec 900\nuser_usec 600\nsystem_usec 300\nnr_periods 0\n");
  const auto second = group_times(scratch.path() / "second");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->total_ns, 900'000);
  EXPECT_EQ(second->user_ns, 600'000);
  EXPECT_FALSE(group_times(scratch.path() / "none"));
}

}  // namespace
}  // namespace turntable::swan
