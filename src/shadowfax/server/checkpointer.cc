#include "shadowfax/server/checkpointer.h"

#include <system_error>
#include <utility>

#include "hybridlog/checkpoint_file.h"

namespace turntable::shadowfax {

Checkpointer::Checkpointer(hybridlog::Store& store, Commits& commits, std::string file,
                           std::chrono::nanoseconds interval,
                           std::optional<hybridlog::IndexFile> index)
    : store_(store),
      commits_(commits),
      file_(std::move(file)),
      interval_(interval),
      indexes_(store, file_, std::move(index)),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

Checkpointer::Counts Checkpointer::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void Checkpointer::pause(const std::function<void()>& then) {
  const std::lock_guard lock(making_);
  is_paused_ = true;
  then();
}

void Checkpointer::resume() {
  const std::lock_guard lock(making_);
  is_paused_ = false;
}

void Checkpointer::hold_while(std::function<bool()> is_slow, std::function<bool()> is_dead) {
  const std::lock_guard lock(making_);
  is_slow_ = std::move(is_slow);
  is_dead_ = std::move(is_dead);
}

bool Checkpointer::wait_for_one(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  return ends_.wait(lock, stop, [this, before = begun_] { return kept_ > before; });
}

hybridlog::Checkpoint Checkpointer::make(const hybridlog::CutSteps& steps) {
  const std::lock_guard lock(making_);
  if (is_paused_) {
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                            "a range is being received");
  }
  if (is_dead_()) {
    throw std::system_error(
        std::make_error_code(std::errc::resource_unavailable_try_again),
        "a checkpoint would wait for another server, which does not answer; try again later");
  }
  return make_locked(steps);
}

// What fails is tried again: the checkpoint before still holds.
void Checkpointer::work(const std::stop_token& stop) {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      ends_.wait_for(lock, stop, interval_, [] { return false; });
    }
    if (stop.stop_requested()) return;
    const std::lock_guard lock(making_);
    if (waits_for_records() || is_slow_() || is_dead_()) continue;
    try {
      make_locked({});
    } catch (const std::system_error&) {
      // counted
    }
  }
}

bool Checkpointer::waits_for_records() const noexcept {
  return is_paused_ && !store_.awaited().nobody_waits();
}

hybridlog::Checkpoint Checkpointer::make_locked(hybridlog::CutSteps steps) {
  steps.gives_up = [this] { return waits_for_records() || is_dead_(); };
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = ++begun_;
  }
  try {
    const auto index = indexes_.newest();  // from before the cut
    hybridlog::Checkpoint checkpoint = store_.checkpoint(steps);
    if (has_ended_)
      throw std::system_error(std::make_error_code(std::errc::operation_canceled), "checkpoint");
    checkpoint.index = index;
    hybridlog::write_checkpoint(file_, checkpoint);
    indexes_.named(index);
    commits_.publish(checkpoint.serials);
    // Where that fails the next one gives back this, too.
    static_cast<void>(store_.log().give_back(checkpoint.begin));
    note("");
    {
      const std::lock_guard lock(mutex_);
      kept_ = number;
    }
    ends_.notify_all();
    return checkpoint;
  } catch (const std::system_error& error) {
    note(error.what());
    throw;
  }
}

void Checkpointer::note(const std::string& why) {
  const std::lock_guard lock(mutex_);
  ++(why.empty() ? counts_.made : counts_.failed);
  counts_.why = why;
}

}  // namespace turntable::shadowfax
