#include "history/checker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <set>

namespace turntable::history {
namespace {

constexpr workload::KeyId kKey = 42;

Operation put(std::int64_t from, std::int64_t until, std::uint64_t version, std::uint32_t number) {
  return {.type = OperationType::kPut,
          .key = kKey,
          .invoke_ns = from,
          .response_ns = until,
          .version = version,
          .number = number};
}

Operation lost_put(std::int64_t from, std::uint64_t version, std::int64_t gone = kNever) {
  return {.type = OperationType::kPut,
          .key = kKey,
          .invoke_ns = from,
          .copies_gone_ns = gone,
          .version = version};
}

Operation del(std::int64_t from, std::int64_t until, std::uint32_t number) {
  return {.type = OperationType::kDelete,
          .key = kKey,
          .invoke_ns = from,
          .response_ns = until,
          .number = number};
}

Operation get(std::int64_t from, std::int64_t until, std::uint64_t version, std::uint32_t number) {
  return {.type = OperationType::kGet,
          .key = kKey,
          .invoke_ns = from,
          .response_ns = until,
          .version = version,
          .found = true,
          .number = number};
}

Operation absent(std::int64_t from, std::int64_t until, std::uint32_t number) {
  return {.type = OperationType::kGet,
          .key = kKey,
          .invoke_ns = from,
          .response_ns = until,
          .number = number};
}

std::string violation_of(const std::vector<Operation>& history) {
  const Verdict verdict = check(history);
  return verdict.violations.empty() ? "" : verdict.violations.front().what;
}

const std::string kStale = "two records would each have to be the older one";

TEST(Checker, SequentialHistoryPasses) {
  EXPECT_EQ(violation_of({get(0, 1, 0, 0), put(2, 3, 7, 1), get(4, 5, 7, 1), del(6, 7, 2),
                          absent(8, 9, 2), put(10, 11, 8, 3), get(12, 13, 8, 3)}),
            "");
}

TEST(Checker, ReadAfterAnAcknowledgedWriteMustNotReturnTheOldRecord) {
  EXPECT_EQ(violation_of({put(0, 1, 7, 1), put(2, 3, 8, 2), get(4, 5, 7, 1)}), kStale);
  EXPECT_EQ(violation_of({put(0, 1, 7, 1), get(2, 3, 0, 0)}), kStale);
  EXPECT_EQ(violation_of({put(0, 1, 7, 1), put(2, 5, 8, 2), get(4, 6, 7, 1)}), "")
      << "the second write may come after the read";
}

TEST(Checker, AcknowledgedDeleteHidesTheValue) {
  EXPECT_EQ(violation_of({put(0, 1, 7, 1), del(2, 3, 2), get(4, 5, 7, 1)}), kStale);
}

TEST(Checker, DeletesAreToldApartByNumber) {
  EXPECT_EQ(violation_of({del(0, 1, 1), put(2, 3, 7, 2), del(4, 5, 3), absent(6, 7, 3)}), "");
  EXPECT_EQ(violation_of({del(0, 1, 1), put(2, 3, 7, 2), del(4, 5, 3), absent(6, 7, 1)}), kStale);
}

TEST(Checker, ReadsMustNotGoBack) {
  EXPECT_EQ(violation_of({put(0, 100, 7, 1), get(1, 2, 7, 1), get(3, 4, 0, 0)}), kStale);
  EXPECT_EQ(violation_of({lost_put(0, 7), get(1, 2, 7, 1), get(3, 4, 0, 0)}), kStale);
  EXPECT_EQ(violation_of({lost_put(0, 7), get(1, 2, 0, 0), get(3, 4, 7, 1)}), "");
}

TEST(Checker, UnansweredWriteMayTakeEffectOrNot) {
  EXPECT_EQ(violation_of({lost_put(0, 7), get(10, 11, 0, 0)}), "");
  EXPECT_EQ(violation_of({lost_put(0, 7), get(10, 11, 7, 4)}), "");
}

TEST(Checker, WriteTakesNoEffectAfterItsLastCopyIsGone) {
  EXPECT_EQ(violation_of({lost_put(0, 7, 5), get(6, 7, 0, 0), get(8, 9, 7, 1)}), kStale);
}

// Two transmissions of one PUT were executed, with another PUT between them.
TEST(Checker, EveryTransmissionIsAWriteOfItsOwn) {
  const std::vector<Operation> history = {put(0, 10, 7, 1), put(12, 13, 8, 2), get(14, 15, 7, 3)};
  EXPECT_EQ(violation_of(history), "") << "number 3 is the late copy of the first PUT";
  std::vector<Operation> back = history;
  back.push_back(get(16, 17, 8, 2));
  EXPECT_EQ(violation_of(back), kStale);
}

TEST(Checker, WhatNobodyWroteCannotBeRead) {
  EXPECT_EQ(violation_of({get(0, 1, 7, 1)}), "a value was read that nobody wrote");
  EXPECT_EQ(violation_of({absent(0, 1, 1)}), "a delete was read that nobody sent");
  EXPECT_EQ(violation_of({get(0, 1, 7, 1), put(2, 3, 7, 1)}),
            "a value was read before it was written");
}

TEST(Checker, OneNumberIsOneRecord) {
  EXPECT_EQ(violation_of({put(0, 1, 7, 1), put(2, 3, 8, 1)}),
            "two writes were acknowledged with one number");
  EXPECT_EQ(violation_of({put(0, 1, 7, 1), put(2, 3, 8, 2), get(4, 5, 8, 1)}),
            "two records have one number");
  EXPECT_EQ(violation_of({get(0, 1, 0, 0), absent(2, 3, 0)}), "two records have one number");
  EXPECT_EQ(violation_of({put(0, 1, 7, 0)}),
            "a write was acknowledged with number 0, that of the record before the run");
}

TEST(Checker, KeysAreRegistersOfTheirOwn) {
  std::vector<Operation> history = {put(0, 1, 7, 1), get(2, 3, 0, 0)};
  history[1].key = kKey + 1;
  const Verdict verdict = check(history);
  EXPECT_TRUE(verdict.violations.empty());
  EXPECT_EQ(verdict.keys, 2);
  EXPECT_EQ(verdict.operations, 2);
}

TEST(Checker, ViolationsAreToldWithTheirOperations) {
  std::vector<Operation> history = {put(1'000, 2'000, 7, 1), get(3'500, 4'000, 0, 0),
                                    lost_put(5'000, 9)};
  const Verdict verdict = check(history);
  ASSERT_EQ(verdict.violations.size(), 1);
  EXPECT_EQ(verdict.unanswered, 1);
  EXPECT_EQ(describe(verdict.violations[0], history),
            "key 42: two records would each have to be the older one\n"
            "         0.000 ..        1.000 us  client    0  PUT 7  number 1\n"
            "         2.500 ..        3.000 us  client    0  GET -> 0  number 0\n");
}

// Wing and Gong's search, with the effects as the checker's page defines them: tries every order.
class ExhaustiveSearch {
 public:
  explicit ExhaustiveSearch(const std::vector<Operation>& history) {
    std::set<std::uint32_t> seen;
    for (const Operation& operation : history) {
      if (!operation.answered()) continue;
      const bool is_get = operation.type == OperationType::kGet;
      steps_.push_back({operation.invoke_ns, operation.response_ns, !is_get, operation.number});
      if (!is_get) seen.insert(operation.number);
    }
    for (const Operation& read : history) {
      if (!read.answered() || read.number == 0 || !seen.insert(read.number).second) continue;
      const auto write = std::ranges::find_if(history, [&](const Operation& operation) {
        return operation.type == OperationType::kPut && operation.version == read.version;
      });
      steps_.push_back({write->invoke_ns, kNever, true, read.number});
    }
  }

  bool succeeds() { return search(0, std::vector<bool>(steps_.size()), 0); }

 private:
  struct Step {
    std::int64_t begin, end;
    bool is_write;
    std::uint32_t number;
  };

  bool search(std::size_t done, std::vector<bool> taken, std::uint32_t current) {
    if (done == steps_.size()) return true;
    std::int64_t earliest_end = kNever;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (!taken[i]) earliest_end = std::min(earliest_end, steps_[i].end);
    }
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (taken[i] || steps_[i].begin > earliest_end) continue;
      if (!steps_[i].is_write && steps_[i].number != current) continue;
      taken[i] = true;
      if (search(done + 1, taken, steps_[i].is_write ? steps_[i].number : current)) return true;
      taken[i] = false;
    }
    return false;
  }

  std::vector<Step> steps_;
};

// A register whose operations take effect at a random instant of their interval; with probability
// 1/2 one read is then made to return something else.
std::vector<Operation> random_history(std::mt19937& random) {
  struct Planned {
    std::int64_t at;
    Operation operation;
  };
  std::vector<Planned> plan(3 + random() % 5);
  std::uint64_t version = 0;
  for (Planned& planned : plan) {
    const std::int64_t from = random() % 40, until = from + random() % 15;
    planned.at = from + (until == from ? 0 : random() % (until - from + 1));
    planned.operation = random() % 2 == 0 ? put(from, until, ++version, 0) : get(from, until, 0, 0);
  }
  std::ranges::stable_sort(plan, {}, &Planned::at);
  std::uint32_t number = 0;
  std::uint64_t current = 0;
  std::vector<Operation> history;
  for (Planned& planned : plan) {
    Operation& operation = planned.operation;
    if (operation.type == OperationType::kPut) {
      operation.number = ++number;
      current = operation.version;
      if (random() % 4 == 0) operation = lost_put(operation.invoke_ns, operation.version);
    } else {
      operation.number = number;
      operation.version = current;
    }
    history.push_back(operation);
  }
  if (number > 0 && random() % 2 == 0) {
    Operation& operation = history[random() % history.size()];
    const Planned& other = plan[random() % plan.size()];
    if (operation.type == OperationType::kGet) {
      operation.number = other.operation.type == OperationType::kPut ? other.operation.number : 0;
      operation.version = operation.number == 0 ? 0 : other.operation.version;
    }
  }
  return history;
}

TEST(Checker, AgreesWithAnExhaustiveSearchOnShortHistories) {
  std::mt19937 random(1990);
  int violations = 0;
  constexpr int kRounds = 30'000;
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<Operation> history = random_history(random);
    const bool found = !check(history).violations.empty();
    ASSERT_EQ(found, !ExhaustiveSearch(history).succeeds()) << "round " << round;
    violations += found ? 1 : 0;
  }
  EXPECT_GT(violations, kRounds / 50) << "the histories must be worth checking";
  EXPECT_LT(violations, kRounds / 2);
}

}  // namespace
}  // namespace turntable::history
