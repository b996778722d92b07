#include "hybridlog/recovery.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

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

class Recovery {
 public:
  Recovery(const Checkpoint& from, unsigned page_bits, Device& device, HashIndex& index)
      : from_(from),
        page_bytes_(Address{1} << page_bits),
        device_(device),
        index_(index),
        page_(static_cast<std::byte*>(std::aligned_alloc(Device::kSectorBytes, page_bytes_))) {
    if (!page_) throw std::bad_alloc();
  }

  void run() {
    if (from_.begin == from_.end) return;  // there was no record, and the file may be empty
    bool is_changed = false;
    for (Address start = from_.begin & ~(page_bytes_ - 1); start < from_.end; start += page_bytes_)
      is_changed = take_page(start) || is_changed;
    if (is_changed) check(device_.sync(), "written", from_.begin);
  }

 private:
  // Whether it was changed.
  bool take_page(Address start) {
    const Address end = std::min(start + page_bytes_, from_.end);
    const Address sectors = (end - start + Device::kSectorBytes - 1) & ~(Device::kSectorBytes - 1);
    check(device_.read(start, page_.get(), sectors), "read", start);
    bool is_changed = false;
    std::size_t bytes = 0;
    for (Address address = std::max(start, from_.begin); address + sizeof(Record) <= end;
         address += bytes) {
      Record& record = *reinterpret_cast<Record*>(page_.get() + (address - start));
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
      std::memset(page_.get() + (end - start), 0, start + page_bytes_ - end);
      check(device_.write(start, page_.get(), page_bytes_), "written", start);
      return true;
    }
    if (is_changed) check(device_.write(start, page_.get(), sectors), "written", start);
    return is_changed;
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
      index_.find_or_make(hash | more).replace(address);
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
  const Address page_bytes_;
  Device& device_;
  HashIndex& index_;
  Page page_;
};

}  // namespace

void recover(const Checkpoint& from, unsigned page_bits, Device& device, HashIndex& index) {
  if (from.page_bits != page_bits) {
    throw RecoveryError("checkpoint " + std::to_string(from.version) + " has pages of 2^" +
                        std::to_string(from.page_bits) + " bytes; expected these, not 2^" +
                        std::to_string(page_bits));
  }
  Recovery(from, page_bits, device, index).run();
}

}  // namespace turntable::hybridlog
