// Makes checkpoints of a store again and again, and says what they cover.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "hybridlog/store.h"
#include "shadowfax/server/commits.h"
#include "shadowfax/server/index_writer.h"

namespace turntable::shadowfax {

class Checkpointer {
 public:
  // interval: from the end of one to the beginning of the next. index: of the checkpoint that the
  // store was begun at.
  Checkpointer(hybridlog::Store& store, Commits& commits, std::string file,
               std::chrono::nanoseconds interval, std::optional<hybridlog::IndexFile> index = {});
  // The workers must still run: a checkpoint that has begun is ended.
  ~Checkpointer() = default;
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  // One more, now. By any thread that has no sessions. Throws std::system_error, also while it is
  // paused, and while it would wait for a server that is dead: the one before still holds.
  hybridlog::Checkpoint make(const hybridlog::CutSteps& steps = {});
  // None is made until resume(): it would wait for records that arrive, and they perhaps for the
  // thread that asks for it. The one that is being made has ended. Of its own accord some are made
  // while these records are given up (Awaited::nobody_waits), and nothing waits for them. then: is
  // done before any is begun.
  void pause(const std::function<void()>& then = [] {});
  void resume();
  // None is begun of its own accord while another server is slow: it would have to wait, and all
  // sessions with it. None at all while it is dead; one whose cut is being prepared is given up.
  void hold_while(std::function<bool()> is_slow, std::function<bool()> is_dead);
  // Waits for one that is begun later, whoever makes it. False: it was stopped.
  bool wait_for_one(const std::stop_token& stop);
  // The server is ending, and so does what sessions wait for: what is under way is not kept.
  void end() { has_ended_ = true; }

  struct Counts {
    std::uint64_t made = 0, failed = 0;
    std::string why;  // the last one failed; empty: it did not
  };
  Counts counts() const;
  IndexWriter::Counts indexes() const { return indexes_.counts(); }

 private:
  void work(const std::stop_token& stop);
  bool waits_for_records() const noexcept;
  hybridlog::Checkpoint make_locked(hybridlog::CutSteps steps);
  void note(const std::string& why);

  hybridlog::Store& store_;
  Commits& commits_;
  const std::string file_;
  const std::chrono::nanoseconds interval_;
  IndexWriter indexes_;
  std::mutex making_;  // held while one is made
  bool is_paused_ = false;
  std::function<bool()> is_slow_ = [] { return false; }, is_dead_ = is_slow_;
  std::atomic<bool> has_ended_{false};
  mutable std::mutex mutex_;  // of the counts
  std::condition_variable_any ends_;
  std::uint64_t begun_ = 0, kept_ = 0;  // kept_: number of the last one
  Counts counts_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace turntable::shadowfax
