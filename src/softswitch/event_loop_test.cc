// The loop with ports in memory, and the control commands through a real control socket.
#include "softswitch/event_loop.h"

#include <gtest/gtest.h>

#include <latch>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/clock.h"
#include "common/command_error.h"
#include "common/data_path_thread.h"
#include "node/control_client.h"
#include "node/testing.h"
#include "softswitch/switch_control.h"
#include "softswitch/testing.h"

namespace turntable::softswitch {
namespace {

using Json = nlohmann::json;
using testing::FakePort;
using testing::FakeProgram;
using testing::frame_to;

class EventLoopTest : public ::testing::Test {
 protected:
  EventLoopTest() {
    program_.on_ingress = testing::forward_by_first_byte;
    for (const std::uint16_t number : std::initializer_list<std::uint16_t>{1, 2}) {
      auto port = std::make_unique<FakePort>(number);
      fakes_.push_back(port.get());
      ports_.add(std::move(port));
    }
    pool_ = std::make_unique<FramePool>(2 * kBatch);  // the least that softswitch takes
    pipeline_ = std::make_unique<Pipeline>(program_, ports_, *pool_);
    loop_ = std::make_unique<EventLoop>(ports_, *pool_, *pipeline_);
    control_ = std::make_unique<SwitchControl>(program_, ports_, *pipeline_, *loop_,
                                               SwitchControl::Options{});
    server_ = std::make_unique<node::ControlServer>(directory_.path(), "softswitch");
    control_->serve(*server_);
    loop_thread_ = std::thread([this] { loop_->run(); });
    server_thread_ = std::thread([this] { server_->run(); });
  }
  ~EventLoopTest() override {
    server_->request_shutdown();
    server_thread_.join();
    loop_->stop();
    loop_thread_.join();
  }

  Json ask(const std::string& command, const Json& args = Json::object()) {
    node::ControlClient::CallOptions options;
    options.deadline = Deadline::after_seconds(20);
    return node::ControlClient(directory_.path(), "softswitch").call(command, args, options);
  }
  std::string error_of(const std::string& command, const Json& args) {
    try {
      ask(command, args);
      return "none";
    } catch (const CommandError& error) {
      return error.code();
    }
  }
  // Runs on the pipeline thread, so the fakes can be looked at.
  std::size_t sent_by(std::size_t number) {
    return loop_->tasks().call([&] { return fakes_.at(number - 1)->sent.size(); },
                               Deadline::never());
  }

  ScratchDirectory directory_;
  FakeProgram program_;
  PortTable ports_;
  std::vector<FakePort*> fakes_;
  std::unique_ptr<FramePool> pool_;
  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<SwitchControl> control_;
  std::unique_ptr<node::ControlServer> server_;
  std::thread loop_thread_;
  std::thread server_thread_;
};

TEST_F(EventLoopTest, ForwardsMoreFramesThanThePoolHolds) {
  constexpr std::size_t kCount = 1000;
  for (std::size_t i = 0; i < kCount; ++i) {
    fakes_[0]->inject(frame_to(2, std::to_string(i)));
    fakes_[1]->inject(frame_to(1, std::to_string(i)));
  }
  EXPECT_TRUE(node::testing::eventually([&] { return sent_by(1) + sent_by(2) == 2 * kCount; }));
  EXPECT_EQ(fakes_[1]->sent.back(), frame_to(2, std::to_string(kCount - 1)));
}

TEST_F(EventLoopTest, ForwardsWhilePollingBusily) {
  ask("settings", {{"busy_poll_ns", 50'000}});
  for (std::size_t i = 1; i <= 50; ++i) {
    fakes_[0]->inject(frame_to(2));
    ASSERT_TRUE(node::testing::eventually([&] { return sent_by(2) == i; }));
  }
}

TEST_F(EventLoopTest, CommandsOfTheProgramAreForwarded) {
  const Json answer = ask("echo", {{"x", 1}});
  EXPECT_EQ(answer["command"], "echo");
  EXPECT_EQ(answer["args"]["x"], 1);
  EXPECT_EQ(error_of("echo", {{"fail", true}}), "full");
}

TEST_F(EventLoopTest, ASequenceEndsAtTheFirstCommandThatFailsAndSaysWhich) {
  const Json works = {{"command", "echo"}};
  const Json fails = {{"command", "echo"}, {"args", {{"fail", true}}}};
  try {
    ask("sequence", {{"commands", {works, fails, works}}});
    FAIL();
  } catch (const CommandError& error) {
    EXPECT_EQ(error.code(), "full");
    EXPECT_NE(std::string(error.what()).find("commands[1]: the table is full"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(program_.executed, 2);
}

TEST_F(EventLoopTest, OfASequenceThatIsWrongSomewhereNothingIsDone) {
  const Json works = {{"command", "echo"}};
  const Json wrong[] = {{{"command", 5}},
                        {{"command", "eco"}},
                        {{"command", "sequence"}},
                        {{"args", Json::object()}},
                        {{"command", "echo"}, {"args", 5}},
                        {{"command", "echo"}, {"arguments", Json::object()}},
                        7};
  for (const Json& each : wrong)
    EXPECT_EQ(error_of("sequence", {{"commands", {works, each}}}), "bad_argument") << each;
  EXPECT_EQ(program_.executed, 0);
}

TEST_F(EventLoopTest, PortStatsCountAndClear) {
  fakes_[0]->inject(frame_to(2));
  fakes_[0]->inject(frame_to(77));
  ASSERT_TRUE(node::testing::eventually(
      [&] { return ask("port_stats")["ports"][0]["drops"]["unknown_port"] == 1; }));
  const Json ports = ask("port_stats")["ports"];
  ASSERT_EQ(ports.size(), 2);
  EXPECT_EQ(ports[0]["port"], 1);
  EXPECT_EQ(ports[0]["link"], "up");
  EXPECT_EQ(ports[0]["rx_packets"], 2);
  EXPECT_EQ(ports[1]["tx_packets"], 1);
  ask("port_stats_clear");
  EXPECT_EQ(ask("port_stats")["ports"][0]["rx_packets"], 0);
  EXPECT_EQ(ask("port_stats")["ports"][0]["drops"]["unknown_port"], 0);
}

TEST_F(EventLoopTest, SettingsAreShownChangedAndChecked) {
  EXPECT_EQ(ask("settings")["processing_delay_ns"], 0);
  EXPECT_EQ(ask("settings", {{"processing_delay_ns", 1000}})["processing_delay_ns"], 1000);
  EXPECT_EQ(ask("info")["settings"]["processing_delay_ns"], 1000);
  const Json bad[] = {{{"processing_delay_ns", -1}},
                      {{"processing_delay_ns", "7"}},
                      {{"processing_delay_ns", 1.5}},
                      {{"processing_delay_ns", 2'000'000'000}},
                      {{"delay", 1}},
                      {{"realtime", 1}},
                      {{"processing_delay_ns", 5}, {"unknown", 1}}};
  for (const Json& args : bad) EXPECT_EQ(error_of("settings", args), "bad_argument") << args;
  EXPECT_EQ(ask("settings")["processing_delay_ns"], 1000) << "a refused change changes nothing";
}

TEST_F(EventLoopTest, ThePipelinesThreadRunsBeforeOthersWhereTheSystemAllowsIt) {
  bool allowed = false;
  std::thread([&] { allowed = use_realtime_priority(); }).join();
  EXPECT_EQ(ask("settings")["realtime"], false);
  EXPECT_EQ(ask("settings", {{"realtime", true}})["realtime"], allowed);
  EXPECT_EQ(ask("settings")["realtime"], allowed);
  EXPECT_EQ(ask("settings", {{"realtime", false}})["realtime"], false);
}

TEST_F(EventLoopTest, InfoNamesTheProgram) {
  EXPECT_EQ(ask("info")["program"], "fake");
}

TEST_F(EventLoopTest, LatenessOfTheThreadIsCountedAndCleared) {
  const auto late_max_ns = [&] {
    return ask("info")["pipeline_thread"]["late_max_ns"].get<std::int64_t>();
  };
  constexpr std::int64_t kStallNs = 50'000'000;
  ask("pipeline_thread_clear");
  const auto stall = [&] {
    std::this_thread::sleep_for(std::chrono::nanoseconds(kStallNs));
    return true;
  };
  loop_->tasks().call(stall, Deadline::never());
  // The stall may end before the loop has read the tick that fell into it.
  EXPECT_TRUE(node::testing::eventually(
      [&] { return late_max_ns() >= kStallNs - LatenessProbe::kPeriodNs; }));

  // A busy machine may be late again at once, but not whenever it is asked.
  EXPECT_TRUE(node::testing::eventually([&] {
    ask("pipeline_thread_clear");
    return late_max_ns() < kStallNs - LatenessProbe::kPeriodNs;
  }));
  const Json cleared = ask("info")["pipeline_thread"];
  EXPECT_LE(cleared["run_ns"], cleared["elapsed_ns"]);
}

// Nothing else arrives that could wake the loop.
TEST_F(EventLoopTest, LoopWakesForADelayedFrame) {
  constexpr std::int64_t kDelayNs = 30'000'000;
  ask("tm_write", {{"updates", {{{"port", 2}, {"delay_ns", kDelayNs}}}}});
  std::int64_t left_at = 0;
  loop_->tasks().call([&] { return fakes_[1]->on_send = [&] { left_at = monotonic_ns(); }, 0; },
                      Deadline::never());
  const std::int64_t begin = monotonic_ns();
  fakes_[0]->inject(frame_to(2));
  ASSERT_TRUE(node::testing::eventually([&] { return sent_by(2) == 1; }));
  EXPECT_GE(loop_->tasks().call([&] { return left_at - begin; }, Deadline::never()), kDelayNs);
}

// 24 bytes of framing and 126 of each frame at 1 Mb/s are 1.2 ms; 20 of them, and then the cable.
TEST_F(EventLoopTest, FramesTakeALinkTheirTime) {
  constexpr std::int64_t kDelayNs = 5'000'000;
  ask("tm_write", {{"updates", {{{"port", 2}, {"link_bps", 1'000'000}, {"delay_ns", kDelayNs}}}}});
  std::int64_t left_at = 0;
  loop_->tasks().call([&] { return fakes_[1]->on_send = [&] { left_at = monotonic_ns(); }, 0; },
                      Deadline::never());
  const std::string frame = frame_to(2, std::string(124, 'x'));
  const std::int64_t begin = monotonic_ns();
  loop_->tasks().call(
      [&] {
        for (int i = 0; i < 20; ++i) fakes_[0]->inject(frame);
        return 0;
      },
      Deadline::never());
  ASSERT_TRUE(node::testing::eventually([&] { return sent_by(2) == 20; }));
  const auto bits = static_cast<std::int64_t>(20 * (frame.size() + 24) * 8);
  EXPECT_GE(loop_->tasks().call([&] { return left_at - begin; }, Deadline::never()),
            bits * 1'000 + kDelayNs);
  EXPECT_EQ(ask("tm_read", {{"port", 2}})["ports"][0]["link_frames"], 20);
}

TEST_F(EventLoopTest, ShapedFramesLeaveByThemselves) {
  ask("tm_write",
      {{"updates", {{{"port", 2}, {"max_rate_bps", 1'000'000}, {"max_burst_bytes", 0}}}}});
  // All at once for the loop, however late this thread is.
  loop_->tasks().call(
      [&] {
        for (int i = 0; i < 20; ++i) fakes_[0]->inject(frame_to(2, std::string(124, 'x')));
        return 0;
      },
      Deadline::never());
  ASSERT_TRUE(node::testing::eventually([&] { return sent_by(2) == 20; }));
  const Json queue = ask("tm_read", {{"port", 2}})["ports"][0]["queues"][0];
  EXPECT_EQ(queue["usage_frames"], 0);
  EXPECT_GT(queue["watermark_bytes"], 125);
}

TEST_F(EventLoopTest, DigestWaitAnswersWhenThereAreDigests) {
  program_.on_ingress = [this](dataplane::Packet&) { ++program_.digests; };
  Json answer;
  std::thread waiting([&] { answer = ask("digest_wait", {{"deadline_s", 20}}); });
  fakes_[0]->inject(frame_to(2));
  waiting.join();
  EXPECT_EQ(answer["digests"].size(), 1);
  EXPECT_TRUE(ask("digest_wait", {{"deadline_s", 0.01}})["digests"].empty());
  EXPECT_EQ(error_of("digest_wait", {}), "bad_argument");
}

TEST_F(EventLoopTest, WaitForDigestsEndsWithTheSwitch) {
  std::atomic<bool> ended{false};
  std::thread waiting([&] {
    error_of("digest_wait", {{"deadline_s", 3000}});
    ended = true;
  });
  ask("ping");
  server_->request_shutdown();
  EXPECT_TRUE(node::testing::eventually([&] { return ended.load(); }));
  waiting.join();
}

TEST_F(EventLoopTest, CommandsAreRefusedAfterTheEnd) {
  loop_->stop();
  EXPECT_TRUE(node::testing::eventually([&] { return error_of("info", {}) == "unavailable"; }));
}

TEST(TaskQueue, TaskThatWasNotBegunAtTheDeadlineNeverRuns) {
  TaskQueue queue;
  bool ran = false;
  const auto call = [&] {
    return queue.call([&] { return ran = true; }, Deadline::after_seconds(0.01));
  };
  EXPECT_THROW(call(), CommandError);
  queue.run_pending();
  EXPECT_FALSE(ran);
}

TEST(TaskQueue, ErrorsReachTheCaller) {
  TaskQueue queue;
  std::latch done(1);
  std::thread caller([&] {
    EXPECT_THROW(queue.call([]() -> int { throw bad_argument("no"); }, Deadline::never()),
                 CommandError);
    done.count_down();
  });
  while (!done.try_wait()) queue.run_pending();
  caller.join();
}

}  // namespace
}  // namespace turntable::softswitch
