// The chains of a range of hashes: what memory has of them, and where they go on on the device. It
// is what one store sends another that will ask for the rest (hybridlog/indirection.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "hybridlog/hash_range.h"
#include "hybridlog/log_scan.h"
#include "hybridlog/store.h"

namespace turntable::hybridlog {

class ChainScan {
 public:
  // Of records below `end`, which nobody changes any more as far as the range is concerned; a
  // checkpoint covers what lies below. The log must not be compacted meanwhile.
  ChainScan(Store& store, HashRange range, Address end);

  // What visits a chain. A key's newest record is given, and none of a key twice.
  using OnRecord = std::function<void(const ScannedRecord&)>;
  // The chain has further records of the range, perhaps; from an address below `end` on, and of the
  // hashes that an indirection with this hash and bits() covers.
  using OnRest = std::function<void(std::uint64_t hash, Address address)>;

  // The next chains, until what is given has so many bytes as records, or some more. False: there
  // were none.
  // Not by a thread that has sessions. Throws std::system_error where the device gives no records.
  bool next(std::size_t most_bytes, const OnRecord& on_record, const OnRest& on_rest);

  std::uint32_t bits() const noexcept { return bits_; }
  // All records of the range that were not given lie below.
  Address until() const noexcept { return until_; }

 private:
  struct Rest {
    std::uint64_t hash;
    Address address;
  };

  bool may_have(std::uint64_t tag) const noexcept;
  std::size_t visit(Address newest, std::uint64_t hash, Address head, const OnRecord& on_record);
  Address below_end(Address address) const;

  Store& store_;
  const HashRange range_;
  const Address end_;
  const std::uint32_t bits_;
  std::uint64_t bucket_ = 0;  // the next one
  Address until_ = kFirstAddress;
  // Of the chains of a call.
  std::vector<Rest> rests_;
  std::vector<std::uint64_t> seen_;
  Value value_;
};

}  // namespace turntable::hybridlog
