// Records by threads that wait for the device.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "hybridlog/record_reader.h"

namespace turntable::hybridlog {

class ThreadedReader : public RecordReader {
 public:
  ThreadedReader(Device& device, const ReaderSettings& settings);
  ~ThreadedReader() override;
  ThreadedReader(const ThreadedReader&) = delete;
  ThreadedReader& operator=(const ThreadedReader&) = delete;

  std::shared_ptr<Ticket> read(Address address) override;
  const char* kind() const noexcept override { return "threads"; }

 private:
  void work(const std::stop_token& stop);
  void read(Ticket& ticket) const;

  Device& device_;
  const std::size_t most_value_bytes_;
  std::mutex mutex_;  // of the next two
  std::condition_variable_any changed_;
  std::deque<std::shared_ptr<Ticket>> waiting_;
  std::vector<std::jthread> threads_;  // last: they use the others
};

}  // namespace turntable::hybridlog
