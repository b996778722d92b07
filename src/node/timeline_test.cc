// Instants are near ones of the real clock: what is checked is order and effect, never a duration.
#include "node/timeline.h"

#include <gtest/gtest.h>

#include <future>

#include "common/clock.h"
#include "common/command_error.h"
#include "node/testing.h"

namespace turntable::node {
namespace {

using Json = nlohmann::json;
using testing::eventually;

constexpr std::int64_t kHourNs = 3600'000 * kMillisecondNs;

class TimelineTest : public ::testing::Test {
 protected:
  static Timeline::Event event(std::int64_t at_ns, const std::vector<std::string>& commands) {
    Timeline::Event event;
    event.at_ns = at_ns;
    event.label = commands.front();
    for (const auto& command : commands)
      event.requests.push_back({"node", command, Json::object()});
    return event;
  }

  std::vector<std::string> asked() {
    const std::scoped_lock lock(mutex_);
    return asked_;
  }

  void record(const Timeline::Request& request) {
    const std::scoped_lock lock(mutex_);
    asked_.push_back(request.command);
  }

  std::mutex mutex_;
  std::vector<std::string> asked_;
};

TEST_F(TimelineTest, EventsHappenInTheOrderOfTheirInstantsNotBefore) {
  Timeline timeline([this](const auto& request) { record(request); });
  const std::int64_t now = realtime_ns();
  timeline.set(
      {event(now + 60 * kMillisecondNs, {"later"}), event(now + 20 * kMillisecondNs, {"sooner"})});
  EXPECT_TRUE(eventually([&] { return asked().size() == 2; }));
  EXPECT_EQ(asked(), (std::vector<std::string>{"sooner", "later"}));
  EXPECT_TRUE(eventually([&] { return timeline.events()[0].ended_ns.has_value(); }));
  for (const auto& done : timeline.events()) {
    EXPECT_GE(done.began_ns, done.at_ns);
    EXPECT_GE(done.ended_ns, done.began_ns);
    EXPECT_EQ(done.error, "");
  }
}

TEST_F(TimelineTest, RequestsOfAnEventAreSentInTurnUntilOneFails) {
  Timeline timeline([this](const auto& request) {
    record(request);
    if (request.command == "second") throw CommandError("not_found", "no such thing");
  });
  timeline.set({event(0, {"first", "second", "third"})});
  EXPECT_TRUE(eventually([&] { return timeline.events()[0].ended_ns.has_value(); }));
  EXPECT_EQ(asked(), (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(timeline.events()[0].error, "node second: no such thing");
}

TEST_F(TimelineTest, AnEventThatTakesItsTimeDoesNotDelayTheNext) {
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  Timeline timeline([this, released](const auto& request) {
    if (request.command == "slow") released.wait();
    record(request);
  });
  timeline.set({event(0, {"slow"}), event(realtime_ns() + 10 * kMillisecondNs, {"next"})});
  EXPECT_TRUE(eventually([&] { return asked() == std::vector<std::string>{"next"}; }));
  release.set_value();
  EXPECT_TRUE(eventually([&] { return asked().size() == 2; }));
}

TEST_F(TimelineTest, WhatIsClearedDoesNotHappen) {
  Timeline timeline([this](const auto& request) { record(request); });
  timeline.set({event(realtime_ns() + kHourNs, {"never"})});
  timeline.clear();
  EXPECT_TRUE(timeline.events().empty());
  timeline.set({event(realtime_ns() + kHourNs, {"never"})});
  timeline.set({event(0, {"now"})});
  EXPECT_TRUE(eventually([&] { return asked() == std::vector<std::string>{"now"}; }));
}

TEST_F(TimelineTest, EndsWithEventsToCome) {
  Timeline timeline([this](const auto& request) { record(request); });
  timeline.set({event(realtime_ns() + kHourNs, {"never"})});
}

TEST(TimelineJson, IsReadAndWritten) {
  const Json given = {
      {"events",
       {{{"at_ns", 5},
         {"label", "kill"},
         {"requests",
          {{{"node", "supervisor"}, {"command", "stop"}, {"args", {{"kill", true}}}}}}}}}};
  const auto events = timeline_of(given);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].requests[0].command, "stop");
  EXPECT_EQ(events[0].requests[0].args, (Json{{"kill", true}}));
  const Json written = to_json(events)["events"][0];
  EXPECT_EQ(written, (Json{{"at_ns", 5},
                           {"label", "kill"},
                           {"began_ns", nullptr},
                           {"ended_ns", nullptr},
                           {"error", nullptr}}));
}

TEST(TimelineJson, WhatIsMissingIsNamed) {
  for (const char* text :
       {R"({})", R"({"events": [{"label": "x", "requests": []}]})",
        R"({"events": [{"at_ns": 1.5, "label": "x", "requests": []}]})",
        R"({"events": [{"at_ns": 1, "label": "x", "requests": [{"node": "n"}]}]})"})
    EXPECT_THROW(timeline_of(Json::parse(text)), CommandError) << text;
  try {
    timeline_of(Json::parse(R"({"events": [{"label": "x", "requests": []}]})"));
    FAIL();
  } catch (const CommandError& error) {
    EXPECT_NE(std::string(error.what()).find("\"at_ns\" is missing"), std::string::npos);
  }
}

}  // namespace
}  // namespace turntable::node
