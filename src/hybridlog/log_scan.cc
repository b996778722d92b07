#include "hybridlog/log_scan.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <system_error>

#include "hybridlog/sized_value.h"

namespace turntable::hybridlog {
namespace {

[[noreturn]] void fail(const std::error_code& error, Address address, const char* what) {
  throw std::system_error(error,
                          "the log's page at address " + std::to_string(address) + " " + what);
}

}  // namespace

LogScan::LogScan(Store& store, HashRange range, Address end)
    : store_(store),
      range_(range),
      page_bytes_(store.log().settings().page_bytes()),
      page_(static_cast<std::byte*>(std::aligned_alloc(Device::kSectorBytes, page_bytes_))),
      end_(end) {
  if (!page_) throw std::bad_alloc();
}

bool LogScan::next_page(std::vector<ScannedRecord>& records) {
  records.clear();
  const Address begin = store_.log().begin();
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
    if (bytes > end_ - address)
      fail(std::make_error_code(std::errc::bad_message), address, "has a record beyond its end");
    if (header.is_invalid() || !range_.contains(record.hash())) continue;
    records.push_back({record.key, value_of(record), header.is_tombstone()});
  }
  std::ranges::reverse(records);
  end_ = start;
  return true;
}

void LogScan::read(Address start) {
  if (copy_from_memory(start)) return;
  const std::error_code error = store_.device().read(start, page_.get(), page_bytes_);
  if (error) fail(error, start, "cannot be read");
}

// Records of other ranges may be written meanwhile, each word at once, the header after the length.
bool LogScan::copy_from_memory(Address start) {
  Epoch::Thread thread(store_.epoch());
  thread.protect();
  if (start < store_.log().head()) return false;
  auto* const from = reinterpret_cast<std::uint64_t*>(store_.log().at(start));
  auto* const to = reinterpret_cast<std::uint64_t*>(page_.get());
  for (std::size_t word = 0; word < page_bytes_ / sizeof *from; ++word)
    to[word] = std::atomic_ref(from[word]).load(std::memory_order_acquire);
  return true;
}

}  // namespace turntable::hybridlog
