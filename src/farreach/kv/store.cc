#include "farreach/kv/store.h"

#include <rocksdb/cache.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace turntable::kv {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

rocksdb::Slice slice_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::uint8_t> bytes_of(const rocksdb::Slice& slice) {
  return {reinterpret_cast<const std::uint8_t*>(slice.data()), slice.size()};
}

void set_background_threads(int flush, int compaction) {
  rocksdb::Env::Default()->SetBackgroundThreads(flush, rocksdb::Env::Priority::HIGH);
  rocksdb::Env::Default()->SetBackgroundThreads(compaction, rocksdb::Env::Priority::LOW);
}

// RocksDB's errors go to the node's log. Its own log file would lie on the disk of the stores,
// and when that is full the library ends the process (an assertion in the writer of that file).
class StandardErrorLogger : public rocksdb::Logger {
 public:
  StandardErrorLogger() : Logger(rocksdb::ERROR_LEVEL) {}

  using Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    char line[512];
    std::vsnprintf(line, sizeof line, format, arguments);
    line[std::strcspn(line, "\n")] = '\0';
    std::fprintf(stderr, "kvserver: rocksdb: %s\n", line);
  }
};

std::shared_ptr<rocksdb::TableFactory> table_factory(std::size_t cache_bytes) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(cache_bytes, kBlockCacheShardBits);
  table.block_size = 4096;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(/*bits_per_key=*/10));
  return std::shared_ptr<rocksdb::TableFactory>(rocksdb::NewBlockBasedTableFactory(table));
}

// FarReach reference §1.5.
rocksdb::Options paper_options() {
  rocksdb::Options options;
  options.write_buffer_size = 64 * kMiB;
  options.max_write_buffer_number = 40;
  options.min_write_buffer_number_to_merge = 16;
  options.level0_file_num_compaction_trigger = 10;
  options.target_file_size_base = 512 * kMiB;
  options.max_bytes_for_level_base = 10 * options.target_file_size_base;
  options.max_bytes_for_level_multiplier = 10;
  options.num_levels = 7;
  options.compaction_style = rocksdb::kCompactionStyleLevel;
  options.max_background_jobs = 16;
  options.max_open_files = -1;
  options.wal_bytes_per_sync = 2 * kMiB;
  options.table_factory = table_factory(1024 * kMiB);
  options.info_log_level = rocksdb::ERROR_LEVEL;
  options.info_log = std::make_shared<StandardErrorLogger>();
  options.max_bgerror_resume_count = 0;  // a store that failed stays failed: see Store
  set_background_threads(8, 8);
  return options;
}

// The same layout, but sized for tens of stores beside clients and a switch on two cores. A
// memtable holds what one iteration writes (5,000 writes/s of 150 B for 10 s).
rocksdb::Options embedded_options() {
  rocksdb::Options options = paper_options();
  options.allow_fallocate = false;
  options.write_buffer_size = 16 * kMiB;
  options.max_write_buffer_number = 4;
  options.min_write_buffer_number_to_merge = 1;
  options.max_background_jobs = 2;
  options.compression = rocksdb::kNoCompression;  // values are pseudo-random
  options.table_factory = table_factory(256 * kMiB);
  set_background_threads(1, 1);
  return options;
}

}  // namespace

StoreProfile store_profile_from_name(const std::string& name) {
  if (name == "embedded") return StoreProfile::kEmbedded;
  if (name == "paper") return StoreProfile::kPaper;
  throw bad_argument("store_profile is \"" + name + "\"; expected \"embedded\" or \"paper\"");
}

const char* store_profile_name(StoreProfile profile) {
  return profile == StoreProfile::kPaper ? "paper" : "embedded";
}

rocksdb::Options store_options(StoreProfile profile) {
  if (profile == StoreProfile::kPaper) {
    static const rocksdb::Options paper = paper_options();
    return paper;
  }
  static const rocksdb::Options embedded = embedded_options();
  return embedded;
}

CommandError store_error(const std::string& what, const rocksdb::Status& status) {
  const std::string message = what + ": " + status.ToString();
  if (status.IsNoSpace()) {
    return CommandError("full", message + "; free space on the disk of --state-dir");
  }
  return CommandError("unavailable", message);
}

Store::Store(const std::filesystem::path& directory, StoreProfile profile) {
  rocksdb::DB* db = nullptr;
  const auto status = rocksdb::DB::Open(store_options(profile), directory.string(), &db);
  if (!status.ok()) throw store_error("cannot open the store " + directory.string(), status);
  db_.reset(db);
}

Store::Result Store::get(const workload::KeyBytes& key, std::span<const std::uint8_t>& value) {
  value_.Reset();
  const Result result = read(key, value_);
  value = bytes_of(value_);
  return result;
}

Store::Result Store::read(const workload::KeyBytes& key, rocksdb::PinnableSlice& value,
                          const rocksdb::Snapshot* snapshot) {
  if (failed()) return Result::kError;
  rocksdb::ReadOptions options;
  options.snapshot = snapshot;
  return result_of(db_->Get(options, db_->DefaultColumnFamily(), slice_of(key), &value));
}

Store::Result Store::read_all(std::span<const rocksdb::Slice> keys,
                              std::span<rocksdb::PinnableSlice> values,
                              std::span<rocksdb::Status> statuses) {
  if (failed()) return Result::kError;
  db_->MultiGet(rocksdb::ReadOptions(), db_->DefaultColumnFamily(), keys.size(), keys.data(),
                values.data(), statuses.data(), /*sorted_input=*/true);
  for (const rocksdb::Status& status : statuses) {
    if (result_of(status) == Result::kError) return Result::kError;
  }
  return Result::kOk;
}

Store::Result Store::write(rocksdb::WriteBatch& batch) {
  if (failed()) return Result::kError;
  return result_of(db_->Write(rocksdb::WriteOptions(), &batch));
}

Store::Result Store::put_fact(std::string_view name, const std::string& value) {
  if (failed()) return Result::kError;
  return result_of(db_->Put(rocksdb::WriteOptions(), rocksdb::Slice(name), value));
}

Store::Result Store::get_fact(std::string_view name, std::string& value) {
  if (failed()) return Result::kError;
  return result_of(db_->Get(rocksdb::ReadOptions(), rocksdb::Slice(name), &value));
}

Store::Result Store::for_each(const Visit& visit, const rocksdb::Snapshot* snapshot) {
  if (failed()) return Result::kError;
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  options.snapshot = snapshot;
  const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(options));
  for (at->SeekToFirst(); at->Valid(); at->Next()) {
    workload::KeyBytes key;
    if (at->key().size() != key.size()) continue;  // a fact
    std::copy_n(at->key().data(), key.size(), key.begin());
    if (!visit(key, bytes_of(at->value()))) return Result::kOk;
  }
  return result_of(at->status());
}

Store::Result Store::put(const workload::KeyBytes& key, std::span<const std::uint8_t> value) {
  if (failed()) return Result::kError;
  return result_of(db_->Put(rocksdb::WriteOptions(), slice_of(key), slice_of(value)));
}

Store::Result Store::remove(const workload::KeyBytes& key) {
  if (failed()) return Result::kError;
  return result_of(db_->Delete(rocksdb::WriteOptions(), slice_of(key)));
}

Store::Result Store::result_of(const rocksdb::Status& status) {
  if (status.ok()) return Result::kOk;
  if (status.IsNotFound()) return Result::kNotFound;
  first_error_ = status;
  return Result::kError;
}

}  // namespace turntable::kv
