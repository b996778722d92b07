// The hybrid log (FASTER §5): one address space whose newest part is in memory.
//
//   begin      head        safe_read_only   read_only        tail
//     |  device  |  read-only   |     fuzzy     |   mutable   |
//
// Records at or above read_only are changed in place. Below safe_read_only nobody changes them any
// more: every thread has seen a read_only that is at least as high. In between, some threads still
// change records in place, and others know that they must not. Below head records are on the
// device alone.
//
// Memory is a circle of frames of one page each. When a page is full its successor is opened;
// read_only and head follow a fixed distance behind the tail:
//
//   open page p  ->  read_only = p - mutable pages  ->  (all threads refreshed) safe_read_only
//     ->  pages below it are written to the device  ->  flushed_until
//     ->  head, up to it  ->  (all threads refreshed) frames are cleared  ->  free_until
//
// A page may be opened when its frame was freed. Where the device is behind, allocate() waits;
// where the device fails, it fails, until a later attempt to write succeeds.
//
// What lies below begin is nobody's (hybridlog/compaction.h).
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>

#include "hybridlog/address.h"
#include "hybridlog/device.h"
#include "hybridlog/epoch.h"
#include "hybridlog/mapped_memory.h"
#include "hybridlog/value.h"

namespace turntable::hybridlog {

struct LogSettings {
  unsigned page_bits = 25;  // 32 MiB
  std::size_t pages = 512;  // in memory; at least kFewestPages
  double mutable_share =
      0.9;  // of them, rounded down; at least one page, and kReadOnlyPages fewer than all
  static constexpr std::size_t kFewestPages = 4;
  static constexpr std::size_t kReadOnlyPages = 2;

  std::uint64_t page_bytes() const noexcept { return std::uint64_t{1} << page_bits; }
  std::uint64_t mutable_pages() const noexcept;
  // At most about half a page stays empty at its end.
  std::size_t most_value_bytes() const noexcept {
    return std::min<std::size_t>(kMostValueBytes, page_bytes() / 2);
  }
  // Throws std::invalid_argument that says what is expected.
  void check() const;
};

// Thread-safe. What it says of addresses holds until the calling thread refreshes its epoch.
class Log {
 public:
  // device: must outlive the log, and has what is from `begin` to `tail` where the log goes on.
  Log(const LogSettings& settings, Epoch& epoch, Device& device, Address begin = kFirstAddress,
      Address tail = kFirstAddress);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  const LogSettings& settings() const noexcept { return settings_; }

  // Room for a record of so many bytes, a multiple of 8 and at most a page; zeros, unless somebody
  // wrote there. Nothing while the device fails: error() says how. The thread must be protected;
  // it may be refreshed, after which head may be higher.
  std::optional<Address> allocate(Epoch::Thread& thread, std::size_t bytes);

  // Of an address at or above head.
  std::byte* at(Address address) noexcept { return memory_.data() + (address & memory_mask_); }

  Address begin() const noexcept { return begin_.load(); }
  Address head() const noexcept { return head_.load(); }
  Address safe_read_only() const noexcept { return safe_read_only_.load(); }
  Address read_only() const noexcept { return read_only_.load(); }
  Address flushed_until() const noexcept { return flushed_until_.load(); }
  Address tail() const noexcept;

  // All that is in the log now becomes read-only, and is written to the device some time after.
  // Returns the tail; flushed_until() will reach it.
  Address shift_read_only_to_tail(Epoch::Thread& thread);

  // Until flushed_until() is there. An error: the device fails.
  std::error_code wait_until_flushed(Address until);

  // Of the last attempt to write; empty: it succeeded.
  std::error_code error() const;

  // Begins at `until` from now on, the start of a page at most at flushed_until(). What of the
  // pages below is still wanted has been written again. A thread that sees the new begin sees that
  // too, if it looks for it after it has refreshed. Returns when begin() is there: every protected
  // thread has refreshed. Not by a protected thread.
  void truncate(Address until);
  // The space on the device of the pages below `until` is given back: no checkpoint that may be
  // recovered begins there. Thread-safe. An error: of some it is not, a later call tries it again.
  std::error_code give_back(Address until);

 private:
  static constexpr unsigned kOffsetBits = 40;
  static constexpr std::uint64_t kOffsetMask = (std::uint64_t{1} << kOffsetBits) - 1;

  Address start_of(std::uint64_t page) const noexcept { return page << settings_.page_bits; }
  bool open_page_after(std::uint64_t page, Epoch::Thread& thread);
  void shift_read_only(Address until, Epoch::Thread& thread);
  void shift_head(Epoch::Thread* thread);
  void work(const std::stop_token& stop);
  std::error_code write(Address from, Address until);
  std::error_code write_page_part(Address from, Address until);
  Address start_of_page(Address address) const noexcept {
    return address & ~(settings_.page_bytes() - 1);
  }
  void clear(Address from, Address until) noexcept;

  const LogSettings settings_;
  Epoch& epoch_;
  Device& device_;
  const MappedMemory memory_;
  std::uint64_t memory_mask_;

  // The page in the upper bits, the offset in it, which may be beyond its end, in the others.
  alignas(64) std::atomic<std::uint64_t> tail_;
  alignas(64) std::atomic<Address> read_only_;
  std::atomic<Address> safe_read_only_;
  std::atomic<Address> head_;
  std::atomic<Address> begin_;
  std::atomic<Address> wanted_head_;
  std::atomic<Address> flushed_until_;
  std::atomic<Address> free_until_;  // frames of pages below it may be used again
  std::atomic<bool> failing_{false};
  std::mutex giving_back_;  // of the next
  Address given_back_ = 0;

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable_any changed_;
  Address to_flush_;
  Address to_free_;
  std::error_code error_;
  std::jthread worker_;  // last: it uses the others
};

}  // namespace turntable::hybridlog
