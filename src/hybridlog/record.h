// A record of the log: a header of 8 bytes, a key of 8, then the value. Who goes through the log
// asks each record how long it is.
//
//   bits of the header  63         62       61         60         59..48   47..0
//                       tombstone  invalid  (reserved) (reserved) version  address of the record
//                       before
//
// A header is never 0: the previous address is at least kNoAddress. So zeros are the end of a page.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "hybridlog/address.h"
#include "hybridlog/key_hash.h"

namespace turntable::hybridlog {

class Header {
 public:
  static constexpr std::uint64_t kTombstone = std::uint64_t{1} << 63U;
  static constexpr std::uint64_t kInvalid = std::uint64_t{1} << 62U;
  static constexpr std::uint64_t kVersionMask = (1U << 12U) - 1;

  constexpr explicit Header(std::uint64_t word) : word_(word) {}
  constexpr Header(Address previous, std::uint64_t version, bool tombstone = false)
      : word_((tombstone ? kTombstone : 0) | (version & kVersionMask) << kAddressBits |
              (previous & kAddressMask)) {}

  constexpr std::uint64_t word() const { return word_; }
  constexpr Address previous() const { return word_ & kAddressMask; }
  constexpr std::uint64_t version() const { return word_ >> kAddressBits & kVersionMask; }
  constexpr bool is_tombstone() const { return (word_ & kTombstone) != 0; }
  constexpr bool is_invalid() const { return (word_ & kInvalid) != 0; }
  constexpr bool is_nothing() const { return word_ == 0; }

 private:
  std::uint64_t word_;
};

// Fixed 8-byte values, which are read, written and added to as one.
struct Record {
  std::uint64_t header;
  std::uint64_t key;
  std::uint64_t value;

  // Of one that is written.
  std::size_t bytes() const noexcept { return sizeof(Record); }
  // Where it lies in the index.
  std::uint64_t hash() const noexcept { return hash_of(key); }

  Header read_header() noexcept {
    return Header(std::atomic_ref(header).load(std::memory_order_acquire));
  }
  void mark(std::uint64_t bit) noexcept { std::atomic_ref(header).fetch_or(bit); }
  std::uint64_t read() noexcept { return std::atomic_ref(value).load(std::memory_order_acquire); }
  void write(std::uint64_t fresh) noexcept {
    std::atomic_ref(value).store(fresh, std::memory_order_release);
  }
  void add(std::uint64_t delta) noexcept {
    std::atomic_ref(value).fetch_add(delta, std::memory_order_acq_rel);
  }
};
static_assert(sizeof(Record) == 24);

}  // namespace turntable::hybridlog
