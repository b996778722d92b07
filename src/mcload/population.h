// Stores the records of a content in a memcached.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "mcload/content.h"
#include "mcload/protocol.h"
#include "mcload/server_address.h"

namespace turntable::mcload {

struct Populated {
  std::uint64_t stored = 0;
  bool was_there = false;  // the store held exactly this content
  double seconds = 0;
};

// Stores all records and then the marker, which says that all are there; stores nothing if the
// marker is, as many items as records, and nothing was ever evicted, unless `again`. Throws
// CommandError: also for a record that the store refuses, and for a memcached that evicts some (it
// counts that; what does not, such as a proxy, is believed).
Populated populate(const std::string& where, const ServerAddress& server, Protocol protocol,
                   const Content& content, std::int64_t deadline_ns,
                   const std::atomic<bool>& cancelled, bool again = false);

}  // namespace turntable::mcload
