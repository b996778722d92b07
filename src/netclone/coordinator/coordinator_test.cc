#include "netclone/coordinator/coordinator.h"

#include <gtest/gtest.h>

#include <set>

namespace turntable::netclone {
namespace {

constexpr std::uint64_t kSeed = 7;

Packet asking(std::uint64_t number) {
  return {.op = Op::kRequest, .request = request_id(3, number), .client = 3};
}

// As a server answers.
Packet answer_to(const Coordinator::Sending& sending) {
  Packet answer = sending.packet;
  answer.op = Op::kResponse;
  answer.server = sending.server;
  return answer;
}

Coordinator of(LaedgeMode mode, std::vector<std::uint32_t> workers) {
  return Coordinator({.mode = mode, .workers = std::move(workers), .seed = kSeed});
}

TEST(Coordinator, TwoIdleServersGetACopyEach) {
  Coordinator coordinator = of(LaedgeMode::kBinary, {8, 8, 8});
  const auto sent = coordinator.request(asking(0), 0);
  ASSERT_EQ(sent.count, 2U);
  EXPECT_NE(sent.copies[0].server, sent.copies[1].server);
  EXPECT_EQ(sent.copies[0].packet.clone, Clone::kOriginal);
  EXPECT_EQ(sent.copies[1].packet.clone, Clone::kClone);
  EXPECT_EQ(sent.copies[0].packet.request, request_id(3, 0));
  EXPECT_EQ(sent.copies[0].packet.client, 3);
}

// The rule of the draws: the first copy's number chooses among all that are idle, the second's
// among those that are left.
TEST(Coordinator, TheChoiceIsThatOfTheDraws) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  for (std::uint64_t number = 0; number < 200; ++number) {
    Coordinator coordinator = of(LaedgeMode::kBinary, {1, 1, 1, 1});
    const auto sent = coordinator.request(asking(number), 0);
    const std::uint64_t id = request_id(3, number);
    const auto first = static_cast<std::uint32_t>(4 * uniform(kSeed, Stream::kCoordinator, id, 0));
    auto second = static_cast<std::uint32_t>(3 * uniform(kSeed, Stream::kCoordinator, id, 1));
    if (second >= first) ++second;
    EXPECT_EQ(sent.copies[0].server, first);
    EXPECT_EQ(sent.copies[1].server, second);
    seen.insert({first, second});
  }
  EXPECT_EQ(seen.size(), 12U);  // every ordered pair
}

TEST(Coordinator, OneIdleServerGetsTheOnlyCopyAndThenRequestsWait) {
  Coordinator coordinator = of(LaedgeMode::kBinary, {8, 8, 8});
  const auto both = coordinator.request(asking(0), 0);
  const auto single = coordinator.request(asking(1), 0);
  ASSERT_EQ(single.count, 1U);
  EXPECT_EQ(single.copies[0].packet.clone, Clone::kNone);
  const std::set<std::uint32_t> used = {both.copies[0].server, both.copies[1].server,
                                        single.copies[0].server};
  EXPECT_EQ(used.size(), 3U);
  EXPECT_EQ(coordinator.request(asking(2), 0).count, 0U);
  EXPECT_EQ(coordinator.request(asking(3), 0).count, 0U);
  EXPECT_EQ(coordinator.queue_length(), 2U);

  // Each answer takes one that waits, in their order, to the server that has answered.
  const auto after = coordinator.answer(answer_to(both.copies[1]), 0);
  EXPECT_EQ(after.answer, Coordinator::Answer::kForward);
  ASSERT_EQ(after.next.count, 1U);
  EXPECT_EQ(after.next.copies[0].server, both.copies[1].server);
  EXPECT_EQ(after.next.copies[0].packet.request, request_id(3, 2));
  EXPECT_EQ(after.next.copies[0].packet.clone, Clone::kNone);
  const auto slower = coordinator.answer(answer_to(both.copies[0]), 0);
  EXPECT_EQ(slower.answer, Coordinator::Answer::kRedundant);
  ASSERT_EQ(slower.next.count, 1U);
  EXPECT_EQ(slower.next.copies[0].packet.request, request_id(3, 3));
  EXPECT_EQ(coordinator.queue_length(), 0U);

  const auto& counts = coordinator.counts();
  EXPECT_EQ(counts.requests, 4);
  EXPECT_EQ(counts.cloned, 1);
  EXPECT_EQ(counts.single, 3);
  EXPECT_EQ(counts.waited, 2);
  EXPECT_EQ(counts.forwarded, 1);
  EXPECT_EQ(counts.redundant, 1);
}

// As published, a server has one request at a time, however many workers it has; with a credit for
// each of its workers it has as many.
TEST(Coordinator, AnAnswerTellsHowLongItsCreditWasTaken) {
  Coordinator coordinator = of(LaedgeMode::kBinary, {1, 1});
  const auto both = coordinator.request(asking(0), 100);
  coordinator.request(asking(1), 150);
  const auto first = coordinator.answer(answer_to(both.copies[1]), 400);
  EXPECT_EQ(first.credit_ns, 300);
  EXPECT_EQ(coordinator.answer(answer_to(both.copies[0]), 450).credit_ns, 350);
  // What waited took its credit when it was sent, not when it came.
  ASSERT_EQ(first.next.count, 1U);
  EXPECT_EQ(coordinator.answer(answer_to(first.next.copies[0]), 1000).credit_ns, 600);
}

TEST(Coordinator, CapacityIsOfServersInBinaryAndOfWorkersInSlots) {
  for (const auto& [mode, copies] :
       {std::pair{LaedgeMode::kBinary, 2U}, {LaedgeMode::kSlots, 16U}}) {
    Coordinator coordinator = of(mode, {8, 8});
    std::size_t sent = 0;
    for (std::uint64_t number = 0; number < 20; ++number)
      sent += coordinator.request(asking(number), 0).count;
    EXPECT_EQ(sent, copies);
    EXPECT_EQ(coordinator.queue_length(), 20 - copies / 2);
    EXPECT_EQ(coordinator.counts().cloned, copies / 2);
  }
}

TEST(Coordinator, AnswersToNothingUnderWayAreDroppedAndGiveNoCredit) {
  Coordinator coordinator = of(LaedgeMode::kBinary, {1});
  const auto sent = coordinator.request(asking(0), 0);
  Packet answer = answer_to(sent.copies[0]);
  for (const auto& change : {+[](Packet& p) { p.group = 99; }, +[](Packet& p) { ++p.seq; },
                             +[](Packet& p) { ++p.request; }, +[](Packet& p) { p.server = 5; },
                             +[](Packet& p) { p.clone = Clone::kClone; }}) {
    Packet wrong = answer;
    change(wrong);
    EXPECT_EQ(coordinator.answer(wrong, 0).answer, Coordinator::Answer::kUnknown);
  }
  EXPECT_EQ(coordinator.answer(answer, 0).answer, Coordinator::Answer::kForward);
  EXPECT_EQ(coordinator.answer(answer, 0).answer, Coordinator::Answer::kUnknown);  // twice
  EXPECT_EQ(coordinator.counts().unknown, 6);
  EXPECT_EQ(coordinator.under_way(), 0U);
  EXPECT_EQ(coordinator.request(asking(1), 0).count, 1U);
  EXPECT_EQ(coordinator.request(asking(2), 0).count, 0U);
}

TEST(Coordinator, ManyRequestsLeakNeitherTicketsNorCredits) {
  Coordinator coordinator = of(LaedgeMode::kSlots, {2, 2, 2});
  for (std::uint64_t number = 0; number < 10'000; ++number) {
    const auto sent = coordinator.request(asking(number), 0);
    ASSERT_EQ(sent.count, 2U);
    // Sometimes the clone is first.
    const std::size_t first = number % 2;
    EXPECT_EQ(coordinator.answer(answer_to(sent.copies[first]), 0).answer,
              Coordinator::Answer::kForward);
    EXPECT_EQ(coordinator.answer(answer_to(sent.copies[1 - first]), 0).answer,
              Coordinator::Answer::kRedundant);
  }
  EXPECT_EQ(coordinator.under_way(), 0U);
}

TEST(Coordinator, ALostCopyIsGivenUpAndItsServerWorksOn) {
  Coordinator coordinator(
      {.mode = LaedgeMode::kBinary, .workers = {1, 1}, .seed = kSeed, .give_up_ns = 1000});
  const auto sent = coordinator.request(asking(0), 0);
  coordinator.request(asking(1), 10);
  coordinator.answer(answer_to(sent.copies[0]), 20);  // the other one is lost; 1 is sent
  coordinator.request(asking(2), 30);
  EXPECT_FALSE(coordinator.give_up(999));
  const auto next = coordinator.give_up(1000);
  ASSERT_TRUE(next);
  ASSERT_EQ(next->count, 1U);
  EXPECT_EQ(next->copies[0].packet.request, request_id(3, 2));
  EXPECT_EQ(next->copies[0].server, sent.copies[1].server);
  EXPECT_EQ(next->waited_ns, 970);
  EXPECT_FALSE(coordinator.give_up(1000));
  EXPECT_EQ(coordinator.counts().given_up, 1);
  EXPECT_EQ(coordinator.answer(answer_to(sent.copies[1]), 1100).answer,
            Coordinator::Answer::kUnknown);
}

TEST(Coordinator, AFullQueueDrops) {
  Coordinator coordinator(
      {.mode = LaedgeMode::kBinary, .workers = {1}, .seed = kSeed, .queue_max = 1});
  for (std::uint64_t number = 0; number < 4; ++number) coordinator.request(asking(number), 0);
  EXPECT_EQ(coordinator.queue_length(), 1U);
  EXPECT_EQ(coordinator.counts().waited, 1);
  EXPECT_EQ(coordinator.counts().queue_full, 2);
}

}  // namespace
}  // namespace turntable::netclone
