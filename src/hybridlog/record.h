// A record of the log: a header of 8 bytes, a key of 8, then the value. Who goes through the log
// asks each record how long it is.
//
//   bits of the header  63         62       61         60     59..48   47..0
//                       tombstone  invalid  indirection sized version  address of the record before
//
// A value of 8 bytes is read, written and added to as one. One of another length is `sized`
// (hybridlog/sized_value.h): where the others have their value it has its length. An indirection
// record (hybridlog/indirection.h) is sized, and has a hash where others have their key.
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
  static constexpr std::uint64_t kIndirection = std::uint64_t{1} << 61U;
  static constexpr std::uint64_t kSized = std::uint64_t{1} << 60U;
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
  constexpr bool is_indirection() const { return (word_ & kIndirection) != 0; }
  constexpr bool is_sized() const { return (word_ & kSized) != 0; }
  constexpr bool is_nothing() const { return word_ == 0; }

 private:
  std::uint64_t word_;
};

struct Record {
  std::uint64_t header;
  std::uint64_t key;
  std::uint64_t value;  // of a sized one: its length in the lower half

  // Of one that is written; whoever has read a sized one from the device asks whether it can be.
  std::size_t bytes() const noexcept {
    return Header(header).is_sized() ? bytes_of_sized(value_bytes()) : sizeof(Record);
  }
  static constexpr std::size_t bytes_of_sized(std::size_t value_bytes) noexcept;
  // The value's.
  std::size_t value_bytes() const noexcept {
    return Header(header).is_sized() ? static_cast<std::uint32_t>(value) : sizeof value;
  }
  // Where it lies in the index.
  std::uint64_t hash() const noexcept {
    return Header(header).is_indirection() ? key : hash_of(key);
  }

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

constexpr std::size_t Record::bytes_of_sized(std::size_t value_bytes) noexcept {
  return sizeof(Record) + (value_bytes + 7) / 8 * 8;
}

}  // namespace turntable::hybridlog
