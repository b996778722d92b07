// Questions to the data plane by control frames: sent again until they are answered.
#pragma once

#include <coroutine>
#include <cstdint>
#include <list>
#include <map>
#include <vector>

#include "farreach/cache/driver.h"
#include "net/task.h"
#include "net/timers.h"

namespace turntable::cache {

class FrameExchange {
 public:
  struct Counters {
    std::uint64_t sent = 0;
    std::uint64_t retries = 0;     // of these
    std::uint64_t answered = 0;    // questions
    std::uint64_t unexpected = 0;  // answers that nobody waits for
  };

  // Awaited: the answers to some frames, in their order, once all are there. Owned by the coroutine
  // that awaits it; destroyed before, its frames are no longer sent again.
  class Answers {
   public:
    Answers(FrameExchange& exchange, std::vector<ControlFrame> frames);
    ~Answers();
    Answers(const Answers&) = delete;
    Answers& operator=(const Answers&) = delete;

    bool await_ready() const noexcept { return left_ == 0; }
    void await_suspend(std::coroutine_handle<> waiting) noexcept { waiting_ = waiting; }
    std::vector<ControlFrame> await_resume() { return std::move(frames_); }

   private:
    friend class FrameExchange;
    void answered(std::size_t index, const ControlFrame& answer);

    FrameExchange& exchange_;
    std::vector<ControlFrame> frames_;  // questions, then answers
    std::vector<std::uint32_t> ids_;
    std::size_t left_;
    std::coroutine_handle<> waiting_;
  };

  FrameExchange(Driver& driver, net::Timers& timers);
  ~FrameExchange();
  FrameExchange(const FrameExchange&) = delete;
  FrameExchange& operator=(const FrameExchange&) = delete;

  // Request ids are given here.
  Answers ask_all(std::vector<ControlFrame> frames) { return {*this, std::move(frames)}; }
  net::Task<ControlFrame> ask(ControlFrame frame);

  // An answer from the CPU port. One that nobody waits for is counted.
  void received(const ControlFrame& answer);

  const Counters& counters() const { return counters_; }

 private:
  struct Question {
    Answers* asker;
    std::size_t index;  // among the asker's frames
    ControlFrame frame;
    std::int64_t again_at_ns = 0;
    std::list<std::uint32_t>::iterator place{};  // in by_time_, once sent
  };

  void add(Answers& asker, std::size_t index);
  void forget(std::uint32_t id);
  void send_waiting();
  void send(std::uint32_t id, Question& question);
  void arm();
  void retry_due();

  Driver& driver_;
  net::Timers& timers_;
  Counters counters_;
  std::uint32_t next_id_;
  std::map<std::uint32_t, Question> under_way_;  // sent, by id
  std::list<std::uint32_t> by_time_;             // ids of under_way_, the oldest sending first
  std::map<std::uint32_t, Question> waiting_;    // for others to be answered
  net::Timers::TimerId timer_ = 0;
};

}  // namespace turntable::cache
