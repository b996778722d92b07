// Records with numbers: what the servers of FarReach and NetCache keep (docs/kvcache.md §6).
//
// A stored record is
//
//   value | number 32, big-endian | stat 8
//
// and a delete is such a record too, a tombstone: without a value, stat 0. Of two records of a key
// the one with the larger number is newer. The records of the load have number 0.
//
// The worker and the control plane use the store at the same time: everything here is thread-safe,
// but get() is for one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <vector>

#include "farreach/kv/store.h"

namespace turntable::kv {

struct Record {
  std::span<const std::uint8_t> value{};
  std::uint32_t number = 0;
  bool exists = false;  // false: a tombstone, or nothing at all
};

inline constexpr std::uint32_t kLoadedNumber = 0;

// The bytes after the value.
inline constexpr std::size_t kRecordTrailerBytes = 5;

// Writes the trailer to `out`.
void encode_trailer(std::uint32_t number, bool exists,
                    std::span<std::uint8_t, kRecordTrailerBytes> out);

class RecordStore {
 public:
  // Nothing else may use `store`, which must outlive this object and holds records with numbers.
  // `is_fresh`: it holds nothing but what was loaded.
  explicit RecordStore(Store& store, bool is_fresh = true);
  ~RecordStore();
  RecordStore(const RecordStore&) = delete;
  RecordStore& operator=(const RecordStore&) = delete;

  // The newest record of a key; kOk also for a tombstone, kNotFound if there is none. Its value is
  // valid until the next get().
  Store::Result get(const workload::KeyBytes& key, Record& record);

  // The same for any thread; the value points into `bytes`.
  Store::Result fetch(const workload::KeyBytes& key, std::vector<std::uint8_t>& bytes,
                      Record& record);

  struct Applied {
    Store::Result result;  // kOk or kError
    bool newer;            // false: it is not stored
    bool fenced = false;   // it is known to be old, and the stored one was not looked at
  };
  // Stores `record` if its number is larger than the stored one's, and than the fence. One that
  // carries a snapshot token larger than any before (0: none) lies behind that snapshot's point,
  // which is taken first.
  Applied apply(const workload::KeyBytes& key, const Record& record,
                std::uint32_t snapshot_token = 0);

  struct Update {
    workload::KeyBytes key;
    Record record;
  };
  struct AppliedAll {
    Store::Result result;
    std::size_t newer;       // keys whose record was replaced
    std::size_t missed = 0;  // keys whose record would have been, were it not for the fence
  };
  // The same for many, in any order. Each is applied at once with what its key's comparison read,
  // but not all together.
  AppliedAll apply_all(std::vector<Update> updates);

  // The switch was started again, and the records of the cached set will now be read for it. No
  // record up to `number` is stored any more, whoever brings it: the switch before had it, and what
  // of that must stay is stored by now. The fence stays with the store.
  Store::Result fence(std::uint32_t number);
  bool is_fenced(std::uint32_t number) const;

  // Takes the snapshot `token` unless it or a newer one has been taken.
  Store::Result take_snapshot(std::uint32_t token);
  // Gives up the snapshots older than `token`, but for `kept`.
  void release_snapshots(std::uint32_t token, std::uint32_t kept = 0);
  // A record as of snapshot `token`; kNotFound also if that snapshot is not there.
  Store::Result fetch_at(std::uint32_t token, const workload::KeyBytes& key,
                         std::vector<std::uint8_t>& bytes, Record& record);

  // Calls visit(key as in the store, record) for all records as of snapshot `token`; kNotFound if
  // that snapshot is not there. Whoever uses the store waits meanwhile.
  using Visit = std::function<void(const workload::KeyBytes&, const Record&)>;
  Store::Result for_each_at(std::uint32_t token, const Visit& visit);

  // The largest number of any record that has been in the store, and of any fence. Reads all
  // records once if the store was not fresh.
  Store::Result largest_number(std::uint32_t& number);

  // What RocksDB said when a call first answered kError.
  std::string first_error() const;

 private:
  AppliedAll apply_sorted(std::span<const Update> updates);
  std::span<const std::uint8_t> stored_form(const Record& record);
  Store::Result read_largest_number();
  void snapshot_locked(std::uint32_t token);
  bool is_fenced_locked(std::uint32_t number) const {
    return fence_ != kLoadedNumber && number <= fence_;
  }
  const rocksdb::Snapshot* snapshot_of(std::uint32_t token) const;  // null: not there
  Store::Result for_each_locked(const Visit& visit, const rocksdb::Snapshot* snapshot = nullptr);
  Store::Result checked(Store::Result result, std::span<const std::uint8_t> stored,
                        Record& record) const;

  struct Snapshot {
    std::uint32_t token;
    const rocksdb::Snapshot* at;
  };

  mutable std::mutex mutex_;
  Store& store_;
  rocksdb::PinnableSlice old_;        // by apply()
  std::vector<std::uint8_t> buffer_;  // by stored_form()
  std::uint32_t largest_number_ = kLoadedNumber;
  bool largest_is_known_;          // else: of the records since the store was opened
  std::list<Snapshot> snapshots_;  // by token, ascending
  std::uint32_t last_token_ = 0;
  std::uint32_t fence_ = kLoadedNumber;
};

}  // namespace turntable::kv
