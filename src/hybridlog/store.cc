#include "hybridlog/store.h"

#include <system_error>
#include <thread>
#include <utility>

#include "hybridlog/recovery.h"

namespace turntable::hybridlog {
namespace {

constexpr std::uint64_t kFirstVersion = 1;
constexpr std::size_t kOwnThreads = 1;  // that makes a checkpoint

Address start_of_next_page(Address address, unsigned page_bits) {
  const Address page = Address{1} << page_bits;
  return (address + page - 1) & ~(page - 1);
}

}  // namespace

Store::Store(const StoreSettings& settings, std::unique_ptr<Device> device)
    : device_(std::move(device)),
      epoch_(settings.threads + kOwnThreads),
      index_(settings.index_buckets),
      log_(settings.log, epoch_, *device_),
      reader_(*device_, settings.reader_threads),
      versions_(kFirstVersion) {}

Store::Store(const StoreSettings& settings, std::unique_ptr<Device> device, const Checkpoint& from)
    : device_(std::move(device)),
      epoch_(settings.threads + kOwnThreads),
      index_(settings.index_buckets),
      log_(settings.log, epoch_, *device_, from.begin,
           start_of_next_page(from.end, settings.log.page_bits)),
      reader_(*device_, settings.reader_threads),
      versions_(from.version + 1, from.serials) {
  recover(from, settings.log.page_bits, *device_, index_);
}

Checkpoint Store::checkpoint() {
  Checkpoint made;
  made.version = versions_.version();
  made.page_bits = log_.settings().page_bits;
  made.begin = log_.begin();
  made.serials = versions_.cut([&] { made.cut = log_.tail(); });
  {
    Epoch::Thread thread(epoch_);
    thread.protect();
    made.end = log_.shift_read_only_to_tail(thread);
  }
  std::error_code error = log_.wait_until_flushed(made.end);
  if (!error) error = device_->sync();
  if (error) throw std::system_error(error, "checkpoint: the log cannot be written");
  return made;
}

Session::Session(Store& store, Epoch::Thread& thread, SessionId id, std::function<void()> wake)
    : store_(store),
      log_(store.log()),
      thread_(thread),
      member_(store.versions(), id, std::move(wake)) {}

Session::~Session() {
  settle();  // its serial says that they have been done
}

Status Session::erase(std::uint64_t key) {
  take_part();
  member_.begin_operation();
  if (!store_.index().find(hash_of(key))) return Status::kOk;
  return replace(key, 0, /*is_tombstone=*/true);
}

// An operation that would be pending is waited for while a cut is prepared.
Session::Answer Session::carry_out(Operation operation) {
  for (;;) {
    const Answer answer = carry_on(operation);
    if (answer.status != Status::kPending) return answer;
    if (!member_.waits()) break;
    thread_.refresh();
    std::this_thread::yield();
  }
  pending_.push_back(std::move(operation));
  return {Status::kPending};
}

void Session::follow() {
  if (store_.versions().phase() == Versions::Phase::kPrepare) {
    settle();
    member_.prepare();
  } else {
    member_.cross(/*in_operation=*/false);
  }
}

// Everything that is pending ends.
void Session::settle() {
  const auto keep = [this](std::uint64_t context, Answer answer) {
    settled_.emplace_back(context, answer);
  };
  while (!pending_.empty()) {
    thread_.refresh();
    carry_on_with_pending(keep);
    if (!pending_.empty()) std::this_thread::yield();
  }
}

std::size_t Session::complete_pending(const Completed& completed) {
  take_part();
  thread_.refresh();
  for (const auto& [context, answer] : std::exchange(settled_, {})) completed(context, answer);
  carry_on_with_pending(completed);
  return pending();
}

// `tell` may begin other operations, which become pending behind these.
void Session::carry_on_with_pending(const Completed& tell) {
  std::vector<Operation> before = std::exchange(pending_, {});
  for (Operation& operation : before) {
    const Answer answer = carry_on(operation);
    if (answer.status == Status::kPending) {
      pending_.push_back(std::move(operation));
    } else {
      tell(operation.context, answer);
    }
  }
}

Session::Answer Session::carry_on(Operation& operation) {
  if (operation.reading && !operation.reading->is_done()) return {Status::kPending};
  return operation.kind == Kind::kRead ? try_read(operation) : Answer{try_add(operation)};
}

// Frames at or above a head that was read under protection stay until this thread refreshes.
Session::Located Session::locate(std::uint64_t key, Address newest) noexcept {
  const Address head = log_.head();
  Address address = newest;
  while (address >= head) {
    Record& record = *reinterpret_cast<Record*>(log_.at(address));
    if (record.key == key) return {&record, address};
    address = record.read_header().previous();
  }
  return {nullptr, address};
}

Session::Answer Session::try_read(Operation& operation) {
  // What the device gave answers for the moment at which it was asked.
  if (operation.reading) return from_device(operation, operation.chain);
  const HashIndex::Found found = store_.index().find(hash_of(operation.key));
  if (!found) return {Status::kNotFound};
  const Located newest = locate(operation.key, found.entry.address());
  if (newest.record == nullptr) return from_device(operation, newest.address);
  const Header header = newest.record->read_header();
  cross_if_newer(header);
  if (header.is_tombstone()) return {Status::kNotFound};
  return {Status::kOk, newest.record->read()};
}

Status Session::try_add(Operation& operation) {
  HashIndex::Found found = store_.index().find_or_make(hash_of(operation.key));
  for (;; found.read_again()) {
    std::uint64_t before = 0;
    const Located newest = locate(operation.key, found.entry.address());
    if (newest.record == nullptr) {
      const Answer old = from_device(operation, newest.address);
      if (old.status == Status::kPending || old.status == Status::kIoError) return old.status;
      before = old.value;
    } else if (const Header header = newest.record->read_header();
               cross_if_newer(header), !header.is_tombstone()) {
      if (may_change_in_place(header, newest.address)) {
        newest.record->add(operation.delta);
        return Status::kOk;
      }
      if (may_be_changed_by_others(header, newest.address)) return Status::kPending;
      before = newest.record->read();
    }
    const Status status = append(found, operation.key, before + operation.delta, false);
    if (status != Status::kPending) return status;
  }
}

Status Session::replace(std::uint64_t key, std::uint64_t value, bool is_tombstone) {
  HashIndex::Found found = store_.index().find_or_make(hash_of(key));
  for (;; found.read_again()) {
    const Located newest = locate(key, found.entry.address());
    if (newest.record != nullptr) {
      const Header header = newest.record->read_header();
      cross_if_newer(header);
      if (may_change_in_place(header, newest.address) && !header.is_tombstone()) {
        if (is_tombstone) {
          newest.record->mark(Header::kTombstone);
        } else {
          newest.record->write(value);
        }
        return Status::kOk;
      }
    }
    const Status status = append(found, key, value, is_tombstone);
    if (status != Status::kPending) return status;
  }
}

// Another session is in the next version already. This one is prepared: nothing else is pending.
void Session::cross_if_newer(Header header) {
  if (header.version() == ((member_.version() + 1) & Header::kVersionMask))
    member_.cross(/*in_operation=*/true);
}

bool Session::may_change_in_place(Header header, Address address) const noexcept {
  return is_of_own_version(header) && address >= log_.read_only();
}

// Of what this session may not change in place.
bool Session::may_be_changed_by_others(Header header, Address address) const noexcept {
  if (address < log_.safe_read_only()) return false;
  return is_of_own_version(header) || store_.versions().stable() + 1 < member_.version();
}

Status Session::append(const HashIndex::Found& found, std::uint64_t key, std::uint64_t value,
                       bool is_tombstone) {
  const std::optional<Address> address = log_.allocate(thread_, sizeof(Record));
  if (!address) return Status::kNoSpace;
  Record& record = *reinterpret_cast<Record*>(log_.at(*address));
  record.key = key;
  record.value = value;
  record.header = Header(found.entry.address(), member_.version(), is_tombstone).word();
  if (found.replace(*address)) return Status::kOk;
  record.mark(Header::kInvalid);
  return Status::kPending;
}

Session::Answer Session::from_device(Operation& operation, Address chain) {
  if (operation.chain != chain) {  // nothing is known of it, or it is another one by now
    operation.chain = chain;
    operation.reading.reset();
  }
  Address address = chain;
  if (operation.reading) {
    const RecordReader::Ticket& read = *operation.reading;
    if (!read.is_done()) return {Status::kPending};
    if (read.error) return {Status::kIoError};
    const Header header(read.record.header);
    // Invalid is what a recovery has left out.
    if (read.record.key == operation.key && !header.is_invalid()) {
      cross_if_newer(header);
      return header.is_tombstone() ? Answer{Status::kNotFound}
                                   : Answer{Status::kOk, read.record.value};
    }
    address = header.previous();
  }
  if (address < log_.begin()) return {Status::kNotFound};
  operation.reading = store_.reader().read(address);
  return {Status::kPending};
}

}  // namespace turntable::hybridlog
