// All records of a range of hashes, the newest first: what one store sends another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "hybridlog/hash_range.h"
#include "hybridlog/store.h"

namespace turntable::hybridlog {

struct ScannedRecord {
  std::uint64_t key = 0, value = 0;
  bool is_tombstone = false;
};

// Goes through the log page by page, from its end to its begin. Of a key that was written several
// times there are several records, of which the first one counts.
class LogScan {
 public:
  // Of what lies from `from` to below `end`. Where the range is still changed, a record that is
  // being written may be another one, or hide what lies behind it in its page.
  LogScan(Store& store, HashRange range, Address end, Address from = kFirstAddress);

  // Those of the next page, which may be none. False: there is no further page. Throws
  // std::system_error where the device does not give it. Not by a thread that has sessions.
  bool next_page(std::vector<ScannedRecord>& records);

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };

  void read(Address start);
  bool copy_from_memory(Address start);

  Store& store_;
  const HashRange range_;
  const Address from_;
  const Address page_bytes_;
  const std::unique_ptr<std::byte, Free> page_;
  Address end_;
};

}  // namespace turntable::hybridlog
