// A page of a store's log, for those who go through all of it.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "hybridlog/store.h"

namespace turntable::hybridlog {

class LogPage {
 public:
  // Throws std::bad_alloc.
  explicit LogPage(Store& store);

  std::uint64_t bytes() const noexcept { return bytes_; }
  Address start_of(Address address) const noexcept { return address & ~(bytes_ - 1); }

  // The page from `start` on, from memory or else from the device. Throws std::system_error where
  // the device does not give it. Not by a thread that has sessions.
  void read(Address start);

  struct Found {
    const Record* record;  // null: there is none
    Address address;
    explicit operator bool() const noexcept { return record != nullptr; }
  };
  // The first record that counts of those which lie in the page from `from` to `until`, where
  // records end. Throws std::system_error where one does not.
  Found first(Address from, Address until) const;
  // The one behind it.
  Found next(Found found, Address until) const {
    return first(found.address + found.record->bytes(), until);
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };

  bool copy_from_memory(Address start);

  Store& store_;
  const std::uint64_t bytes_;
  const std::unique_ptr<std::byte, Free> memory_;
  Address start_ = 0;
};

}  // namespace turntable::hybridlog
