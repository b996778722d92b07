// The frame around a loop of the test's own, whose answers are bytes in a pipe-like socket.
#include "load/thread_frame.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "common/clock.h"

namespace turntable::load {
namespace {

constexpr std::int64_t kForEver = 60'000 * kMillisecondNs;

class Recorder final : public Loop {
 public:
  Recorder() {
    int fds[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, fds), 0);
    mine_ = UniqueFd(fds[0]);
    other_ = UniqueFd(fds[1]);
  }

  void answer() { EXPECT_EQ(::write(other_.get(), "x", 1), 1); }

  int fd() const noexcept override { return mine_.get(); }
  void begin(std::int64_t now_ns) noexcept override { began_ns = now_ns; }
  void enter(Phase phase) noexcept override {
    phases.push_back(phase);
    entered_ns.push_back(monotonic_ns());
  }
  int receive() noexcept override {
    char byte;
    return ::read(mine_.get(), &byte, 1) == 1 ? 1 : 0;
  }
  std::optional<std::int64_t> oldest_arrival_ns() const noexcept override { return arrival_ns; }
  void handle_batch(std::int64_t) noexcept override {
    ++handled;
    if (open > 0) --open;
  }
  void act(std::int64_t now_ns) noexcept override {
    if (now_ns < due_ns) return;
    acted_ns = now_ns;
    due_ns = INT64_MAX;
  }
  std::int64_t next_due_ns() const noexcept override { return due_ns; }
  std::size_t outstanding() const noexcept override { return open; }
  void count_receive_error() noexcept override {}
  void end() noexcept override { ended = true; }

  std::int64_t began_ns = 0, acted_ns = 0, due_ns = INT64_MAX;
  std::vector<Phase> phases;
  std::vector<std::int64_t> entered_ns;
  std::optional<std::int64_t> arrival_ns;
  std::atomic<int> handled{0};
  std::size_t open = 0;
  bool ended = false;

 private:
  UniqueFd mine_, other_;
};

Schedule schedule_from(std::int64_t start_ns, std::int64_t drain_ns) {
  return {start_ns, start_ns + 10 * kMillisecondNs, start_ns + 30 * kMillisecondNs,
          start_ns + 30 * kMillisecondNs + drain_ns};
}

TEST(ThreadFrame, GoesThroughThePhasesOfItsSchedule) {
  Recorder loop;
  ThreadFrame frame(loop);
  const Schedule schedule = schedule_from(monotonic_ns() + 5 * kMillisecondNs, kForEver);
  frame.set_schedule(schedule);
  frame.run();  // nothing is outstanding: the drain is over at once
  EXPECT_LT(monotonic_ns(), schedule.drain_until_ns);
  EXPECT_GE(loop.began_ns, schedule.start_ns);
  EXPECT_EQ(loop.phases, (std::vector{Phase::kMeasure, Phase::kDrain}));
  EXPECT_GE(loop.entered_ns[0], schedule.window_from_ns);
  EXPECT_GE(loop.entered_ns[1], schedule.window_until_ns);
  EXPECT_TRUE(loop.ended);
  EXPECT_EQ(frame.timing().start_lateness_ns, loop.began_ns - schedule.start_ns);
  EXPECT_GT(frame.timing().measured_ns, 0);
  EXPECT_GE(frame.timing().window_lateness_ns, 0);
}

TEST(ThreadFrame, WaitsInTheDrainForWhatIsOutstandingButNotLonger) {
  Recorder loop;
  loop.open = 1;
  ThreadFrame frame(loop);
  const Schedule schedule = schedule_from(monotonic_ns(), 20 * kMillisecondNs);
  frame.set_schedule(schedule);
  frame.run();
  EXPECT_GE(monotonic_ns(), schedule.drain_until_ns);
  EXPECT_EQ(loop.open, 1U);
}

TEST(ThreadFrame, AnAnswerEndsTheDrain) {
  Recorder loop;
  loop.open = 1;
  ThreadFrame frame(loop);
  const Schedule schedule = schedule_from(monotonic_ns(), kForEver);
  frame.set_schedule(schedule);
  std::thread thread([&] { frame.run(); });
  loop.answer();
  thread.join();
  EXPECT_EQ(loop.handled, 1);
  EXPECT_LT(monotonic_ns(), schedule.drain_until_ns);
}

TEST(ThreadFrame, ActsWhenSomethingIsDue) {
  for (const std::int64_t spin_ns : {std::int64_t{0}, 3 * kMillisecondNs}) {
    Recorder loop;
    ThreadFrame frame(loop, {.spin_ns = spin_ns});
    const std::int64_t now = monotonic_ns();
    const std::int64_t due = loop.due_ns = now + 15 * kMillisecondNs;
    frame.set_schedule(schedule_from(now, kForEver));
    frame.run();
    EXPECT_GE(loop.acted_ns, due);
  }
}

TEST(ThreadFrame, NotesHowLongAnAnswerLay) {
  Recorder loop;
  loop.open = 1;
  loop.arrival_ns = realtime_ns() - 1000 * kMillisecondNs;
  ThreadFrame frame(loop);
  const std::int64_t now = monotonic_ns();
  frame.set_schedule({now, now, now + 30 * kMillisecondNs, now + kForEver});
  std::thread thread([&] { frame.run(); });
  loop.answer();
  thread.join();
  EXPECT_GE(frame.timing().read_lateness_max_ns, 1000 * kMillisecondNs);
}

TEST(ThreadFrame, StopEndsItBeforeTheStartAndAfter) {
  for (const std::int64_t ahead : {kForEver, std::int64_t{0}}) {
    Recorder loop;
    loop.open = 1;
    ThreadFrame frame(loop);
    frame.set_schedule(schedule_from(monotonic_ns() + ahead, kForEver));
    std::thread thread([&] { frame.run(); });
    frame.stop();
    thread.join();
    EXPECT_LT(loop.phases.size(), 3U);
  }
}

TEST(ThreadFrame, ReadsWhatWaitsWhenAsked) {
  Recorder loop;
  loop.open = 1000;
  ThreadFrame frame(loop);
  frame.read_waiting();  // does not run: nothing to wait for
  const std::int64_t now = monotonic_ns();
  frame.set_schedule({now, now, now + kForEver, now + kForEver});
  std::thread thread([&] { frame.run(); });
  for (int i = 1; i <= 20; ++i) {
    // Until run() reads, read_waiting() returns at once.
    loop.answer();
    do frame.read_waiting();
    while (loop.handled == 0);
    EXPECT_EQ(loop.handled, i);
  }
  frame.stop();
  thread.join();
}

}  // namespace
}  // namespace turntable::load
