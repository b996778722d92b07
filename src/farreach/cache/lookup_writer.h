// Changes of cache_lookup, many in one batch.
#pragma once

#include <coroutine>
#include <exception>
#include <list>
#include <optional>
#include <span>
#include <vector>

#include "farreach/cache/driver.h"
#include "farreach/cache/slots.h"
#include "net/timers.h"

namespace turntable::cache {

// The table's name and fields (p4/shared/cache/cache_lookup.p4).
inline constexpr const char* kCacheLookup = "cache_lookup";
Driver::Json lookup_key(const Key& key);
Key key_of_lookup(const Driver::Json& key);

struct Lookup {
  Key key;
  Slot slot;
};
// Writes these entries in one batch.
void write_lookups(Driver& driver, std::span<const Lookup> lookups);

class LookupWriter {
 public:
  // Awaited: done when the table has the change. Throws what the driver threw.
  class Change {
   public:
    Change(LookupWriter& writer, const Key& key, std::optional<Slot> slot);
    ~Change();
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting);
    void await_resume() const {
      if (failure_) std::rethrow_exception(failure_);
    }

   private:
    friend class LookupWriter;
    LookupWriter& writer_;
    Key key_;
    std::optional<Slot> slot_;  // none: the entry goes
    std::exception_ptr failure_;
    std::coroutine_handle<> waiting_;
    std::list<Change*>* listed_ = nullptr;  // one of the writer's lists
  };

  LookupWriter(Driver& driver, net::Timers& timers) : driver_(driver), timers_(timers) {}
  ~LookupWriter();
  LookupWriter(const LookupWriter&) = delete;
  LookupWriter& operator=(const LookupWriter&) = delete;

  Change insert(const Key& key, Slot slot);
  Change remove(const Key& key);

 private:
  void flush();
  void write_waiting();

  Driver& driver_;
  net::Timers& timers_;
  std::list<Change*> waiting_;  // for the next batch
  std::list<Change*> written_;  // to be resumed
  net::Timers::TimerId flush_ = 0;
};

}  // namespace turntable::cache
