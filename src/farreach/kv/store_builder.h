// Builds the databases that iterations start from.
#pragma once

#include <atomic>
#include <filesystem>
#include <span>
#include <vector>

#include "farreach/kv/store.h"
#include "workload/profile.h"

namespace turntable::kv {

// What a store holds: everything that decides its contents and its format on disk.
struct StoreSpec {
  workload::Workload workload;
  unsigned scale = 1;
  StoreProfile profile = StoreProfile::kEmbedded;
  bool numbered = false;  // records with numbers (kv/record_store.h), else plain values
};

// For each of `partitions`, ascending and without duplicates, the keys of it that exist when
// clients begin: those the traces of all clients touch, without the ones they insert. One pass over
// the traces for all partitions. Of a recorded trace all keys, but for those whose first request is
// an insert. Throws CommandError "unavailable" when `cancelled` becomes true.
std::vector<std::vector<workload::KeyId>> initial_keys(const StoreSpec& spec,
                                                       std::span<const unsigned> partitions,
                                                       const std::atomic<bool>& cancelled);

// Creates the database `directory` with `keys` (ascending) and their first values, and leaves it
// closed, complete on disk and without a log. Throws CommandError or filesystem_error.
void build_store(const std::filesystem::path& directory, const StoreSpec& spec,
                 std::span<const workload::KeyId> keys);

// Makes `copy` a database of its own with the contents of the closed database `base`, as a RocksDB
// checkpoint does: table files, which never change, become hard links; the rest is copied. Throws
// std::filesystem::filesystem_error.
void copy_store(const std::filesystem::path& base, const std::filesystem::path& copy);

}  // namespace turntable::kv
