// Runs independent jobs on a few threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace turntable {

// Calls job(0) .. job(count - 1), each once, on up to `threads` threads, in no particular order,
// and returns when all have ended. After a job has thrown no further one begins; the first
// exception is thrown again here.
template <typename Job>
void parallel_for(std::size_t count, std::size_t threads, Job&& job) {
  std::atomic<std::size_t> next{0};
  std::mutex failure_mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        job(i);
      } catch (...) {
        const std::lock_guard lock(failure_mutex);
        if (!failure) failure = std::current_exception();
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> pool;
    for (std::size_t i = 1; i < std::min(count, threads); ++i) pool.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace turntable
