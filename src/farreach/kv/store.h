// The store of one logical server: a RocksDB database with the settings of a profile.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/command_error.h"
#include "workload/key.h"

namespace turntable::kv {

enum class StoreProfile : std::uint8_t {
  kEmbedded,  // many stores on one small machine
  kPaper,     // the settings of the FarReach servers (reference §1.5)
};

// Throws bad_argument for another name than "embedded" and "paper".
StoreProfile store_profile_from_name(const std::string& name);
const char* store_profile_name(StoreProfile profile);

inline constexpr int kBlockCacheShardBits = 4;  // 16 shards

// Stores of one profile share the block cache and the background threads of the process.
rocksdb::Options store_options(StoreProfile profile);

// "full" when the disk has no space, otherwise "unavailable"; `what` names operation and path.
CommandError store_error(const std::string& what, const rocksdb::Status& status);

// After its first error a store is not touched again: RocksDB may have lost a write. What put(),
// remove() and write() have answered survives the process, in RocksDB's log, which is not synced.
class Store {
 public:
  enum class Result : std::uint8_t { kOk, kNotFound, kError };

  // Opens an existing database. Throws CommandError.
  Store(const std::filesystem::path& directory, StoreProfile profile);

  // On kOk, `value` is valid until the next call on this object.
  Result get(const workload::KeyBytes& key, std::span<const std::uint8_t>& value);
  Result put(const workload::KeyBytes& key, std::span<const std::uint8_t> value);
  Result remove(const workload::KeyBytes& key);

  // The same as get() into a slice of the caller's; as of a snapshot, if there is one.
  Result read(const workload::KeyBytes& key, rocksdb::PinnableSlice& value,
              const rocksdb::Snapshot* snapshot = nullptr);
  // The same of many keys, in ascending order: statuses[i] is OK or NotFound unless the answer is
  // kError. All three have the same length.
  Result read_all(std::span<const rocksdb::Slice> keys, std::span<rocksdb::PinnableSlice> values,
                  std::span<rocksdb::Status> statuses);
  // All of it or nothing.
  Result write(rocksdb::WriteBatch& batch);

  // A fact about the store, kept beside its records under a name that is no key: not of 16 bytes.
  Result put_fact(std::string_view name, const std::string& value);
  Result get_fact(std::string_view name, std::string& value);

  // Calls visit(key, value) for every record in the order of keys, until it answers false; as of a
  // snapshot, if there is one.
  using Visit = std::function<bool(const workload::KeyBytes&, std::span<const std::uint8_t>)>;
  Result for_each(const Visit& visit, const rocksdb::Snapshot* snapshot = nullptr);

  // What the store holds now, until release(). Cheap.
  const rocksdb::Snapshot* snapshot() { return db_->GetSnapshot(); }
  void release(const rocksdb::Snapshot* snapshot) { db_->ReleaseSnapshot(snapshot); }

  // For the caller who finds that the contents are wrong. Answers kError.
  Result fail(const rocksdb::Status& status) { return result_of(status); }
  bool failed() const { return !first_error_.ok(); }

  // What RocksDB said when a call first answered kError.
  const rocksdb::Status& first_error() const { return first_error_; }

 private:
  Result result_of(const rocksdb::Status& status);

  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::PinnableSlice value_;
  rocksdb::Status first_error_;
};

}  // namespace turntable::kv
