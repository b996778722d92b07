#include "hybridlog/log_page.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <string>
#include <system_error>

namespace turntable::hybridlog {
namespace {

[[noreturn]] void fail(const std::error_code& error, Address address, const char* what) {
  throw std::system_error(error,
                          "the log's page at address " + std::to_string(address) + " " + what);
}

}  // namespace

LogPage::LogPage(Store& store)
    : store_(store),
      bytes_(store.log().settings().page_bytes()),
      memory_(static_cast<std::byte*>(std::aligned_alloc(Device::kSectorBytes, bytes_))) {
  if (!memory_) throw std::bad_alloc();
}

void LogPage::read(Address start) {
  start_ = start;
  if (copy_from_memory(start)) return;
  const std::error_code error = store_.device().read(start, memory_.get(), bytes_);
  if (error) fail(error, start, "cannot be read");
}

LogPage::Found LogPage::first(Address from, Address until) const {
  const Address end = std::min(until, start_ + bytes_);
  while (from + sizeof(Record) <= end) {
    const auto* record = reinterpret_cast<const Record*>(memory_.get() + (from - start_));
    const Header header(record->header);
    if (header.is_nothing()) break;  // the rest of a page
    if (record->bytes() > end - from)
      fail(std::make_error_code(std::errc::bad_message), from, "has a record beyond its end");
    if (!header.is_invalid()) return {record, from};
    from += record->bytes();
  }
  return {nullptr, end};
}

// Records that the caller does not ask for may be written meanwhile, each word at once, the header
// after the length.
bool LogPage::copy_from_memory(Address start) {
  Epoch::Thread thread(store_.epoch());
  thread.protect();
  if (std::max(start, kFirstAddress) < store_.log().head()) return false;
  auto* const from = reinterpret_cast<std::uint64_t*>(store_.log().at(start));
  auto* const to = reinterpret_cast<std::uint64_t*>(memory_.get());
  for (std::size_t word = 0; word < bytes_ / sizeof *from; ++word)
    to[word] = std::atomic_ref(from[word]).load(std::memory_order_acquire);
  return true;
}

}  // namespace turntable::hybridlog
