#include "load/client_life.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "common/clock.h"
#include "common/command_error.h"
#include "node/arguments.h"
#include "node/common_start.h"

namespace turntable::load {
namespace {

using Json = ClientLife::Json;

constexpr std::int64_t kMaxWindowNs = 3600 * std::int64_t{1'000'000'000};

}  // namespace

ClientLife::ClientLife(std::string program, std::function<void(std::string)> announce)
    : program_(std::move(program)), announce_(std::move(announce)) {}

ClientLife::~ClientLife() {
  end_threads();
}

ClientLife::Lock ClientLife::begin_prepare(const std::function<void()>& clear) {
  Lock command(command_mutex_);
  end_threads();
  const std::lock_guard lock(state_mutex_);
  set_state(State::kIdle);
  stopped_early_ = false;
  parts_.clear();
  clear();
  return command;
}

void ClientLife::prepared(const std::function<std::vector<Part*>()>& open) {
  const std::lock_guard lock(state_mutex_);
  parts_ = open();
  set_state(State::kPrepared);
}

Json ClientLife::start(const Json& args) {
  const node::Arguments arguments(program_ + " start", args,
                                  {"start_at_ns", "warmup_ns", "measure_ns", "drain_ns"});
  const std::int64_t warmup = arguments.integer("warmup_ns", 0, kMaxWindowNs);
  const std::int64_t measure = arguments.integer("measure_ns", 1'000'000, kMaxWindowNs);
  const std::int64_t drain = arguments.integer("drain_ns", 0, kMaxWindowNs);
  const std::int64_t start_at = arguments.integer("start_at_ns", 0, INT64_MAX);
  node::check_common_start(program_ + " start", start_at, warmup);

  const std::lock_guard command_lock(command_mutex_);
  const std::lock_guard lock(state_mutex_);
  if (state_ != State::kPrepared) {
    throw CommandError("wrong_state", program_ +
                                          " start: nothing is prepared; send `prepare` "
                                          "before each `start`");
  }
  schedule_ = {.start_ns = start_at + realtime_to_monotonic_ns()};
  schedule_.window_from_ns = schedule_.start_ns + warmup;
  schedule_.window_until_ns = schedule_.window_from_ns + measure;
  schedule_.drain_until_ns = schedule_.window_until_ns + drain;
  for (Part* part : parts_) part->set_schedule(schedule_);
  set_state(State::kRunning);
  try {
    for (Part* part : parts_) {
      threads_.emplace_back([this, part] { play(*part); });
      ++playing_;
    }
  } catch (const std::system_error& error) {
    for (Part* part : parts_) part->stop();
    stopped_early_ = true;
    throw CommandError("unavailable", program_ + " start: no thread: " + error.what());
  }
  return Json::object();
}

void ClientLife::play(Part& part) {
  part.run();
  const std::lock_guard lock(state_mutex_);
  if (--playing_ > 0) return;
  set_state(State::kFinished);
  finished_.notify_all();
}

Json ClientLife::wait(const Json& args) {
  const node::Arguments arguments(program_ + " wait", args, {"deadline_s"});
  const std::chrono::duration<double> deadline(arguments.number("deadline_s", 0, 24 * 3600));
  std::unique_lock lock(state_mutex_);
  if (state_ != State::kRunning && state_ != State::kFinished) {
    throw CommandError("wrong_state",
                       program_ + " wait: nothing has been started; send `start` first");
  }
  const bool over =
      finished_.wait_for(lock, deadline, [&] { return state_ != State::kRunning || cancelled_; });
  if (cancelled_) throw CommandError("unavailable", program_ + " wait: the node is ending");
  if (!over) {
    throw CommandError(
        "timeout", program_ + " wait: " + std::to_string(playing_) + " of " +
                       std::to_string(parts_.size()) +
                       " threads still run after deadline_s = " + Json(deadline.count()).dump() +
                       "; expected it beyond warm-up, window and drain");
  }
  return {{"stopped_early", stopped_early_}};
}

Json ClientLife::stop(const Json& args) {
  const node::Arguments arguments(program_ + " stop", args, {});
  const std::lock_guard command_lock(command_mutex_);
  end_threads();
  const std::lock_guard lock(state_mutex_);
  if (state_ == State::kPrepared) set_state(State::kIdle);
  return Json::object();
}

void ClientLife::require_finished(const std::string& command) const {
  if (state_ == State::kFinished) return;
  throw CommandError("wrong_state", program_ + " " + command +
                                        ": nothing has run since `prepare`; send `start` and "
                                        "`wait`");
}

void ClientLife::end_threads() {
  {
    const std::lock_guard lock(state_mutex_);
    if (state_ == State::kRunning) stopped_early_ = true;
    for (Part* part : parts_) part->stop();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void ClientLife::cancel() {
  cancelled_ = true;
  const std::lock_guard lock(state_mutex_);
  for (Part* part : parts_) part->stop();
  finished_.notify_all();
}

void ClientLife::set_state(State state) {
  static constexpr const char* kNames[] = {"idle", "prepared", "running", "finished"};
  state_ = state;
  announce_(kNames[static_cast<std::size_t>(state)]);
}

}  // namespace turntable::load
