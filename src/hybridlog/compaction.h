// Compaction: what is live in the log's oldest pages is written again at its tail, and the log
// begins behind them.
//
//           Compaction::run()                    Log::truncate()          a checkpoint
//   in use -------------------> written again -------------------> begun behind ----------> covered
//                                                                                              |
//                                                              no space <----------------------+
//                                                                        Log::give_back()
//
//   written again   every record of the old pages that is its key's newest has a copy above them,
//                   of the version in which its session is. Errors, and who stops it, leave it at
//                   that: copies are records as any other
//   begun behind    begin has moved, as an action of the epoch (hybridlog/log.h). Chains end there
//   covered         a checkpoint that was begun later is on the device: its begin is the new one,
//                   and the copies, which are of its version or older ones, are below its end
//   no space        the old pages are given back: with that checkpoint's begin, not with the log's
//
// A crash before `covered` recovers an older checkpoint, whose pages are all there. One after it
// recovers the new begin, whether something was given back or not. Without checkpoints pages are
// given back as soon as begin has moved.
//
// Who is about to read a record of the old pages finds, once it is read, that begin has moved, and
// looks in the index again (Session::from_device): the bytes may be zeros by then.
//
// Where indirection records count (hybridlog/indirection.h), the log does not begin above their
// floor; where they do not, they are nothing.
//
// A deleted key's record is written again only on request. It may go because all that the key had
// before lies below it, and goes with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "hybridlog/log_page.h"
#include "hybridlog/store.h"

namespace turntable::hybridlog {

struct CompactionSettings {
  // At most, and only whole pages that are on the device and that nobody changes any more.
  Address until = kAddressMask;
  // Of a key's hash; of others nothing is kept.
  std::function<bool(std::uint64_t hash)> is_wanted = [](std::uint64_t) { return true; };
  // Somebody else has older records of the keys, which must not come back.
  bool keeps_tombstones = false;
  // The log must not begin above this address: somebody points there. Is asked before and after.
  std::function<Address()> may_truncate_until = [] { return kAddressMask; };
  std::size_t most_pending = 64;  // records that wait for the device at once
  // A power of two, of 8 bytes each: keys of which a newer record was seen. Of others, a record
  // that has a newer one on the device costs a read.
  std::size_t most_remembered = std::size_t{1} << 20U;
};

struct Compacted {
  std::uint64_t seen = 0, kept = 0;  // records
  std::uint64_t kept_bytes = 0;      // of these
  std::uint64_t freed_bytes = 0;     // by which begin has moved
};

// Goes through the pages from the newest to the oldest, as LogScan does: what comes first of a key
// is what may be its newest record.
class Compaction {
 public:
  // One at a time. Throws std::bad_alloc.
  Compaction(Store& store, CompactionSettings settings);

  // Other sessions may work meanwhile. Not by a thread that has sessions, and not while records are
  // awaited (hybridlog/awaited.h). Throws std::system_error where the device is full, or does not
  // give a record: begin has not moved then, nor if it was stopped.
  Compacted run(const std::stop_token& stop = {});

 private:
  Address limit() const;
  void keep_page(Address from, Address until, const std::stop_token& stop);
  bool has_newer(std::uint64_t hash) noexcept;

  Store& store_;
  const CompactionSettings settings_;
  LogPage page_;
  std::vector<LogPage::Found> records_;  // of the page
  std::vector<std::uint64_t> newer_;     // hashes, each at its own place modulo their number
  Compacted done_;
};

}  // namespace turntable::hybridlog
