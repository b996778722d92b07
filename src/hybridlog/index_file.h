// A hash index in a file: a store that is begun again takes it, and reads of its log only what is
// newer (FASTER §6.5, "fuzzy" checkpoints of the index).
//
// It is written while the index is used. So it is no picture of one moment, but of every chain it
// has a beginning that the chain had at `from` or later: records at or above `from` may be missing,
// none below is. Who goes through the log from `from` on, and lets entries only rise, has an index
// again.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "hybridlog/address.h"
#include "hybridlog/hash_index.h"

namespace turntable::hybridlog {

struct IndexFile {
  std::string path;
  Address from = kFirstAddress;
  std::uint64_t bytes = 0;
};

// All records below `from` that the index will ever have must be in it. The file is on its device
// when this returns; one of the same path is overwritten. Throws std::system_error, also
// where it was stopped.
IndexFile write_index(const std::string& path, HashIndex& index, Address from,
                      const std::stop_token& stop = {});

// Puts the file's entries into an index that nobody uses yet. Why it cannot be used, or nothing:
// entries that were put there until then are right all the same.
std::optional<std::string> read_index(const IndexFile& file, HashIndex& index);

// The key's chain begins at `address`, unless it begins at a higher one.
inline void raise_entry(HashIndex& index, std::uint64_t hash, Address address) {
  HashIndex::Found found = index.find_or_make(hash);
  while (found.entry.address() < address && !found.replace(address)) found.read_again();
}

}  // namespace turntable::hybridlog
