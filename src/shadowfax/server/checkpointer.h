// Makes checkpoints of a store again and again, and says what they cover.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "hybridlog/store.h"
#include "shadowfax/server/commits.h"

namespace turntable::shadowfax {

class Checkpointer {
 public:
  // interval: from the end of one to the beginning of the next.
  Checkpointer(hybridlog::Store& store, Commits& commits, std::string file,
               std::chrono::nanoseconds interval);
  // The workers must still run: a checkpoint that has begun is ended.
  ~Checkpointer() = default;
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  struct Counts {
    std::uint64_t made = 0, failed = 0;
    std::string why;  // the last one failed; empty: it did not
  };
  Counts counts() const;

 private:
  void work(const std::stop_token& stop);
  void make_one();

  hybridlog::Store& store_;
  Commits& commits_;
  const std::string file_;
  const std::chrono::nanoseconds interval_;
  mutable std::mutex mutex_;  // of the counts
  std::condition_variable_any ends_;
  Counts counts_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace turntable::shadowfax
