// A key-value store on a hybrid log: 8-byte keys, values of 8 bytes or of any other length, with
// reads, upserts, read-modify-writes (additions) and deletes (FASTER §6). What an operation does
// depends on the region that the key's newest record lies in:
//
//   newest record      read             upsert, delete       add
//   mutable            from memory      in place             in place
//   fuzzy              from memory      a new record         later: others may still add in place
//   read-only          from memory      a new record         a new record
//   on the device      is read first    a new record         is read first, then a new record
//   another store's    is asked for, then a new record       is asked for, then a new record
//   device                              a new record
//   nowhere            not found        a new record         a new record
//
// An upsert of another length than the record's is a new record wherever that lies.
//
// A new record becomes the newest by exchanging the index's entry; who loses that marks his record
// invalid and begins again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "hybridlog/awaited.h"
#include "hybridlog/device.h"
#include "hybridlog/elsewhere.h"
#include "hybridlog/epoch.h"
#include "hybridlog/hash_index.h"
#include "hybridlog/index_file.h"
#include "hybridlog/indirection.h"
#include "hybridlog/key_hash.h"
#include "hybridlog/log.h"
#include "hybridlog/record.h"
#include "hybridlog/record_reader.h"
#include "hybridlog/sampling.h"
#include "hybridlog/session_id.h"
#include "hybridlog/value.h"
#include "hybridlog/versions.h"

namespace turntable::hybridlog {

struct StoreSettings {
  std::size_t index_buckets = std::size_t{1} << 20U;  // a power of two
  LogSettings log;
  std::size_t threads = 64;        // at once
  std::size_t reader_threads = 4;  // that wait for the device; reads under way in an io_uring
  bool uses_uring = true;          // where kernel and device have it
  std::size_t recovery_threads = 4;
};

enum class Status : std::uint8_t {
  kOk,
  kNotFound,
  kPending,    // complete_pending() has the answer later
  kNoSpace,    // the device takes nothing more; nothing was changed
  kIoError,    // the device did not give the record; nothing was changed
  kWrongSize,  // the value has a length that the operation cannot have; nothing was changed
};

// What of a store is on its device for good: all operations of every session up to its serial.
struct Checkpoint {
  std::uint64_t version = 0;
  unsigned page_bits = 0;
  // A smaller index has fewer chains, which do not have all records. 0: it is not known.
  std::size_t index_buckets = 0;
  Address begin = kFirstAddress;
  Address cut = kFirstAddress;  // records of the next version lie at or above it, before `end`
  Address end = kFirstAddress;
  Serials serials;
  // What serials count, and no record has: the keys' records are awaited.
  std::vector<Awaited::Addition> left;
  std::optional<IndexFile> index;  // none: recovery reads the whole log
};

// What a store that was begun at a checkpoint has read.
struct Recovered {
  Address from = kFirstAddress;    // the log from here on
  std::optional<IndexFile> index;  // and this
  std::string why_not_index;       // the checkpoint has one that was not used
};

// What is done at steps of a checkpoint's cut (hybridlog/versions.h), by its thread.
struct CutSteps {
  std::function<void()> all_prepared = [] {};  // no session has crossed yet
  std::function<void()> all_crossed = [] {};   // all have
  // Sessions wait for what may not come for long: no checkpoint is made then.
  std::function<bool()> gives_up = [] { return false; };
};

class Store {
 public:
  // An empty store. Throws std::invalid_argument, std::system_error.
  Store(const StoreSettings& settings, std::unique_ptr<Device> device);
  // As it was at a checkpoint. Throws std::runtime_error where the device does not have that. A
  // file of the index that cannot be used is not missed: recovered() says why.
  Store(const StoreSettings& settings, std::unique_ptr<Device> device, const Checkpoint& from);

  // Of now; returns when it is on the device. Not by a thread that has sessions, and one at a time.
  // Throws std::system_error where the device fails, or it was given up: the checkpoint before
  // still holds.
  Checkpoint checkpoint(const CutSteps& steps = {});
  // The index of now in a file, for checkpoints that are made after it. Not by a thread that has
  // sessions. Throws std::system_error, also where it was stopped.
  IndexFile write_index(const std::string& path, const std::stop_token& stop = {});

  Epoch& epoch() noexcept { return epoch_; }
  Device& device() noexcept { return *device_; }
  const Device& device() const noexcept { return *device_; }
  HashIndex& index() noexcept { return index_; }
  Log& log() noexcept { return log_; }
  RecordReader& reader() noexcept { return *reader_; }
  Versions& versions() noexcept { return versions_; }
  Awaited& awaited() noexcept { return awaited_; }
  std::size_t most_value_bytes() const noexcept { return log_.settings().most_value_bytes(); }
  Sampling& sampling() noexcept { return sampling_; }
  const Recovered& recovered() const noexcept { return recovered_; }
  Elsewhere& elsewhere() noexcept { return elsewhere_; }

 private:
  std::unique_ptr<Device> device_;
  Epoch epoch_;
  HashIndex index_;
  Log log_;
  std::unique_ptr<RecordReader> reader_;
  Versions versions_;
  Awaited awaited_;
  Sampling sampling_;
  Recovered recovered_;
  Elsewhere elsewhere_;
};

// Of one thread, which may have several. Operations of one session may overtake each other only
// where one of them is pending.
class Session {
 public:
  // thread: outlives the session, and is protected whenever one of its functions is called; each of
  // them may refresh it.
  // wake: see Versions::Member. Throws std::logic_error where a session of this id lives already.
  Session(Store& store, Epoch::Thread& thread, SessionId id = {}, std::function<void()> wake = {});
  ~Session();  // waits until leave() says that nothing is pending
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  struct Answer {
    Status status;
    std::uint64_t value = 0;  // of a read that is kOk; that is kWrongSize: the value's bytes
  };
  // Of a key in the index, once it is known: it saves looking for it. hybridlog/batch.h has it.
  using Place = HashIndex::Word*;

  // context: comes back with the answer of an operation that was kPending. A value that has not 8
  // bytes is kWrongSize, and read_value() reads it.
  Answer read(std::uint64_t key, std::uint64_t context = 0, Place place = nullptr) {
    take_part();
    member_.begin_operation();
    if (Record* const record = newest_of_own_version(key, place, quickly_read_from()))
      return {Status::kOk, record->read()};
    return carry_out(Kind::kRead, key, 0, context);
  }
  Status upsert(std::uint64_t key, std::uint64_t value, Place place = nullptr) {
    take_part();
    member_.begin_operation();
    if (Record* const record = newest_of_own_version(key, place, log_.read_only())) {
      record->write(value);
      return Status::kOk;
    }
    return replace(key, bytes_of(value), /*is_tombstone=*/false);
  }
  // A key that is not there begins at 0. To a value of another length delta is added as by
  // add_to_value().
  Status add(std::uint64_t key, std::uint64_t delta, std::uint64_t context = 0,
             Place place = nullptr) {
    take_part();
    member_.begin_operation();
    if (Record* const record = newest_of_own_version(key, place, log_.read_only())) {
      record->add(delta);
      return Status::kOk;
    }
    return carry_out(Kind::kAdd, key, delta, context).status;
  }
  Status erase(std::uint64_t key);  // kOk, whether it was there or not
  // Of a key that is awaited, its record in the store that sends it: kOk, whether it was taken or
  // this store has a newer one. Additions that sessions left behind are made when all have come.
  // kWrongSize: as of upsert_value().
  Status take(std::uint64_t key, Bytes value, bool is_tombstone, std::uint64_t context = 0);

  // Puts an indirection record into every chain that may have keys which it covers. Its migration's
  // records do not count yet. kOk, kNoSpace: it may be in some of them. Of a session that is
  // nobody's.
  Status point(const Indirection& to);

  // The key's record at `address`, which nobody changes any more, is written again if it is still
  // the newest one: kOk; kNotFound: it is not. Of a session that is nobody's
  // (hybridlog/compaction.h).
  Status keep(std::uint64_t key, Bytes value, bool is_tombstone, Address address,
              std::uint64_t context = 0);

  // Values of any length up to the store's most_value_bytes(). One of 8 bytes is what the functions
  // above read and write. The answer's value is the first 8 bytes, with zeros behind a shorter one;
  // value() has all.
  Answer read_value(std::uint64_t key, std::uint64_t context = 0, Place place = nullptr);
  // What read_value() has read whose answer came last: until another function is called.
  const Value& value() const noexcept { return value_; }
  // kWrongSize: it is too long.
  Status upsert_value(std::uint64_t key, Bytes value, Place place = nullptr);
  // Adds the number in the first 8 bytes of `value` to that in those of the key's value, the rest
  // of which stays as it is. A key that is not there begins as `value`. kWrongSize: one of both has
  // fewer than 8 bytes, or `value` is too long.
  Status add_to_value(std::uint64_t key, Bytes value, std::uint64_t context = 0,
                      Place place = nullptr);

  // What an operation on the key will touch comes nearer to the processor: the index's bucket,
  // then, once that is here, the newest record of its chain. Of use some operations ahead, in this
  // order.
  void prefetch_bucket(std::uint64_t key) const noexcept { store_.index().prefetch(hash_of(key)); }
  Place prefetch_record(std::uint64_t key) noexcept {
    const HashIndex::Found found = store_.index().find(hash_of(key));
    if (found && found.entry.address() >= log_.head()) {
      const std::byte* const record = log_.at(found.entry.address());
      __builtin_prefetch(record, 1);
      __builtin_prefetch(record + sizeof(Record) - 1, 1);  // it may lie in two lines
    }
    return found.place;
  }

  // All that is in the log becomes read-only, also for those who go on adding in place until they
  // refresh. Returns where it ends: Log::flushed_until() gets there.
  Address make_read_only() { return log_.shift_read_only_to_tail(thread_); }

  // For checkpoints: to be called often, at least after `wake`. Every operation does it, too.
  void take_part() {
    if (member_.is_asked()) follow();
  }
  // As long as it lives the session does not cross to the next version of its own accord: what it
  // does meanwhile is all of one version, unless another session writes the next one.
  class Batch {
   public:
    explicit Batch(Session& session) : session_(session) { session.holds_version_ = true; }
    ~Batch() {
      session_.holds_version_ = false;
      session_.take_part();
    }
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

   private:
    Session& session_;
  };
  // Of the last operation that has begun.
  std::uint64_t serial() const noexcept { return member_.serial(); }

  using Completed = std::function<void(std::uint64_t context, Answer answer)>;
  // Goes on with what is pending, as far as that is possible now. Returns how many still are.
  std::size_t complete_pending(const Completed& completed);
  std::size_t pending() const noexcept { return pending_.size() + settled_.size(); }
  // Nobody waits for answers any more: reads are dropped, additions to what is awaited are left to
  // the store, and the rest goes on, as far as that is possible now. True: nothing is pending.
  bool leave();

 private:
  enum class Kind : std::uint8_t { kRead, kAdd, kTake, kKeep };
  static constexpr Address kNoChain = 0;
  struct Operation {
    Operation(Kind of, std::uint64_t of_key, std::uint64_t by, std::uint64_t given)
        : kind(of), key(of_key), delta(by), context(given) {}

    Kind kind;
    std::uint64_t key;
    std::uint64_t delta;
    std::uint64_t context;
    bool is_tombstone = false;  // to be taken, or kept
    bool is_awaiting = false;   // the key's record
    bool reads_any = false;     // a value of any length
    std::vector<std::byte> value =
        {};                     // to be taken or kept, or to be begun with, if not `delta` alone
    Address kept = kNoAddress;  // where the record lies that is to be kept
    // Of the chain's part that memory does not have, which begins at `chain`: where the log began
    // when the chain was looked up, and what is read of it.
    Address chain = kNoChain;
    Address begin = kFirstAddress;
    std::shared_ptr<RecordReader::Ticket> reading;
    // What covers the key, the chain's newest, and below which address the other log has the chain.
    std::optional<Indirection> indirection = std::nullopt;
    Address floor = 0;
    const void* counted = nullptr;  // Elsewhere::state() when the chain was looked up
    std::shared_ptr<OtherLogs::Ticket> asking = nullptr;
  };
  struct Located {
    Record* record = nullptr;  // the key's newest one in memory
    Address address;           // its address, or where the chain leaves memory, or the floor
    // In memory, too: what covers the key, or null, and its floor.
    const Record* indirection = nullptr;
    Address floor = 0;
    const void* counted = nullptr;  // Elsewhere::state()
    bool is_hidden = false;         // it says nothing of the key, whose record is awaited
  };

  // Below the last cut a header's 12 bits of a version may be of 4,096 versions ago: from before
  // the range was elsewhere. (All below it is read-only as well.)
  Address quickly_read_from() const noexcept {
    return std::max(log_.head(), store_.versions().cut_address());
  }
  // What most operations find: the key's record is the first of its chain, at or above `from`, no
  // tombstone, of this session's version, so that it needs no care, and sized (Header::kSized) or
  // not (0). Else null.
  Record* newest_of_own_version(std::uint64_t key, Place place, Address from,
                                std::uint64_t sized = 0) noexcept {
    if (place == nullptr) return nullptr;
    const Address address = IndexEntry(place->load(std::memory_order_acquire)).address();
    if (address < from || address < kFirstAddress) return nullptr;
    Record& record = *reinterpret_cast<Record*>(log_.at(address));
    if (record.key != key) return nullptr;
    constexpr std::uint64_t kLooked = Header::kTombstone | Header::kIndirection | Header::kSized |
                                      Header::kVersionMask << kAddressBits;
    const std::uint64_t differs = record.read_header().word() ^ member_.version_bits() ^ sized;
    return (differs & kLooked) == 0 ? &record : nullptr;
  }
  Located locate(std::uint64_t key, Address newest) noexcept;
  Located locate_once(std::uint64_t key, Address newest) noexcept;
  bool is_too_long(Bytes value) const noexcept { return value.size() > store_.most_value_bytes(); }
  Answer try_read(Operation& operation);
  Answer answer_of(const Operation& operation, Bytes value);
  void copy_if_sampled(std::uint64_t key, const HashIndex::Found& found, Address address,
                       Bytes value);
  void copy_from_device_if_sampled(const Operation& operation, Bytes value);
  void copy_from_elsewhere(const Operation& operation, Bytes value, bool is_tombstone);
  Status try_add(Operation& operation);
  Status try_take(Operation& operation);
  Status try_keep(Operation& operation);
  // What the device's part of a chain has.
  struct Old {
    Status status;  // kPending until it is known; kNotFound, kIoError
    Bytes value{};  // as long as the operation
    bool is_tombstone = false;
    Address address = kNoAddress;
    bool is_elsewhere = false;  // in another store's log
  };
  Old from_device(Operation& operation, const Located& left);
  Old from_elsewhere(Operation& operation);
  Status point_from(const Indirection& part);
  void note_indirection(Operation& operation, const RecordReader::Ticket& read) const;
  // Of a record, if it is an indirection that counts and covers the key.
  std::optional<Address> floor_of(const Indirection& indirection, std::uint64_t key) const noexcept;
  // kPending: the next time the operation looks in the index.
  static Status begin_again(Operation& operation) noexcept;
  // kPending, as long as the key's record is awaited; kIoError: that is given up.
  Status await(Operation& operation) noexcept;
  Status replace(std::uint64_t key, Bytes value, bool is_tombstone);
  // kPending: somebody else has changed the chain, nothing was done. kWrongSize: it is too long.
  Status append(const HashIndex::Found& found, std::uint64_t key, Bytes value, bool is_tombstone);
  // mark: of the header, or 0.
  Status append_marked(const HashIndex::Found& found, std::uint64_t key, Bytes value,
                       std::uint64_t mark);
  Answer carry_on(Operation& operation);
  void carry_on_with_pending(const Completed& tell);
  // Of an operation that has begun.
  Answer carry_out(Operation operation);
  Answer carry_out(Kind kind, std::uint64_t key, std::uint64_t delta, std::uint64_t context);
  void follow();
  void settle();
  void leave_awaited();
  void cross_if_newer(Header header, Address address);
  bool may_change_in_place(Header header, Address address) const noexcept;
  bool may_be_changed_by_others(Header header, Address address) const noexcept;
  bool is_of_own_version(Header header) const noexcept {
    return header.version() == (member_.version() & Header::kVersionMask);
  }

  Store& store_;
  Log& log_;
  Epoch::Thread& thread_;
  Versions::Member member_;
  bool holds_version_ = false;
  bool is_leaving_ = false;  // what is given up would be told to nobody
  std::vector<Operation> pending_;
  // Ended while a cut was prepared; they are not told yet.
  struct Settled {
    std::uint64_t context;
    Answer answer;
    Value value;
  };
  std::vector<Settled> settled_;
  Value value_;  // that was read, or is copied to be changed
};

}  // namespace turntable::hybridlog
