// Records from the device, by threads that wait for it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "hybridlog/address.h"
#include "hybridlog/device.h"
#include "hybridlog/record.h"

namespace turntable::hybridlog {

class RecordReader {
 public:
  struct Ticket {
    explicit Ticket(Address of) : address(of) {}

    bool is_done() const noexcept { return done.load(std::memory_order_acquire); }

    const Address address;
    std::atomic<bool> done{false};
    // Once it is done.
    std::error_code error;
    Record record{};
  };

  // device: outlives the reader.
  RecordReader(Device& device, std::size_t threads);
  ~RecordReader();  // what was not begun is never done
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  std::shared_ptr<Ticket> read(Address address);

 private:
  void work(const std::stop_token& stop);
  void read(Ticket& ticket) const;

  Device& device_;
  std::mutex mutex_;  // of the next two
  std::condition_variable_any changed_;
  std::deque<std::shared_ptr<Ticket>> waiting_;
  std::vector<std::jthread> threads_;  // last: they use the others
};

}  // namespace turntable::hybridlog
