// Records through an io_uring: a thread has as many reads under way as it is told, and waits for
// all of them at once.
#pragma once

#include <liburing.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "common/unique_fd.h"
#include "hybridlog/record_reader.h"
#include "hybridlog/sector_memory.h"

namespace turntable::hybridlog {

class UringReader : public RecordReader {
 public:
  // Null where the device is no file, or the kernel gives no ring: it has none, or does not let
  // this process have one.
  static std::unique_ptr<UringReader> open(Device& device, const ReaderSettings& settings);
  ~UringReader() override;
  UringReader(const UringReader&) = delete;
  UringReader& operator=(const UringReader&) = delete;

  std::shared_ptr<Ticket> read(Address address) override;
  const char* kind() const noexcept override { return "io_uring"; }

 private:
  // A read that is under way, of the beginning or of the rest of a record.
  struct Read {
    SectorMemory beginning;
    std::shared_ptr<Ticket> ticket;
    SectorMemory rest;  // of a longer value; null: the beginning is read
    std::size_t missing = 0;
    Address from = 0;
    std::byte* to = nullptr;
    std::size_t bytes = 0, done = 0;
  };

  UringReader(Device& device, const ReaderSettings& settings, io_uring ring, UniqueFd wake);

  void work();
  void begin_waiting();
  void ask(Read& read, Address from, std::byte* to, std::size_t bytes);
  void submit(Read& read);
  void await_wake();
  void completed(Read& read, int result);
  void go_on(Read& read);
  void finish(Read& read, std::error_code error = {});
  io_uring_sqe* entry();

  Device& device_;
  const std::size_t most_value_bytes_;
  io_uring ring_;
  const UniqueFd wake_;  // an eventfd
  std::atomic<bool> stops_{false};
  std::mutex mutex_;  // of the next
  std::deque<std::shared_ptr<Ticket>> waiting_;
  // Of the thread.
  std::uint64_t woken_ = 0;   // what is read of wake_
  bool is_awaiting_ = false;  // that
  std::vector<Read> reads_;
  std::vector<Read*> free_;
  std::thread thread_;  // last: it uses the others
};

}  // namespace turntable::hybridlog
