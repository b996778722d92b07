#include "hybridlog/log_scan.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <system_error>

namespace turntable::hybridlog {

LogScan::LogScan(Store& store, HashRange range, Address end, Address from)
    : store_(store),
      range_(range),
      from_(from),
      page_bytes_(store.log().settings().page_bytes()),
      page_(static_cast<std::byte*>(std::aligned_alloc(Device::kSectorBytes, page_bytes_))),
      end_(end) {
  if (!page_) throw std::bad_alloc();
}

bool LogScan::next_page(std::vector<ScannedRecord>& records) {
  records.clear();
  const Address begin = std::max(from_, store_.log().begin());
  if (end_ <= begin) return false;
  const Address start = (end_ - 1) & ~(page_bytes_ - 1);
  read(start);
  std::size_t bytes = 0;
  for (Address address = std::max(start, begin); address + sizeof(Record) <= end_;
       address += bytes) {
    const Record& record = *reinterpret_cast<const Record*>(page_.get() + (address - start));
    const Header header(record.header);
    if (header.is_nothing()) break;  // the rest of a page
    bytes = record.bytes();
    if (header.is_invalid() || !range_.contains(record.hash())) continue;
    records.push_back({record.key, record.value, header.is_tombstone()});
  }
  std::ranges::reverse(records);
  end_ = start;
  return true;
}

void LogScan::read(Address start) {
  if (copy_from_memory(start)) return;
  const std::error_code error = store_.device().read(start, page_.get(), page_bytes_);
  if (error)
    throw std::system_error(
        error, "the log's page at address " + std::to_string(start) + " cannot be read");
}

// Records of other ranges may be written meanwhile, each word at once.
bool LogScan::copy_from_memory(Address start) {
  Epoch::Thread thread(store_.epoch());
  thread.protect();
  if (start < store_.log().head()) return false;
  auto* const from = reinterpret_cast<std::uint64_t*>(store_.log().at(start));
  auto* const to = reinterpret_cast<std::uint64_t*>(page_.get());
  for (std::size_t word = 0; word < page_bytes_ / sizeof *from; ++word)
    to[word] = std::atomic_ref(from[word]).load(std::memory_order_relaxed);
  return true;
}

}  // namespace turntable::hybridlog
