// Faults of links by rule, with a clock of the test's own.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "softswitch/impairments.h"
#include "softswitch/pipeline_fixture.h"

namespace turntable::softswitch {
namespace {

using Json = nlohmann::json;
using testing::FakePort;
using testing::frame_to;

class ImpairmentTest : public ::testing::Test {
 protected:
  ImpairmentTest() : pool_(256), impairments_(pool_, ports_) {
    ports_.add(std::make_unique<FakePort>(1));
  }

  void set(const Json& rules) {
    impairments_.execute({{"port", 1}, {"direction", "tx"}, {"rules", rules}});
  }
  // Passes one frame per character; what goes on at once.
  std::string pass(const std::string& marks, std::uint64_t at = 0) {
    std::vector<Frame*> out;
    for (const char mark : marks) {
      Frame* frame = pool_.acquire();
      frame->reset(60);
      frame->packet.data[0] = static_cast<std::uint8_t>(mark);
      impairments_.find(*ports_.find(1), Direction::kSend)->pass(frame, at, out);
    }
    return take(out);
  }
  std::string release(std::uint64_t at) {
    std::vector<Frame*> out;
    impairments_.release_due(
        at, [&](Impairment& impairment, Direction) { impairment.release_due(at, out); });
    return take(out);
  }
  std::string take(const std::vector<Frame*>& frames) {
    std::string marks;
    for (Frame* frame : frames) {
      marks += static_cast<char>(frame->packet.data[0]);
      pool_.release(frame);
    }
    return marks;
  }
  Json rule(std::size_t number) {
    return impairments_.execute(Json::object())["impaired"][0]["rules"][number];
  }
  std::string error_of(const Json& rule) {
    try {
      set(Json::array({rule}));
      return "none";
    } catch (const CommandError& error) {
      return error.what();
    }
  }

  PortTable ports_;
  FramePool pool_;
  Impairments impairments_;
};

TEST_F(ImpairmentTest, DropsEveryNthAndTheKth) {
  set({{{"action", "drop"}, {"every", 3}}, {{"action", "drop"}, {"nth", 5}}});
  EXPECT_EQ(pass("abcdefghi"), "abdgh");
  EXPECT_EQ(rule(0)["matched"], 9);
  EXPECT_EQ(rule(0)["applied"], 3);
  EXPECT_EQ(rule(1)["applied"], 1);
  EXPECT_EQ(ports_.find(1)->counters().dropped(DropReason::kImpaired), 4);
  EXPECT_EQ(pool_.available(), 256);
}

TEST_F(ImpairmentTest, MatchesBytesUnderAMask) {
  const Json match = {{"offset", 0}, {"value", "41"}, {"mask", "5f"}};  // A, a
  set({{{"action", "drop"}, {"match", match}, {"every", 2}}});
  EXPECT_EQ(pass("aAbaaBA"), "abaBA");
  EXPECT_EQ(rule(0)["matched"], 5);
  set({{{"action", "drop"}, {"match", {{"offset", 60}, {"value", "00"}}}}});
  EXPECT_EQ(pass("abc"), "abc") << "beyond the frame";
}

TEST_F(ImpairmentTest, Duplicates) {
  set({{{"action", "duplicate"}, {"nth", 2}}});
  EXPECT_EQ(pass("abc"), "abbc");
}

TEST_F(ImpairmentTest, DelaysForAFixedTime) {
  set({{{"action", "delay"}, {"every", 2}, {"delay_ns", 100}}});
  EXPECT_EQ(pass("abc", 0), "ac");
  EXPECT_EQ(pass("d", 10), "");
  EXPECT_EQ(impairments_.next_due_ns(), 100);
  EXPECT_EQ(release(99), "");
  EXPECT_EQ(release(100), "b");
  EXPECT_EQ(release(200), "d");
  EXPECT_EQ(impairments_.next_due_ns(), kNever);
}

TEST_F(ImpairmentTest, ReordersBehindLaterFramesOrAfterItsTime) {
  set({{{"action", "reorder"}, {"nth", 1}, {"behind", 2}}});
  EXPECT_EQ(pass("abcd"), "bcad");
  set({{{"action", "reorder"}, {"nth", 1}, {"delay_ns", 50}}});
  EXPECT_EQ(pass("x", 1000), "");
  EXPECT_EQ(impairments_.next_due_ns(), 1050);
  EXPECT_EQ(release(1050), "x");
}

TEST_F(ImpairmentTest, RulesThatAreTakenAwayStillGiveBackWhatTheyHold) {
  set({{{"action", "delay"}, {"delay_ns", 100}}});
  EXPECT_EQ(pass("a"), "");
  set(Json::array());
  EXPECT_TRUE(impairments_.any());
  EXPECT_EQ(pass("b"), "b");
  EXPECT_EQ(release(100), "a");
  set(Json::array());
  EXPECT_FALSE(impairments_.any());
}

// 0.25 of 4,000 are 1,000, standard deviation 27: six of them are 164.
TEST_F(ImpairmentTest, ChanceFollowsItsSeed) {
  const std::string frames(100, 'f');
  const auto run = [&](int seed) {
    set({{{"action", "drop"}, {"chance", 0.25}, {"seed", seed}}});
    std::vector<std::size_t> passed;
    for (int i = 0; i < 40; ++i) passed.push_back(pass(frames).size());
    return passed;
  };
  const auto first = run(1);
  EXPECT_NEAR(rule(0)["applied"].get<int>(), 1000, 164);
  EXPECT_EQ(run(1), first);
  EXPECT_NE(run(2), first);
}

TEST_F(ImpairmentTest, WrongRulesAreRefused) {
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(error_of({{"action", "lose"}}), "drop, duplicate, delay or reorder"));
  EXPECT_TRUE(has(error_of({{"action", "delay"}}), "\"delay_ns\" is missing"));
  EXPECT_TRUE(has(error_of({{"action", "drop"}, {"every", 0}}), "from 1"));
  EXPECT_TRUE(has(error_of({{"action", "drop"}, {"every", 2}, {"nth", 1}}), "only one of"));
  EXPECT_TRUE(has(error_of({{"action", "drop"}, {"chance", 1.5}}), "0 to 1"));
  EXPECT_TRUE(has(error_of({{"action", "drop"}, {"match", {{"value", "4"}}}}), "hex digits"));
  EXPECT_TRUE(has(error_of({{"action", "drop"}, {"match", {{"value", "4a"}, {"mask", "ffff"}}}}),
                  "differ in length"));
  EXPECT_TRUE(has(error_of({{"action", "drop"}, {"probability", 1}}), "no \"probability\""));
  EXPECT_FALSE(impairments_.any());
}

using ImpairedPipelineTest = testing::PipelineTest;

TEST_F(ImpairedPipelineTest, BothDirectionsOfAPort) {
  const auto impair = [this](int port, const char* direction, const char* action) {
    pipeline_.impairments().execute(
        {{"port", port}, {"direction", direction}, {"rules", {{{"action", action}, {"nth", 2}}}}});
  };
  impair(1, "rx", "drop");
  impair(2, "tx", "duplicate");
  run({frame_to(2, "a"), frame_to(2, "b"), frame_to(2, "c"), frame_to(3, "d")});
  EXPECT_EQ(port(2).sent, (std::vector{frame_to(2, "a"), frame_to(2, "c"), frame_to(2, "c")}));
  EXPECT_EQ(port(3).sent.size(), 1);
  EXPECT_EQ(dropped(1, DropReason::kImpaired), 1);
}

}  // namespace
}  // namespace turntable::softswitch
