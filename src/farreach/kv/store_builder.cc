#include "farreach/kv/store_builder.h"

#include <rocksdb/sst_file_writer.h>

#include <algorithm>

#include "farreach/kv/record_store.h"
#include "farreach/kv/value.h"
#include "workload/recorded_trace.h"
#include "workload/trace.h"

namespace turntable::kv {
namespace fs = std::filesystem;

namespace {

using Keys = std::vector<workload::KeyId>;

void sort_unique(Keys& keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

// A PUT of these profiles inserts a new record (YCSB's D and load).
bool only_inserts(const workload::Proportions& p) {
  return p.insert > 0 && p.update <= 0 && p.read_modify_write <= 0;
}

std::uint32_t loaded_bytes(const workload::Workload& workload, workload::KeyId key) {
  return workload.recorded ? workload.recorded->keys().at(key).loaded_bytes : workload.value_bytes;
}

void encode_record(const StoreSpec& spec, workload::KeyId id, std::vector<std::uint8_t>& stored) {
  const std::size_t bytes = loaded_bytes(spec.workload, id);
  stored.resize(bytes + (spec.numbered ? kRecordTrailerBytes : 0));
  fill_value(std::span(stored).first(bytes), id, kLoadedVersion);
  if (!spec.numbered) return;
  encode_trailer(kLoadedNumber, /*exists=*/true, std::span(stored).last<kRecordTrailerBytes>());
}

// A table with all records, written in key order: no memtable, no log, no compaction.
void write_table(const std::string& file, const StoreSpec& spec, const rocksdb::Options& options,
                 std::span<const workload::KeyId> keys) {
  const auto check = [&](const rocksdb::Status& status) {
    if (!status.ok()) throw store_error("cannot write the table " + file, status);
  };
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  check(writer.Open(file));
  std::vector<std::uint8_t> stored;
  for (const workload::KeyId id : keys) {
    const workload::KeyBytes key = workload::store_key(id);
    encode_record(spec, id, stored);
    check(writer.Put({reinterpret_cast<const char*>(key.data()), key.size()},
                     {reinterpret_cast<const char*>(stored.data()), stored.size()}));
  }
  check(writer.Finish());
}

std::vector<Keys> recorded_keys(const StoreSpec& spec, std::span<const unsigned> partitions) {
  std::vector<Keys> of_partitions(spec.scale);
  for (const auto& [key, counts] : spec.workload.recorded->keys()) {
    if (!counts.is_loaded) continue;
    of_partitions[workload::partition_of(workload::slot_of(key), spec.scale)].push_back(key);
  }
  std::vector<Keys> initial;
  for (const unsigned partition : partitions) {
    sort_unique(of_partitions[partition]);
    initial.push_back(std::move(of_partitions[partition]));
  }
  return initial;
}

}  // namespace

std::vector<Keys> initial_keys(const StoreSpec& spec, std::span<const unsigned> partitions,
                               const std::atomic<bool>& cancelled) {
  if (spec.workload.recorded) return recorded_keys(spec, partitions);
  constexpr std::size_t kNotWanted = SIZE_MAX;
  std::vector<std::size_t> index_of(spec.scale, kNotWanted);
  for (std::size_t i = 0; i < partitions.size(); ++i) index_of[partitions[i]] = i;

  std::vector<Keys> touched(partitions.size()), inserted(partitions.size());
  const bool puts_insert = only_inserts(spec.workload.proportions);
  for (unsigned client = 0; client < spec.workload.clients; ++client) {
    if (cancelled) throw CommandError("unavailable", "loading was cancelled: the node is ending");
    for (const auto& operation : workload::generate_trace(spec.workload, client)) {
      const std::size_t i = index_of[workload::partition_of(operation.slot, spec.scale)];
      if (i == kNotWanted) continue;
      const bool inserts = puts_insert && operation.type == workload::OperationType::kPut;
      (inserts ? inserted : touched)[i].push_back(operation.key);
    }
  }
  std::vector<Keys> initial(partitions.size());
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    sort_unique(touched[i]);
    sort_unique(inserted[i]);
    std::set_difference(touched[i].begin(), touched[i].end(), inserted[i].begin(),
                        inserted[i].end(), std::back_inserter(initial[i]));
  }
  return initial;
}

void build_store(const fs::path& directory, const StoreSpec& spec,
                 std::span<const workload::KeyId> keys) {
  rocksdb::Options options = store_options(spec.profile);
  options.create_if_missing = true;
  options.error_if_exists = true;
  const std::string where = "cannot create the store " + directory.string();

  fs::create_directories(directory);  // RocksDB would do it, but logs an error before
  rocksdb::DB* opened = nullptr;
  auto status = rocksdb::DB::Open(options, directory.string(), &opened);
  if (!status.ok()) throw store_error(where, status);
  const std::unique_ptr<rocksdb::DB> db(opened);
  if (!keys.empty()) {
    const std::string file = (directory / "load.sst").string();
    write_table(file, spec, options, keys);
    rocksdb::IngestExternalFileOptions ingest;
    ingest.move_files = true;
    status = db->IngestExternalFile({file}, ingest);
    if (!status.ok()) throw store_error(where, status);
    fs::remove(file);
  }
  status = db->Close();
  if (!status.ok()) throw store_error(where, status);
}

void copy_store(const fs::path& base, const fs::path& copy) {
  fs::create_directories(copy);
  for (const fs::directory_entry& entry : fs::directory_iterator(base)) {
    const fs::path to = copy / entry.path().filename();
    if (entry.path().extension() == ".sst") {
      fs::create_hard_link(entry.path(), to);
    } else if (entry.is_regular_file() && entry.path().filename() != "LOCK") {
      fs::copy_file(entry.path(), to);
    }
  }
}

}  // namespace turntable::kv
