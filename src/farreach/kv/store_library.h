// The stores of a host, kept under <state-dir>/stores so that they are loaded once and reused:
//
//   LOCK                           held by the one kvserver that uses the directory
//   <digest>/spec.json             the parameters behind the digest
//   <digest>/p<partition>/base/    store.json (number of keys) and db/: loaded, never opened again
//   <digest>/p<partition>/work/    the copy that an iteration reads and writes, and the number of
//   its
//                                  incarnation
//
// Bases and working copies are built under another name and renamed when they are complete, so
// nothing interrupted is ever used. The working copies of a process that has ended, in order or
// not, stay for its successor, until remove_left(). Digests beyond the kKept most recently loaded
// are removed, except those in use.
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
#include "farreach/kv/store.h"
#include "farreach/kv/store_builder.h"

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

  // Removes the working copy when it ends, unless it is left; the store in it must be closed by
  // then.
  class WorkingCopy {
   public:
    WorkingCopy(StoreLibrary& library, std::string digest, std::filesystem::path directory,
                bool is_fresh);
    ~WorkingCopy();
    WorkingCopy(const WorkingCopy&) = delete;
    WorkingCopy& operator=(const WorkingCopy&) = delete;

    const std::filesystem::path& directory() const { return directory_; }
    // A number that a fresh copy gets, by chance, and a copy that was left keeps.
    std::uint32_t incarnation() const { return incarnation_; }
    bool is_fresh() const { return is_fresh_; }

    // From now on it stays when this object ends; and no longer.
    void leave() { is_left_ = true; }
    void own() { is_left_ = false; }

   private:
    StoreLibrary& library_;
    std::string digest_;
    std::filesystem::path directory_;
    std::uint32_t incarnation_;
    bool is_fresh_;
    bool is_left_;
  };

  // A fresh copy of the loaded store; one at a time for each partition. Throws "not_found" if it is
  // not loaded.
  std::unique_ptr<WorkingCopy> copy(const StoreSpec& spec, unsigned partition);

  // The working copy that was left, by an earlier process too; it stays until own(). Throws
  // "not_found" if there is none.
  std::unique_ptr<WorkingCopy> left_copy(const StoreSpec& spec, unsigned partition);
  // Throws the same.
  void require_left(const StoreSpec& spec, unsigned partition) const;
  // Removes the working copies that were left, of all stores. None may be in use.
  void remove_left();

  // Ends a load() in progress with an error. Thread-safe.
  void cancel() { cancelled_ = true; }

 private:
  void remove_from_partitions(std::initializer_list<const char*> names);
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
