#include "netclone/simulation/simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "common/command_error.h"
#include "netclone/choices.h"
#include "netclone/simulation/testing.h"

namespace turntable::netclone::simulation {
namespace {

constexpr std::array kMethods = {Method::kNoClone, Method::kCClone, Method::kNetClone,
                                 Method::kNetCloneRackSched, Method::kLaedge};

// Requests `gap_ns` apart from 0 on, of one client.
std::vector<Client> steady(std::size_t requests, std::int64_t gap_ns) {
  Client client{.index = 0, .instants = {}};
  for (std::size_t i = 0; i < requests; ++i)
    client.instants.push_back(static_cast<std::int64_t>(i) * gap_ns);
  return {client};
}

nlohmann::json fixed(double us) {
  return {{"service", {{"distribution", "fixed"}, {"us", us}}}};
}

TEST(Simulation, AnswersEveryRequestOnce) {
  for (const Method method : kMethods) {
    for (const double load : {0.3, 0.9, 1.5}) {
      const Result result = result_of(
          {.method = method, .servers = 4, .workers = 8, .load = load, .requests = 50'000});
      const char* name = method_name(method);
      EXPECT_EQ(result.answered, result.requests) << name;
      EXPECT_EQ(result.unanswered, 0U) << name;
      EXPECT_EQ(result.latency_ns.count(), result.offered) << name;
      EXPECT_EQ(result.copies, result.copies_answered + result.copies_dropped) << name;
      EXPECT_EQ(result.copies_in_flight, 0U) << name;
      EXPECT_EQ(result.cloned, result.clones_dropped + result.filtered + result.redundant) << name;
      EXPECT_EQ(result.half_latency_ns[0].count() + result.half_latency_ns[1].count(),
                result.offered)
          << name;
    }
  }
}

TEST(Simulation, CountsWhatIsUnderWayWhenTheDrainEnds) {
  const Settings settings = settings_of({.method = Method::kCClone,
                                         .servers = 2,
                                         .workers = 1,
                                         .load = 0,
                                         .jitter = 0,
                                         .more = fixed(10)});
  // Each server does one copy every 10 us; requests come every 5.
  const auto clients = steady(100, 5000);
  const Result result = replay(
      settings, clients, {.from_ns = 0, .until_ns = 1'000'000, .drain_until_ns = 204'000}, {});
  // Path 4 us: the twentieth answer is there at 204 us.
  EXPECT_EQ(result.answered, 20U);
  EXPECT_EQ(result.copies_answered, 40U);
  EXPECT_EQ(result.unanswered, result.offered - 20U);
  EXPECT_EQ(result.copies,
            result.copies_answered + result.copies_dropped + result.copies_in_flight);
}

TEST(Simulation, OfOneRequestIsPathAndService) {
  for (const Method method : {Method::kNoClone, Method::kCClone, Method::kNetClone}) {
    const Settings settings = settings_of(
        {.method = method, .servers = 2, .workers = 1, .load = 0, .jitter = 0, .more = fixed(10)});
    const Result result = replay(settings, steady(1, 1), {}, {});
    EXPECT_EQ(result.latency_ns.max(), 14'000) << method_name(method);
  }
}

TEST(Simulation, OfOneWorkerIsAFifo) {
  const Settings settings = settings_of({.method = Method::kNoClone,
                                         .servers = 1,
                                         .workers = 1,
                                         .load = 0,
                                         .jitter = 0,
                                         .more = fixed(10)});
  const Result result = replay(settings, steady(10, 4000), {}, {});
  // Request k comes at 4 k and is done at 10 (k + 1): 4 + 10 + 6 k.
  EXPECT_EQ(result.latency_ns.count(), 10U);
  EXPECT_EQ(result.latency_ns.max(), 68'000);
  EXPECT_EQ(result.latency_ns.sum(), 10 * 14'000U + 45 * 6'000U);
}

TEST(Simulation, DelaysOfPathsBelongToTheirServers) {
  const Delays delays = delays_of_round_trips(std::vector<std::int64_t>{40'000, 80'000});
  EXPECT_EQ(delays.client_ns, 15'000);
  EXPECT_EQ(delays.server_ns, (std::vector<std::int64_t>{5'000, 25'000}));
  Settings settings = settings_of({.method = Method::kNoClone,
                                   .servers = 2,
                                   .workers = 100,
                                   .load = 0,
                                   .jitter = 0,
                                   .more = fixed(10)});
  settings.delays = delays;
  const Result result = replay(settings, steady(1000, 4000), {}, {});
  EXPECT_EQ(result.latency_ns.value_at_percentile(10) / 100, 500);
  EXPECT_EQ(result.latency_ns.max(), 90'000);
}

// The simplest queue by hand, with the draws of the nodes: what a client and a server would
// compute.
TEST(Simulation, UsesTheDrawsOfTheNodes) {
  const Cell cell = {.method = Method::kNoClone, .servers = 3, .workers = 1, .load = 0, .seed = 77};
  const Settings settings = settings_of(cell);
  const auto clients = steady(2000, 20'000);
  std::map<std::uint32_t, std::int64_t> free_at;
  std::int64_t sum = 0;
  for (std::uint64_t request = 0; request < 2000; ++request) {
    const std::int64_t at = clients[0].instants[request];
    std::int64_t& free = free_at[chosen_server(77, request, 3)];
    free = std::max(free, at + 2000) +
           settings.service.service_ns(77, request, 0, Operation::kWork, 1);
    sum += free + 2000 - at;
  }
  const Result result = replay(settings, clients, {}, {});
  EXPECT_EQ(result.latency_ns.sum(), static_cast<std::uint64_t>(sum));
}

// A long-run simulation, and a replay of the instants that its clients draw, are the same.
TEST(Simulation, ReplayOfTheDrawnArrivalsIsThePrediction) {
  const Cell cell = {
      .method = Method::kNetClone, .servers = 4, .workers = 8, .load = 0.6, .requests = 20'000};
  const Settings settings = settings_of(cell);
  const Load load{.clients = 3, .gaps = gaps_of(settings, 0.6, 3), .requests = 20'000};
  const Result predicted = predict(settings, load, {});
  const auto window_ns = 20'000 * 1e9 / (0.6 * settings.capacity_per_s());
  const Window window{.from_ns = std::llround(0.1 * window_ns),
                      .until_ns = std::llround(1.1 * window_ns)};
  std::vector<Client> clients;
  for (const std::uint16_t index : std::initializer_list<std::uint16_t>{2, 0, 1}) {
    Client client{.index = index, .instants = {}};
    std::int64_t at = 0;
    for (std::uint64_t number = 0;; ++number) {
      const double drawn = uniform(cell.seed, Stream::kGap, request_id(index, number));
      at += std::llround(1e9 * load.gaps.gap_s(number, drawn));
      if (at >= window.until_ns) break;
      client.instants.push_back(at);
    }
    clients.push_back(std::move(client));
  }
  const Result replayed = replay(settings, clients, window, {});
  EXPECT_EQ(raw_result(replayed), raw_result(predicted));
  EXPECT_NEAR(static_cast<double>(replayed.offered), 20'000, 600);
}

TEST(Simulation, DilationChangesNothingButTheScale) {
  Cell cell = {.method = Method::kNetCloneRackSched, .servers = 4, .workers = 8, .load = 0.7};
  const Result once = result_of(cell);
  cell.more = {{"dilation", 100}};
  Settings settings = settings_of(cell);
  settings.delays = delays_of_round_trips(std::vector<std::int64_t>(4, 400'000));
  const Result dilated = result_of(cell, settings);
  EXPECT_NEAR(percentile_us(dilated, 99) / 100, percentile_us(once, 99),
              0.03 * percentile_us(once, 99));
}

TEST(Simulation, FilterKeepsRedundantAnswersFromTheClient) {
  Cell cell = {.method = Method::kNetClone, .servers = 4, .workers = 8, .load = 0.3};
  const Result with = result_of(cell);
  EXPECT_EQ(with.redundant, 0U);
  cell.more = {{"filter", false}};
  const Result without = result_of(cell);
  EXPECT_EQ(without.redundant, without.cloned - without.clones_dropped);
  EXPECT_EQ(without.latency_ns.encode(), with.latency_ns.encode());
}

TEST(Simulation, ServersThatDropNoCloneServeAll) {
  const Cell cell = {.method = Method::kNetClone,
                     .servers = 4,
                     .workers = 8,
                     .load = 0.6,
                     .more = {{"drop_clones", false}}};
  EXPECT_EQ(result_of(cell).clones_dropped, 0U);
}

// A server has one request at a time, and waits for the next one while its answer goes to the
// coordinator and back: 1/W of the capacity, less that path.
TEST(Laedge, BinarySaturatesAtOneRequestPerServer) {
  const auto of = [](double load) {
    return result_of({.method = Method::kLaedge,
                      .servers = 4,
                      .workers = 8,
                      .load = load,
                      .more = {{"laedge", "binary"}}});
  };
  const double path_us = 2;
  const double limit = 1.0 / 8 * 28.5 / (28.5 + path_us);
  EXPECT_GT(delivered_share(of(0.8 * limit)), 0.99);
  EXPECT_NEAR(delivered_share(of(1.1 * limit)), 1 / 1.1, 0.02);
  const Result result = of(0.5);
  EXPECT_NEAR(0.5 * delivered_share(result), limit, 0.02 * limit);
}

TEST(Laedge, SlotsUseEveryWorker) {
  const Result result = result_of({.method = Method::kLaedge,
                                   .servers = 4,
                                   .workers = 8,
                                   .load = 0.8,
                                   .more = {{"laedge", "slots"}}});
  EXPECT_GT(delivered_share(result), 0.99);
  EXPECT_GT(result.cloned, 0U);
}

TEST(Laedge, NeverQueuesAtServers) {
  const Result result =
      result_of({.method = Method::kLaedge, .servers = 4, .workers = 8, .load = 0.9});
  EXPECT_EQ(result.reports_empty, result.reports);
}

TEST(Settings, ErrorsNameTheField) {
  const auto error_of = [](const nlohmann::json& more) -> std::string {
    try {
      settings_of(
          {.method = Method::kNetClone, .servers = 4, .workers = 8, .load = 0, .more = more});
    } catch (const CommandError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_of({{"workers", {8, 8}}}),
            "test, work: \"workers\" is [8,8]; expected a number from 1 to 1024, or an array of 4 "
            "of them, one for each server");
  EXPECT_EQ(error_of({{"dilation", 0}}),
            "test, work: \"dilation\" is 0; expected a number from 0.001 to 100000.0");
  EXPECT_EQ(error_of({{"laedge", "three"}}),
            "test, work: LAEDGE's mode is \"three\"; expected one of binary, slots");
  EXPECT_EQ(
      error_of({{"wokers", 8}}),
      "test, work: argument \"wokers\" is unknown; expected service, jitter, dilation, workers, "
      "drop_clones, filter, laedge, mix");
  EXPECT_EQ(error_of({{"mix", {{{"operation", "GET"}, {"share", 1}}}}}),
            "test, work: \"service\" is {\"distribution\":\"exp25\"}; expected a distribution for "
            "each of GET and SCAN, as \"mix\" has them");
}

}  // namespace
}  // namespace turntable::netclone::simulation
