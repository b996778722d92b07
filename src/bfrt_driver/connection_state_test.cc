// All orders of what a driver, a switch and another client can do, up to the point where no new
// situation comes up.
#include "bfrt_driver/connection_state.h"

#include <gtest/gtest.h>

#include <compare>
#include <functional>
#include <map>
#include <queue>
#include <stdexcept>
#include <string>
#include <vector>

namespace turntable::bfrt_driver {
namespace {

using State = ConnectionState;
using Event = ConnectionEvent;

constexpr char kWanted = 'A';

// A switch with two programs, of which it runs one, one other client, and our driver.
struct World {
  bool up = true;
  char program = kWanted;
  bool our_stream = false;    // the switch has our stream, and so our id
  bool our_binding = false;   // the program is bound to us
  bool other_has_id = false;  // another client has our id
  bool other_bound = false;   // another client has the program
  bool news = false;          // our stream has ended at the switch, and we have not heard of it
  State driver = State::kDisconnected;
  bool stream_open = false;  // our side
  char checked = 0;          // the program seen when we bound, on this stream

  auto operator<=>(const World&) const = default;
};

// Our stream at the switch ends, and with it our id and binding.
void drop_stream(World& world) {
  if (world.our_stream) world.news = true;
  world.our_stream = world.our_binding = false;
}

void hear(World& world) {
  world.news = false;
  world.driver = after(world.driver, Event::kStreamEnded);
}

Event subscribe(World& world) {
  EXPECT_FALSE(world.stream_open) << "a second stream while one is open";
  world.stream_open = true;
  if (!world.up) return Event::kStreamEnded;
  if (world.other_has_id) return Event::kStreamEnded;
  world.our_stream = true;
  return Event::kSubscribed;
}

Event bind(World& world) {
  if (!world.our_stream) return Event::kStreamEnded;
  if (world.program != kWanted) return Event::kOtherProgram;
  if (world.other_bound) return Event::kProgramOwned;
  world.our_binding = true;
  world.checked = world.program;
  return Event::kBound;
}

// What the driver does next; false where it can only wait.
bool drive(World& world) {
  switch (next_step(world.driver)) {
    case ConnectionStep::kConnect:
      if (!world.up) return false;
      world.driver = after(world.driver, Event::kChannelReady);
      return true;
    case ConnectionStep::kSubscribe:
      world.driver = after(world.driver, subscribe(world));
      return true;
    case ConnectionStep::kBind:
      world.driver = after(world.driver, bind(world));
      return true;
    case ConnectionStep::kServe: {
      // A write that the switch takes: only on our stream, and only what was checked on it.
      const bool taken = world.our_stream && world.our_binding;
      if (taken) {
        EXPECT_EQ(world.program, kWanted);
        EXPECT_EQ(world.checked, world.program);
      } else {
        hear(world);  // the call has failed
      }
      return !taken;
    }
    case ConnectionStep::kClose:
      world.our_stream = world.our_binding = world.news = world.stream_open = false;
      world.checked = 0;
      world.driver = after(world.driver, Event::kClosed);
      return true;
  }
  return false;
}

void end_switch(World& world) {
  drop_stream(world);
  world.up = world.other_has_id = world.other_bound = false;
}

// What happens outside of the driver, where it can happen.
const std::map<std::string, std::function<void(World&)>>& happenings() {
  static const std::map<std::string, std::function<void(World&)>> all = {
      {"the switch ends", end_switch},
      {"it is started with program A",
       [](World& w) {
         if (!w.up) w.up = true, w.program = 'A';
       }},
      {"it is started with program B",
       [](World& w) {
         if (!w.up) w.up = true, w.program = 'B';
       }},
      {"it is given program B",
       [](World& w) {
         if (!w.up) return;
         drop_stream(w);
         w.program = 'B';
         w.other_bound = false;
       }},
      {"our stream breaks", drop_stream},
      {"we hear that our stream has ended",
       [](World& w) {
         if (w.news) hear(w);
       }},
      {"another client takes our id",
       [](World& w) {
         if (w.up && !w.our_stream) w.other_has_id = true;
       }},
      {"it gives the id back", [](World& w) { w.other_has_id = false; }},
      {"another client takes the program",
       [](World& w) {
         if (w.up && !w.our_binding) w.other_bound = true;
       }},
      {"it gives the program back", [](World& w) { w.other_bound = false; }},
      {"the driver goes on", [](World& w) { drive(w); }},
  };
  return all;
}

struct Way {
  World before;
  std::string by;
};

std::map<World, Way> reachable() {
  std::map<World, Way> found = {{World{}, {World{}, "start"}}};
  std::queue<World> open;
  open.push(World{});
  while (!open.empty()) {
    const World world = open.front();
    open.pop();
    for (const auto& [name, happen] : happenings()) {
      World next = world;
      EXPECT_NO_THROW(happen(next)) << name << " while " << name_of(world.driver);
      if (found.try_emplace(next, Way{world, name}).second) open.push(next);
    }
  }
  return found;
}

TEST(ConnectionState, never_serves_a_program_that_was_not_checked) {
  const auto found = reachable();
  EXPECT_GT(found.size(), 70U);
  for (const State state :
       {State::kDisconnected, State::kConnected, State::kSubscribed, State::kBound, State::kLost}) {
    const bool seen = std::any_of(found.begin(), found.end(),
                                  [&](const auto& one) { return one.first.driver == state; });
    EXPECT_TRUE(seen) << name_of(state) << " was never reached";
  }
}

// Whatever has happened: a switch that runs the program and is nobody else's is bound soon.
TEST(ConnectionState, is_bound_soon_once_nothing_is_in_the_way) {
  for (const auto& [world, way] : reachable()) {
    World good = world;
    if (!good.up || good.program != kWanted) {
      end_switch(good);
      good.up = true;
      good.program = kWanted;
    }
    good.other_has_id = good.other_bound = false;
    int steps = 0;
    while (drive(good))
      ASSERT_LT(++steps, 10) << "from " << name_of(world.driver) << " after " << way.by;
    EXPECT_EQ(good.driver, State::kBound)
        << "from " << name_of(world.driver) << " after " << way.by;
  }
}

TEST(ConnectionState, refuses_an_answer_that_nobody_asked_for) {
  EXPECT_THROW(after(State::kDisconnected, Event::kSubscribed), std::logic_error);
  EXPECT_THROW(after(State::kConnected, Event::kBound), std::logic_error);
  EXPECT_THROW(after(State::kBound, Event::kSubscribed), std::logic_error);
}

TEST(ConnectionState, an_answer_after_the_loss_changes_nothing) {
  EXPECT_EQ(after(State::kLost, Event::kBound), State::kLost);
  EXPECT_EQ(after(State::kDisconnected, Event::kStreamEnded), State::kDisconnected);
}

}  // namespace
}  // namespace turntable::bfrt_driver
