#include "netclone/server/slots.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "netclone/choices.h"
#include "netclone/simulation/testing.h"

namespace turntable::netclone {
namespace {

using Admission = Slots::Admission;

Job job(std::int64_t arrival_ns, std::int64_t service_ns, Clone clone = Clone::kNone) {
  return {.packet = {.clone = clone}, .arrival_ns = arrival_ns, .service_ns = service_ns};
}

// Everything is looked at when it happens.
Admission arrive(Slots& slots, std::int64_t at, std::int64_t service, Clone clone = Clone::kNone) {
  return slots.arrive(job(at, service, clone), at);
}

TEST(Slots, AreHeldForTheServiceTime) {
  Slots slots(1, false);
  EXPECT_EQ(slots.next_due_ns(), INT64_MAX);
  EXPECT_EQ(arrive(slots, 100, 40), Admission::kStarted);
  EXPECT_EQ(slots.next_due_ns(), 140);
  const auto done = slots.complete(140);
  EXPECT_EQ(done.due_ns, 140);
  EXPECT_EQ(done.job.start_ns, 100);
  EXPECT_EQ(done.queue, 0U);
  EXPECT_EQ(slots.next_due_ns(), INT64_MAX);
}

TEST(Slots, ServeAFifo) {
  Slots slots(2, false);
  EXPECT_EQ(arrive(slots, 0, 100), Admission::kStarted);
  EXPECT_EQ(arrive(slots, 10, 20), Admission::kStarted);
  EXPECT_EQ(arrive(slots, 20, 5), Admission::kQueued);
  EXPECT_EQ(arrive(slots, 25, 7), Admission::kQueued);
  // The slot that is free at 30 does both, one after the other.
  EXPECT_EQ(slots.complete(30).due_ns, 30);
  EXPECT_EQ(slots.complete(35).due_ns, 35);
  EXPECT_EQ(slots.complete(42).due_ns, 42);
  EXPECT_EQ(slots.complete(100).due_ns, 100);
}

TEST(Slots, ReportWhoWaitsWhenTheAnswerIsMade) {
  Slots slots(1, false);
  arrive(slots, 0, 10);
  arrive(slots, 1, 10);
  arrive(slots, 2, 10);
  EXPECT_EQ(slots.complete(10).queue, 2U);  // both: the next one starts after the report
  EXPECT_EQ(slots.complete(20).queue, 1U);
  EXPECT_EQ(slots.complete(30).queue, 0U);
}

TEST(Slots, SayWhetherAllWereBusy) {
  Slots slots(2, false);
  arrive(slots, 0, 10);
  arrive(slots, 0, 20);
  arrive(slots, 5, 10);
  const auto first = slots.complete(10);
  EXPECT_TRUE(first.all_busy);
  EXPECT_FALSE(first.job.arrived_at_all_busy);
  const auto second = slots.complete(20);
  const auto last = slots.complete(20);
  EXPECT_TRUE(second.all_busy);
  EXPECT_FALSE(last.all_busy);
  // One of the two is the job that waited.
  EXPECT_NE(second.job.arrived_at_all_busy, last.job.arrived_at_all_busy);
}

TEST(Slots, DropACloneThatFindsOthersWaiting) {
  const Packet clone{.clone = Clone::kClone};
  Slots slots(1, true);
  EXPECT_FALSE(slots.drops(clone));
  EXPECT_EQ(arrive(slots, 0, 10, Clone::kClone), Admission::kStarted);
  EXPECT_FALSE(slots.drops(clone));  // busy, but nobody waits
  EXPECT_EQ(arrive(slots, 1, 10, Clone::kClone), Admission::kQueued);
  EXPECT_TRUE(slots.drops(clone));
  EXPECT_FALSE(slots.drops({.clone = Clone::kOriginal}));
  EXPECT_FALSE(slots.drops({.clone = Clone::kNone}));
  slots.complete(10);
  EXPECT_FALSE(slots.drops(clone));  // the one that waited is served
}

TEST(Slots, DropNothingWhereClonesAreKept) {
  Slots slots(1, false);
  for (int i = 0; i < 5; ++i) arrive(slots, i, 10, Clone::kClone);
  EXPECT_FALSE(slots.drops({.clone = Clone::kClone}));
}

TEST(Slots, CatchUpWithALateCaller) {
  Slots slots(1, false);
  arrive(slots, 0, 100);
  arrive(slots, 10, 100);
  arrive(slots, 20, 100);
  // Looks only at 1000.
  EXPECT_EQ(slots.complete(1000).due_ns, 100);
  EXPECT_EQ(slots.complete(1000).due_ns, 200);
  EXPECT_EQ(slots.complete(1000).due_ns, 300);
  // The slot is free since 300: a packet of 700 that is read at 1000 started at 700.
  EXPECT_EQ(slots.arrive(job(700, 50), 1000), Admission::kStarted);
  EXPECT_EQ(slots.next_due_ns(), 750);
  EXPECT_EQ(slots.lost_ns(), 0);
}

TEST(Slots, LoseWhatLiesTooFarBack) {
  constexpr std::int64_t kFar = Slots::kMaxCatchUpNs;
  Slots slots(1, false);
  arrive(slots, 0, 100);
  arrive(slots, 10, 100);
  slots.complete(100 + kFar + 30);
  EXPECT_EQ(slots.lost_ns(), 30);
  EXPECT_EQ(slots.next_due_ns(), 130 + 100);
}

TEST(Slots, NeverStartAJobInASlotBeforeItWasFree) {
  Slots slots(1, false);
  arrive(slots, 0, 100);
  slots.complete(100);
  // Arrived at 90, but was read after the slot was looked at.
  slots.arrive(job(90, 10), 105);
  EXPECT_EQ(slots.next_due_ns(), 110);
}

// The same requests, arrivals and draws in the simulation, which is written in another way: an
// event for each step.
TEST(Slots, AnswerAsTheSimulationDoes) {
  namespace sim = simulation;
  constexpr std::uint32_t kWorkers = 8;
  constexpr std::uint64_t kRequests = 50'000;
  sim::Settings settings = sim::settings_of(
      {.method = Method::kNoClone, .servers = 1, .workers = kWorkers, .load = 0, .seed = 5});
  settings.delays = sim::delays_of_round_trips(std::vector<std::int64_t>{0});
  const auto gaps = sim::gaps_of(settings, 0.9, 1);
  sim::Client client{.index = 0, .instants = {}};
  std::int64_t at = 0;
  for (std::uint64_t k = 0; k < kRequests; ++k) {
    at += std::llround(1e9 * gaps.gap_s(k, uniform(5, Stream::kGap, k)));
    client.instants.push_back(at);
  }

  Slots slots(kWorkers, false);
  stats::Histogram latency(sim::kMaxLatencyNs);
  std::uint64_t empty = 0;
  const auto complete_until = [&](std::int64_t until_ns) {
    while (slots.next_due_ns() <= until_ns && slots.busy() > 0) {
      const auto done = slots.complete(slots.next_due_ns());
      latency.record(done.due_ns - done.job.arrival_ns);
      empty += done.queue == 0 ? 1 : 0;
    }
  };
  for (std::uint64_t k = 0; k < kRequests; ++k) {
    const std::int64_t arrival = client.instants[k];
    complete_until(arrival);
    arrive(slots, arrival, settings.service.service_ns(5, k, 0, Operation::kWork, 1));
  }
  complete_until(INT64_MAX);

  const auto result = sim::replay(settings, std::vector{client}, {}, {});
  EXPECT_EQ(result.latency_ns.count(), kRequests);
  EXPECT_EQ(latency.encode(), result.latency_ns.encode());
  EXPECT_EQ(empty, result.reports_empty);
  EXPECT_EQ(slots.lost_ns(), 0);
}

}  // namespace
}  // namespace turntable::netclone
