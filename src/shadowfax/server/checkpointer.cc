#include "shadowfax/server/checkpointer.h"

#include <system_error>
#include <utility>

#include "hybridlog/checkpoint_file.h"

namespace turntable::shadowfax {

Checkpointer::Checkpointer(hybridlog::Store& store, Commits& commits, std::string file,
                           std::chrono::nanoseconds interval)
    : store_(store),
      commits_(commits),
      file_(std::move(file)),
      interval_(interval),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

Checkpointer::Counts Checkpointer::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void Checkpointer::work(const std::stop_token& stop) {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      ends_.wait_for(lock, stop, interval_, [] { return false; });
    }
    if (stop.stop_requested()) return;
    make_one();
  }
}

// What fails is tried again: the checkpoint before still holds.
void Checkpointer::make_one() {
  std::string why;
  try {
    hybridlog::Checkpoint checkpoint = store_.checkpoint();
    hybridlog::write_checkpoint(file_, checkpoint);
    commits_.publish(std::move(checkpoint.serials));
  } catch (const std::system_error& error) {
    why = error.what();
  }
  const std::lock_guard lock(mutex_);
  ++(why.empty() ? counts_.made : counts_.failed);
  counts_.why = std::move(why);
}

}  // namespace turntable::shadowfax
