// What the commands of every client node do, whatever its threads send: an iteration is prepared,
// runs in threads from a common start instant on, and is finished; its statistics stay until the
// next `prepare`.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <thread>
#include <vector>

#include "load/schedule.h"

namespace turntable::load {

// One thread's part of an iteration.
class Part {
 public:
  virtual ~Part() = default;
  virtual void set_schedule(const Schedule& schedule) = 0;  // before run(): may allocate
  virtual void run() = 0;                                   // once
  virtual void stop() noexcept = 0;                         // thread-safe
};

class ClientLife {
 public:
  using Json = nlohmann::json;
  using Lock = std::unique_lock<std::mutex>;

  // program: for messages. `announce` is told "idle", "prepared", "running" or "finished"; it may
  // be called on any thread.
  ClientLife(std::string program, std::function<void(std::string)> announce);
  ~ClientLife();

  // `prepare`: ends what runs and calls `clear`, which ends the parts of the iteration before. No
  // other command changes anything while the answer is held.
  [[nodiscard]] Lock begin_prepare(const std::function<void()>& clear);
  // Ends it; `open` answers the parts, which live until the next `clear`.
  void prepared(const std::function<std::vector<Part*>()>& open);

  // The commands. All throw CommandError.
  Json start(const Json& args);
  Json wait(const Json& args);
  Json stop(const Json& args);

  // For `stats`: nothing is cleared while the answer is held.
  [[nodiscard]] Lock lock() const { return Lock(state_mutex_); }
  // With the lock held.
  bool running() const { return state_ == State::kRunning; }
  bool stopped_early() const { return stopped_early_; }
  const Schedule& schedule() const { return schedule_; }
  void require_finished(const std::string& command) const;

  // Ends whatever runs or waits. Thread-safe; for the end of the process.
  void cancel();
  const std::atomic<bool>& cancelled() const { return cancelled_; }

 private:
  enum class State : std::uint8_t { kIdle, kPrepared, kRunning, kFinished };

  void play(Part& part);
  void end_threads();
  void set_state(State state);

  const std::string program_;
  const std::function<void(std::string)> announce_;

  std::mutex command_mutex_;  // before state_mutex_; held through prepare, start and stop
  std::atomic<bool> cancelled_{false};

  mutable std::mutex state_mutex_;
  std::condition_variable finished_;
  State state_ = State::kIdle;
  std::vector<Part*> parts_;
  std::size_t playing_ = 0;
  bool stopped_early_ = false;
  Schedule schedule_{};

  std::vector<std::thread> threads_;  // by command_mutex_
};

}  // namespace turntable::load
