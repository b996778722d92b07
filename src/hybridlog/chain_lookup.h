// A key's newest record in a chain of this store's device, from an address on: for another store,
// whose indirection record points there.
#pragma once

#include <cstdint>
#include <memory>

#include "hybridlog/elsewhere.h"
#include "hybridlog/record_reader.h"
#include "hybridlog/store.h"

namespace turntable::hybridlog {

class ChainLookup {
 public:
  // begin: the log's when the other store was pointed there. Where it is another one by now, what
  // the key had may be gone.
  ChainLookup(Store& store, std::uint64_t key, Address address, Address begin)
      : store_(store), key_(key), begin_(begin), address_(address) {}

  // As far as it goes without waiting. By any thread. True: it is done.
  bool go_on();

  // Once it is done.
  OtherLogs::Found found() const noexcept { return found_; }
  Bytes value() const noexcept { return reading_->value(); }  // of kValue

 private:
  bool end_with(OtherLogs::Found found) noexcept;

  Store& store_;
  const std::uint64_t key_;
  const Address begin_;
  Address address_;
  std::shared_ptr<RecordReader::Ticket> reading_;
  OtherLogs::Found found_ = OtherLogs::Found::kError;
};

}  // namespace turntable::hybridlog
