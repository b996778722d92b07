// The stores of a host, kept under <state-dir>/stores so that they are loaded once and reused:
//
//   LOCK                           held by the one kvserver that uses the directory
//   <digest>/spec.json             the parameters behind the digest
//   <digest>/p<partition>/base/    store.json (number of keys) and db/: loaded, never opened again
//   <digest>/p<partition>/work/    the copy that an iteration reads and writes
//
// A base is built under another name and renamed when it is complete on disk, so an interrupted
// load is never reused. Digests beyond the kKept most recently loaded are removed, except
// those in use.
//
// Not thread-safe, except cancel().
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/unique_fd.h"
#include "kv/store.h"
#include "kv/store_builder.h"

namespace turntable::kv {

class StoreLibrary {
 public:
  static constexpr std::size_t kKept = 4;

  struct Loaded {
    unsigned partition;
    std::uint64_t keys;
    bool reused;
    double seconds;  // of this store alone; the pass over the traces is shared
  };

  // Creates the directory if needed and removes what an ended process left half-done. Throws
  // CommandError "unavailable" if another kvserver holds it or it cannot be written.
  explicit StoreLibrary(const std::filesystem::path& state_dir);

  // Throws CommandError.
  std::vector<Loaded> load(const StoreSpec& spec, std::span<const unsigned> partitions);

  // Removes the working copy when it ends; the store in it must be closed by then.
  class WorkingCopy {
   public:
    WorkingCopy(StoreLibrary& library, std::string digest, std::filesystem::path directory);
    ~WorkingCopy();
    WorkingCopy(const WorkingCopy&) = delete;
    WorkingCopy& operator=(const WorkingCopy&) = delete;

    const std::filesystem::path& directory() const { return directory_; }

   private:
    StoreLibrary& library_;
    std::string digest_;
    std::filesystem::path directory_;
  };

  // A fresh copy of the loaded store; one at a time for each partition. Throws "not_found" if it is
  // not loaded.
  std::unique_ptr<WorkingCopy> copy(const StoreSpec& spec, unsigned partition);

  // Ends a load() in progress with an error. Thread-safe.
  void cancel() { cancelled_ = true; }

 private:
  void remove_leftovers();
  void remove_old_digests(const std::string& current);
  Loaded build(const std::filesystem::path& partition_directory, const StoreSpec& spec,
               unsigned partition, std::span<const workload::KeyId> keys);

  std::filesystem::path root_;
  UniqueFd lock_;
  std::map<std::string, int> in_use_;  // digest -> working copies
  std::atomic<bool> cancelled_{false};
};

// Sixteen hexadecimal digits that name the contents of a store.
std::string digest_of(const StoreSpec& spec);

}  // namespace turntable::kv
