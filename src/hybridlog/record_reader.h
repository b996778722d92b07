// Records from the device, by threads that wait for it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

#include "hybridlog/address.h"
#include "hybridlog/device.h"
#include "hybridlog/record.h"
#include "hybridlog/value.h"

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
    Value sized;  // of a sized record: its value

    Bytes value() const noexcept {
      return Header(record.header).is_sized() ? sized.bytes() : bytes_of(record.value);
    }
  };

  // device: outlives the reader.
  // most_value_bytes: what says that it is longer is no record.
  RecordReader(Device& device, std::size_t threads, std::size_t most_value_bytes = kMostValueBytes);
  ~RecordReader();  // what was not begun is never done
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  std::shared_ptr<Ticket> read(Address address);

 private:
  void work(const std::stop_token& stop);
  void read(Ticket& ticket) const;
  std::error_code read_rest(Address address, std::span<std::byte> rest) const;

  Device& device_;
  const std::size_t most_value_bytes_;
  std::mutex mutex_;  // of the next two
  std::condition_variable_any changed_;
  std::deque<std::shared_ptr<Ticket>> waiting_;
  std::vector<std::jthread> threads_;  // last: they use the others
};

}  // namespace turntable::hybridlog
