#include "mcload/node.h"

#include <gtest/gtest.h>

#include <fstream>

#include "common/clock.h"
#include "common/command_error.h"
#include "mcload/testing.h"

namespace turntable::mcload {
namespace {

using Json = McloadNode::Json;
using testing::RunningDelayLine;

Json content() {
  return {{"records", 500}, {"key_size", "fixed:30"}, {"value_size", "fixed:100"}, {"seed", 1}};
}

Json prepare_args(const RunningDelayLine& line) {
  return {{"server", line.json()}, {"protocol", "ascii"}, {"content", content()}, {"threads", 1},
          {"connections", 4},      {"depth", 2},          {"arrivals", "fb_ia"},  {"update", 0.1},
          {"rate_per_s", 4000},    {"seed", 1},           {"client", 1},          {"clients", 2},
          {"placement", nullptr},  {"realtime", false},   {"spin_us", 0}};
}

Json start_args() {
  return {{"start_at_ns", realtime_ns() + 20'000'000},
          {"warmup_ns", 100'000'000},
          {"measure_ns", 300'000'000},
          {"drain_ns", 500'000'000}};
}

std::string code_of(const std::function<void()>& command) {
  try {
    command();
  } catch (const CommandError& error) {
    return error.code();
  }
  return "";
}

TEST(McloadNode, PlaysAnIteration) {
  RunningDelayLine line;
  std::string state;
  McloadNode node([&](std::string now) { state = std::move(now); });
  const Json where = {
      {"server", line.json()}, {"protocol", "ascii"}, {"content", content()}, {"deadline_s", 20}};
  EXPECT_EQ(node.populate(where)["stored"], 500);
  EXPECT_EQ(node.populate(where)["was_there"], true);
  const Json prepared = node.prepare(prepare_args(line));
  EXPECT_EQ(prepared["rate_per_s"], 2000);  // of two clients
  EXPECT_TRUE(prepared["cpus"].is_null());
  node.start(start_args());
  EXPECT_EQ(node.wait({{"deadline_s", 20}})["stopped_early"], false);
  EXPECT_EQ(state, "finished");
  const Json stats = node.stats(Json::object());
  EXPECT_EQ(stats["complete"], true);
  EXPECT_EQ(stats["window_ns"], 300'000'000);
  EXPECT_NEAR(stats["offered"].get<double>(), 600, 150);
  EXPECT_EQ(stats["misses"], 0);
  EXPECT_EQ(stats["hits"], stats["gets"]);
  EXPECT_TRUE(stats["peak_per_s"].is_null());
  for (const char* name : {"delivered",
                           "lost",
                           "unsent",
                           "withheld",
                           "requests_total",
                           "answers_total",
                           "sets",
                           "errors",
                           "silent",
                           "get_lost",
                           "set_unsent",
                           "latency_ns",
                           "get_latency_ns",
                           "set_latency_ns",
                           "from_send_ns",
                           "get_from_send_ns",
                           "set_from_send_ns",
                           "send_late_ns",
                           "read_late_ns",
                           "per_second",
                           "threads",
                           "cpu",
                           "rx_bytes",
                           "tx_bytes",
                           "rate_per_s"}) {
    EXPECT_TRUE(stats.contains(name)) << name;
  }
  EXPECT_EQ(stats["threads"].size(), 1U);
}

TEST(McloadNode, StopEndsAnIteration) {
  RunningDelayLine line;
  McloadNode node([](const std::string&) {});
  node.prepare(prepare_args(line));
  Json start = start_args();
  start["measure_ns"] = 60'000'000'000;
  node.start(start);
  EXPECT_EQ(node.stats(Json::object())["running"], true);
  node.stop(Json::object());
  EXPECT_EQ(node.stats(Json::object())["complete"], false);
}

// A server with one queue of 2000/s: whatever it is offered beyond that waits for longer than the
// limit. Nobody is asked: how fast this machine is decides nothing.
Play single_queue(const std::string& /*where*/, const std::atomic<bool>& /*cancelled*/,
                  double drain_s) {
  EXPECT_EQ(drain_s, 3);  // as the search is told
  return [](const GeneratorSettings& settings, double, double) {
    const bool is_overload = settings.is_closed_loop || settings.rate_per_s > 2000;
    Measured answers;
    answers.window_ns = kSecondNs;
    answers.loop.offered = answers.loop.delivered = answers.key_value.gets =
        is_overload ? 2000 : static_cast<std::int64_t>(settings.rate_per_s);
    answers.loop.latency_ns.record(is_overload ? kSecondNs : kSecondNs / 2000);
    return answers;
  };
}

TEST(McloadNode, TunesOnce) {
  RunningDelayLine line;
  Json args = {{"server", line.json()},
               {"protocol", "binary"},
               {"content", content()},
               {"load", {{"connections", 32}}},
               {"search",
                {{"percentile", 90},
                 {"limit_us", 1000},
                 {"seconds", 0.05},
                 {"warmup_s", 0},
                 {"drain_s", 3},
                 {"repeats", 1},
                 {"resolution", 0.2}}},
               {"key", "a key"},
               {"directory", line.directory()},
               {"seed", 1},
               {"deadline_s", 60}};
  McloadNode node([](const std::string&) {}, single_queue);
  const Json tuned = node.tune(args);
  EXPECT_EQ(tuned["was_known"], false);
  EXPECT_EQ(tuned["confirmed"], true);
  EXPECT_GT(tuned["probes"].size(), 1U);
  EXPECT_LE(tuned["peak_per_s"], 2000);
  EXPECT_GT(tuned["high_per_s"], 2000);
  EXPECT_LE(tuned["high_per_s"].get<double>(), 1.2 * tuned["peak_per_s"].get<double>());
  McloadNode later([](const std::string&) {}, single_queue);
  Json prepare = prepare_args(line);
  prepare.erase("rate_per_s");
  prepare["peak_share"] = 0.5;
  prepare["peak_key"] = "a key";
  EXPECT_EQ(code_of([&] { later.prepare(prepare); }), "bad_argument");
  const Json known = later.tune(args);
  EXPECT_EQ(known["was_known"], true);
  EXPECT_EQ(known["peak_per_s"], tuned["peak_per_s"]);
  EXPECT_EQ(known["found_at_ns"], tuned["found_at_ns"]);
  EXPECT_DOUBLE_EQ(later.prepare(prepare)["rate_per_s"].get<double>(),
                   tuned["peak_per_s"].get<double>() / 4);
  args["forget"] = true;
  EXPECT_EQ(later.tune(args)["was_known"], false);
}

TEST(McloadNode, RefusesWrongArguments) {
  RunningDelayLine line;
  McloadNode node([](const std::string&) {});
  const std::vector<std::pair<std::string, Json>> wrong = {
      {"protocol", "udp"},
      {"server", {{"address", "127.0.0.1"}, {"port", 0}}},
      {"server", 5},
      {"arrivals", "poisson"},
      {"update", 2},
      {"rate_per_s", 0},
      {"client", 2},
      {"connections", 0},
      {"content", {{"records", 0}}},
      {"placement", {{"cpus", {100'000}}}},
      {"placement", {{"layout", "nowhere"}}},
      {"peak_share", 0.5},
      {"speed", 1}};
  for (const auto& [name, value] : wrong) {
    Json args = prepare_args(line);
    args[name] = value;
    EXPECT_EQ(code_of([&] { node.prepare(args); }), "bad_argument") << name;
  }
  EXPECT_EQ(code_of([&] { node.start(start_args()); }), "wrong_state");
  EXPECT_EQ(code_of([&] { node.stats(Json::object()); }), "wrong_state");
  Json nobody = prepare_args(line);
  nobody["server"] = {{"socket", line.directory() + "/nobody"}};
  EXPECT_EQ(code_of([&] { node.prepare(nobody); }), "unavailable");
}

TEST(McloadNode, PinsItsThreads) {
  RunningDelayLine line;
  McloadNode node([](const std::string&) {});
  Json args = prepare_args(line);
  args["placement"] = {{"cpus", {0}}};
  EXPECT_EQ(node.prepare(args)["cpus"], Json({0}));
}

}  // namespace
}  // namespace turntable::mcload
