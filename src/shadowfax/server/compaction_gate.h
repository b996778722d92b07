// Whether the log may be compacted now. While a range arrives or leaves it must not: what is kept
// would lie above an address that tells old records from new ones.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>

namespace turntable::shadowfax {

// Thread-safe.
class CompactionGate {
 public:
  // A compaction that is under way is stopped, and has ended; none begins until open(), which is
  // called as often.
  void close() {
    std::unique_lock lock(mutex_);
    ++closed_;
    passing_.request_stop();
    changed_.wait(lock, [this] { return !is_passing_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    --closed_;
  }

  class Closed {
   public:
    explicit Closed(CompactionGate& gate) : gate_(gate) { gate_.close(); }
    ~Closed() { gate_.open(); }
    Closed(const Closed&) = delete;
    Closed& operator=(const Closed&) = delete;

   private:
    CompactionGate& gate_;
  };

  // A compaction begins, of which there is one at a time, and heeds the token; leave() follows.
  // Nothing: it must not begin.
  std::optional<std::stop_token> enter() {
    const std::lock_guard lock(mutex_);
    if (closed_ > 0) return std::nullopt;
    is_passing_ = true;
    passing_ = std::stop_source();
    return passing_.get_token();
  }
  void leave() {
    {
      const std::lock_guard lock(mutex_);
      is_passing_ = false;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int closed_ = 0;
  bool is_passing_ = false;
  std::stop_source passing_;
};

}  // namespace turntable::shadowfax
