#include "hybridlog/log_scan.h"

#include <algorithm>

#include "hybridlog/sized_value.h"

namespace turntable::hybridlog {

bool LogScan::next_page(std::vector<ScannedRecord>& records) {
  records.clear();
  const Address begin = std::max(from_, store_.log().begin());
  if (end_ <= begin) return false;
  const Address start = page_.start_of(end_ - 1);
  page_.read(start);
  for (auto found = page_.first(std::max(start, begin), end_); found;
       found = page_.next(found, end_)) {
    const Record& record = *found.record;
    if (!Header(record.header).is_indirection() && range_.contains(record.hash()))
      records.push_back({record.key, value_of(record), Header(record.header).is_tombstone()});
  }
  std::ranges::reverse(records);
  end_ = start;
  return true;
}

}  // namespace turntable::hybridlog
