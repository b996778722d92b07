#include "hybridlog/recovery.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "hybridlog/index_file.h"
#include "hybridlog/indirection.h"
#include "hybridlog/record.h"
#include "hybridlog/sized_value.h"
#include "hybridlog/store.h"

namespace turntable::hybridlog {
namespace {

struct Free {
  void operator()(std::byte* memory) const noexcept { std::free(memory); }
};
using Page = std::unique_ptr<std::byte, Free>;

// Pages are taken in any order: an entry of the index only rises.
class Recovery {
 public:
  // scanned: where it begins to read, at most at the checkpoint's cut.
  Recovery(const Checkpoint& from, Address scanned, unsigned page_bits, Device& device,
           HashIndex& index)
      : from_(from),
        scanned_(scanned),
        page_bytes_(Address{1} << page_bits),
        device_(device),
        index_(index),
        next_(scanned & ~(page_bytes_ - 1)) {}

  void run(std::size_t threads) {
    const Address pages = (from_.end - next_ + page_bytes_ - 1) / page_bytes_;
    std::vector<std::future<void>> others;
    for (std::size_t i = 1; i < std::min<std::size_t>(threads, pages); ++i)
      others.push_back(std::async(std::launch::async, [this] { take_pages(); }));
    take_pages();
    for (std::future<void>& each : others) each.get();
    if (is_changed_) check(device_.sync(), "written", scanned_);
  }

 private:
  // Until there is none, or one of the threads has failed.
  void take_pages() {
    try {
      const Page page(
          static_cast<std::byte*>(std::aligned_alloc(Device::kSectorBytes, page_bytes_)));
      if (!page) throw std::bad_alloc();
      for (;;) {
        const Address start = next_.fetch_add(page_bytes_);
        if (start >= from_.end) return;
        take_page(start, page.get());
      }
    } catch (...) {
      next_ = from_.end;
      throw;
    }
  }

  void take_page(Address start, std::byte* page) {
    const Address end = std::min(start + page_bytes_, from_.end);
    const Address sectors = (end - start + Device::kSectorBytes - 1) & ~(Device::kSectorBytes - 1);
    check(device_.read(start, page, sectors), "read", start);
    bool is_changed = false;
    std::size_t bytes = 0;
    for (Address address = std::max(start, scanned_); address + sizeof(Record) <= end;
         address += bytes) {
      Record& record = *reinterpret_cast<Record*>(page + (address - start));
      const Header header(record.header);
      if (header.is_nothing()) break;  // the rest of a page
      bytes = record.bytes();
      if (header.previous() >= address) fail("a record that means nothing", address);
      if (bytes > end - address) fail("a record that goes on beyond its page or the end", address);
      if (header.is_invalid()) continue;
      if (is_of_next_version(header, address)) {
        record.header |= Header::kInvalid;
        is_changed = true;
      } else {
        take(record, address);
      }
    }
    if (end < start + page_bytes_) {
      // What lies behind was written after the checkpoint. The page is not written again, and the
      // next checkpoint's recovery must not find that.
      std::memset(page + (end - start), 0, start + page_bytes_ - end);
      check(device_.write(start, page, page_bytes_), "written", start);
      is_changed_ = true;
    } else if (is_changed) {
      check(device_.write(start, page, sectors), "written", start);
      is_changed_ = true;
    }
  }

  // An indirection record into every bucket that it may cover.
  void take(const Record& record, Address address) {
    std::uint64_t hash = record.hash(), step = index_.buckets();
    if (Header(record.header).is_indirection()) {
      if (record.value_bytes() != Indirection::kBytes)
        fail("an indirection that means nothing", address);
      step = Indirection::of(record.key, value_of(record).data()).mask() + 1;
      hash &= ~(index_.buckets() - 1) | (step - 1);
    }
    for (std::uint64_t more = 0; more == 0 || more < index_.buckets(); more += step)
      raise_entry(index_, hash | more, address);
  }

  bool is_of_next_version(Header header, Address address) const noexcept {
    return address >= from_.cut && header.version() == ((from_.version + 1) & Header::kVersionMask);
  }

  void check(const std::error_code& error, const char* what, Address address) const {
    if (error) fail("it cannot be " + std::string(what) + ": " + error.message(), address);
  }

  [[noreturn]] void fail(const std::string& what, Address address) const {
    throw RecoveryError("the log at address " + std::to_string(address) + ": " + what +
                        "; expected the log of checkpoint " + std::to_string(from_.version) +
                        ", whole up to " + std::to_string(from_.end));
  }

  const Checkpoint& from_;
  const Address scanned_;
  const Address page_bytes_;
  Device& device_;
  HashIndex& index_;
  std::atomic<Address> next_;  // page that nobody has taken
  std::atomic<bool> is_changed_{false};
};

}  // namespace

Recovered recover(const Checkpoint& from, const StoreSettings& settings, Device& device,
                  HashIndex& index) {
  const unsigned page_bits = settings.log.page_bits;
  if (from.page_bits != page_bits) {
    throw RecoveryError("checkpoint " + std::to_string(from.version) + " has pages of 2^" +
                        std::to_string(from.page_bits) + " bytes; expected these, not 2^" +
                        std::to_string(page_bits));
  }
  if (settings.index_buckets < from.index_buckets) {
    throw RecoveryError("checkpoint " + std::to_string(from.version) + " has an index of " +
                        std::to_string(from.index_buckets) +
                        " buckets; expected as many or more, not " +
                        std::to_string(settings.index_buckets));
  }
  Recovered recovered{.from = from.begin, .index = {}, .why_not_index = {}};
  if (from.begin == from.end) return recovered;  // there was no record, and the file may be empty
  if (from.index) {
    if (const auto why_not = read_index(*from.index, index)) {
      recovered.why_not_index = from.index->path + ": " + *why_not;
    } else {
      recovered.from = std::max(from.begin, from.index->from);
      recovered.index = from.index;
    }
  }
  Recovery(from, recovered.from, page_bits, device, index).run(settings.recovery_threads);
  return recovered;
}

}  // namespace turntable::hybridlog
