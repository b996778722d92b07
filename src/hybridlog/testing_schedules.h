// Every order in which threads can take their steps, one after the other (for tests).
//
// The threads are fibers of one thread. A step is an operation on a ScheduledAtomic, which puts in
// another fiber before it, or none: explore() runs the same threads again and again, each time with
// another order, until there is no other. So it finds every outcome that sequentially consistent
// operations allow; weaker orders are for ThreadSanitizer to judge.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace turntable::hybridlog::testing {

class Schedule {
 public:
  using Threads = std::vector<std::function<void()>>;

  struct Explored {
    std::size_t orders = 0;
    std::size_t endless = 0;  // of these: given up after `most_steps`
  };

  // make: the threads of one run, on fresh state. check: after they have all ended.
  // most_switches: how often a thread may be put aside that could go on.
  static Explored explore(const std::function<Threads()>& make, const std::function<void()>& check,
                          std::size_t most_switches = SIZE_MAX, std::size_t most_steps = 200) {
    Explored explored;
    std::vector<Choice> path;
    do {
      Schedule schedule(make(), path, most_switches, most_steps);
      const bool ended = schedule.run();
      ++explored.orders;
      if (ended) {
        check();
      } else {
        ++explored.endless;
      }
    } while (advance(path));
    return explored;
  }

  // The running fiber is about to take a step.
  static void step() {
    if (running_ != nullptr) running_->pause();
  }

 private:
  struct Choice {
    std::size_t taken;
    std::size_t options;
  };
  struct Fiber {
    ucontext_t context{};
    std::unique_ptr<char[]> stack;
    std::function<void()> body;
    bool has_ended = false;
  };
  static constexpr std::size_t kStackBytes = std::size_t{64} << 10U;

  Schedule(Threads threads, std::vector<Choice>& path, std::size_t most_switches,
           std::size_t most_steps)
      : path_(path), switches_left_(most_switches), steps_left_(most_steps) {
    for (auto& body : threads) {
      auto fiber = std::make_unique<Fiber>();
      fiber->stack = std::make_unique_for_overwrite<char[]>(kStackBytes);
      fiber->body = std::move(body);
      ::getcontext(&fiber->context);
      fiber->context.uc_stack.ss_sp = fiber->stack.get();
      fiber->context.uc_stack.ss_size = kStackBytes;
      fiber->context.uc_link = &main_;
      ::makecontext(&fiber->context, &Schedule::enter, 0);
      fibers_.push_back(std::move(fiber));
    }
  }

  // False: given up.
  bool run() {
    running_ = this;
    while (has_time_ && pick()) ::swapcontext(&main_, &fibers_[current_]->context);
    running_ = nullptr;
    return has_time_;
  }

  // Who takes the next step; false: all have ended, or there were too many steps.
  bool pick() {
    const std::size_t last = current_;
    find_runnable(last);
    if (options_.empty()) return false;
    if (steps_left_-- == 0) return has_time_ = false;
    current_ = options_[options_.size() == 1 ? 0 : choose(options_.size())];
    if (last != SIZE_MAX && current_ != last && !fibers_[last]->has_ended) --switches_left_;
    return true;
  }

  // The one that ran last comes first, so that the first order has no switches.
  void find_runnable(std::size_t last) {
    options_.clear();
    const bool goes_on = last != SIZE_MAX && !fibers_[last]->has_ended;
    if (goes_on) options_.push_back(last);
    if (goes_on && switches_left_ == 0) return;
    for (std::size_t i = 0; i < fibers_.size(); ++i)
      if (i != last && !fibers_[i]->has_ended) options_.push_back(i);
  }

  std::size_t choose(std::size_t options) {
    if (depth_ == path_.size()) path_.push_back({0, options});
    if (path_[depth_].options != options)
      throw std::logic_error("the threads do not do the same in the same order");
    return path_[depth_++].taken;
  }

  static bool advance(std::vector<Choice>& path) {
    while (!path.empty() && path.back().taken + 1 == path.back().options) path.pop_back();
    if (path.empty()) return false;
    ++path.back().taken;
    return true;
  }

  void pause() {
    Fiber& before = *fibers_[current_];
    if (!pick()) {
      ::swapcontext(&before.context, &main_);  // for good: the stack goes without being unwound
    } else if (fibers_[current_].get() != &before) {
      ::swapcontext(&before.context, &fibers_[current_]->context);
    }
  }

  static void enter() {
    Fiber& fiber = *running_->fibers_[running_->current_];
    fiber.body();
    fiber.has_ended = true;
  }

  static inline Schedule* running_ = nullptr;

  std::vector<Choice>& path_;
  std::size_t depth_ = 0, switches_left_, steps_left_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::size_t current_ = SIZE_MAX;
  std::vector<std::size_t> options_;
  bool has_time_ = true;
  ucontext_t main_{};
};

// As std::atomic, but every operation is a step.
template <typename Value>
class ScheduledAtomic {
 public:
  ScheduledAtomic() = default;
  explicit(false) ScheduledAtomic(Value value) : value_(value) {}  // as std::atomic's

  Value load(std::memory_order = std::memory_order_seq_cst) const {
    Schedule::step();
    return value_;
  }
  void store(Value value, std::memory_order = std::memory_order_seq_cst) {
    Schedule::step();
    value_ = value;
  }
  bool compare_exchange_strong(Value& expected, Value desired) {
    Schedule::step();
    if (value_ == expected) {
      value_ = desired;
      return true;
    }
    expected = value_;
    return false;
  }
  Value fetch_add(Value delta) {
    Schedule::step();
    return std::exchange(value_, value_ + delta);
  }
  Value fetch_sub(Value delta) {
    Schedule::step();
    return std::exchange(value_, value_ - delta);
  }

 private:
  Value value_{};
};

}  // namespace turntable::hybridlog::testing
