// All records of a range of hashes, the newest first: what one store sends another. Indirection
// records (hybridlog/indirection.h) are nobody's but the store's.
#pragma once

#include <cstdint>
#include <vector>

#include "hybridlog/hash_range.h"
#include "hybridlog/log_page.h"
#include "hybridlog/store.h"

namespace turntable::hybridlog {

struct ScannedRecord {
  std::uint64_t key = 0;
  Bytes value{};  // valid until the next page is read
  bool is_tombstone = false;
};

// Goes through the log page by page, from its end to its begin. Of a key that was written several
// times there are several records, of which the first one counts.
class LogScan {
 public:
  // Of what lies from `from` to below `end`, which nobody changes any more as far as the range is
  // concerned. (Where it is still changed, a record that is being written may be another one, or
  // hide what lies behind it in its page.) The log must not be compacted meanwhile: what is kept
  // would lie above `end`.
  LogScan(Store& store, HashRange range, Address end, Address from = kFirstAddress)
      : store_(store), range_(range), from_(from), page_(store), end_(end) {}

  // Those of the next page, which may be none. False: there is no further page. Throws
  // std::system_error where the device does not give it, or gives no records. Not by a thread that
  // has sessions.
  bool next_page(std::vector<ScannedRecord>& records);

 private:
  Store& store_;
  const HashRange range_;
  const Address from_;
  LogPage page_;
  Address end_;
};

}  // namespace turntable::hybridlog
