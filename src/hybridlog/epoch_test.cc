#include "hybridlog/epoch.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "hybridlog/testing_schedules.h"

namespace turntable::hybridlog {
namespace {

using testing::Schedule;
using testing::ScheduledAtomic;

TEST(Epoch, AnActionWaitsForWhoIsProtected) {
  Epoch epoch(2);
  Epoch::Thread one(epoch), other(epoch);
  one.protect();
  int runs = 0;
  epoch.bump([&] { ++runs; });
  other.protect();  // in the new epoch: nobody waits for it
  other.refresh();
  EXPECT_EQ(runs, 0);
  one.refresh();
  EXPECT_EQ(runs, 1);
  one.refresh();
  EXPECT_EQ(runs, 1);
}

TEST(Epoch, AnActionRunsAtOnceWhereNobodyIsProtected) {
  Epoch epoch(1);
  int runs = 0;
  epoch.bump([&] { ++runs; });
  EXPECT_EQ(runs, 1);
  Epoch::Thread thread(epoch);
  thread.protect();
  epoch.bump([&] { ++runs; });
  thread.unprotect();
  EXPECT_EQ(runs, 2);
}

TEST(Epoch, AnActionMayBumpAgain) {
  Epoch epoch(1);
  int runs = 0;
  epoch.bump([&] { epoch.bump([&] { ++runs; }); });
  EXPECT_EQ(runs, 1);
}

TEST(Epoch, MoreActionsThanPlaces) {
  Epoch epoch(1);
  Epoch::Thread thread(epoch);
  thread.protect();
  int runs = 0;
  for (int i = 0; i < 1000; ++i) epoch.bump([&] { ++runs; }, thread);
  thread.refresh();
  EXPECT_EQ(runs, 1000);
}

TEST(Epoch, HasSoManyPlaces) {
  Epoch epoch(1);
  std::optional<Epoch::Thread> one(epoch);
  EXPECT_THROW(Epoch::Thread{epoch}, std::length_error);
  one.reset();
  Epoch::Thread again(epoch);
}

// What the log does when it frees a page: a marker goes up, and when nobody can still look at what
// is below it, it is gone. Readers look at what is at or above the marker that they saw.
template <template <typename> class Atomic>
struct Page {
  Atomic<bool> is_offered{true};
  bool is_gone = false;
  bool was_read_when_gone = false;
  int frees = 0;
};

using ScheduledEpoch = BasicEpoch<ScheduledAtomic, 2>;

struct World {
  ScheduledEpoch epoch{2};
  Page<ScheduledAtomic> page;
  ScheduledEpoch::Thread one{epoch}, other{epoch};

  void look() {
    if (!page.is_offered.load()) return;
    Schedule::step();  // it may be put aside here
    page.was_read_when_gone = page.was_read_when_gone || page.is_gone;
  }
  void read(ScheduledEpoch::Thread& thread) {
    thread.protect();
    look();
    thread.refresh();
    look();
    thread.unprotect();
  }
  void free() {
    page.is_offered.store(false);
    epoch.bump([this] {
      page.is_gone = true;
      ++page.frees;
    });
  }
};

TEST(EpochOrders, NothingGoesWhileItIsReadInAnyOrder) {
  std::unique_ptr<World> world;
  const auto explored = Schedule::explore(
      [&]() -> Schedule::Threads {
        world = std::make_unique<World>();
        return {[&] { world->read(world->one); }, [&] { world->read(world->other); },
                [&] { world->free(); }};
      },
      [&] {
        EXPECT_FALSE(world->page.was_read_when_gone);
        EXPECT_EQ(world->page.frees, 1);  // whoever was last has run it
      },
      /*most_switches=*/3, /*most_steps=*/2000);
  EXPECT_GT(explored.orders, 1000U);
  EXPECT_EQ(explored.endless, 0U);
}

// The check of the check: a reader that is not protected.
TEST(EpochOrders, WithoutProtectionItGoes) {
  std::unique_ptr<World> world;
  bool was_seen = false;
  Schedule::explore(
      [&]() -> Schedule::Threads {
        world = std::make_unique<World>();
        return {[&] { world->look(); }, [&] { world->free(); }};
      },
      [&] { was_seen = was_seen || world->page.was_read_when_gone; }, SIZE_MAX, 2000);
  EXPECT_TRUE(was_seen);
}

TEST(Epoch, ThreadsAndActions) {
  constexpr int kThreads = 4, kRounds = 2000;
  Epoch epoch(kThreads);
  std::atomic<int*> current{new int(0)};
  std::atomic<int> freed{0};
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        Epoch::Thread thread(epoch);
        for (int round = 0; round < kRounds; ++round) {
          thread.protect();
          EXPECT_GE(*current.load(), 0);
          if (i == 0) {
            int* const old = current.exchange(new int(round));
            epoch.bump(
                [old, &freed] {
                  *old = -1;
                  delete old;
                  ++freed;
                },
                thread);
          }
          thread.refresh();
        }
      });
    }
  }
  epoch.drain();
  EXPECT_EQ(freed, kRounds);
  delete current.load();
}

}  // namespace
}  // namespace turntable::hybridlog
