#include "hybridlog/store.h"

#include <utility>

namespace turntable::hybridlog {
namespace {

constexpr std::uint64_t kVersion = 1;

}  // namespace

Store::Store(const StoreSettings& settings, std::unique_ptr<Device> device)
    : device_(std::move(device)),
      epoch_(settings.threads),
      index_(settings.index_buckets),
      log_(settings.log, epoch_, *device_),
      reader_(*device_, settings.reader_threads) {}

Session::Session(Store& store, Epoch::Thread& thread)
    : store_(store), log_(store.log()), thread_(thread) {}

Session::Answer Session::read(std::uint64_t key, std::uint64_t context) {
  Operation operation(Kind::kRead, key, 0, context);
  const Answer answer = try_read(operation);
  if (answer.status == Status::kPending) pending_.push_back(std::move(operation));
  return answer;
}

Status Session::add(std::uint64_t key, std::uint64_t delta, std::uint64_t context) {
  Operation operation(Kind::kAdd, key, delta, context);
  const Status status = try_add(operation);
  if (status == Status::kPending) pending_.push_back(std::move(operation));
  return status;
}

Status Session::upsert(std::uint64_t key, std::uint64_t value) {
  return replace(key, value, /*is_tombstone=*/false);
}

Status Session::erase(std::uint64_t key) {
  if (!store_.index().find(Store::hash_of(key))) return Status::kOk;
  return replace(key, 0, /*is_tombstone=*/true);
}

void Session::prefetch_record(std::uint64_t key) noexcept {
  const HashIndex::Found found = store_.index().find(Store::hash_of(key));
  if (found && found.entry.address() >= log_.head())
    __builtin_prefetch(log_.at(found.entry.address()));
}

std::size_t Session::complete_pending(const Completed& completed) {
  thread_.refresh();
  // `completed` may begin other operations, which become pending behind these.
  std::vector<Operation> before = std::exchange(pending_, {});
  for (Operation& operation : before) {
    const Answer answer = carry_on(operation);
    if (answer.status == Status::kPending) {
      pending_.push_back(std::move(operation));
    } else {
      completed(operation.context, answer);
    }
  }
  return pending_.size();
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
  const HashIndex::Found found = store_.index().find(Store::hash_of(operation.key));
  if (!found) return {Status::kNotFound};
  const Located newest = locate(operation.key, found.entry.address());
  if (newest.record == nullptr) return from_device(operation, newest.address);
  if (newest.record->read_header().is_tombstone()) return {Status::kNotFound};
  return {Status::kOk, newest.record->read()};
}

Status Session::try_add(Operation& operation) {
  HashIndex::Found found = store_.index().find_or_make(Store::hash_of(operation.key));
  for (;; found.read_again()) {
    std::uint64_t before = 0;
    const Located newest = locate(operation.key, found.entry.address());
    if (newest.record == nullptr) {
      const Answer old = from_device(operation, newest.address);
      if (old.status == Status::kPending || old.status == Status::kIoError) return old.status;
      before = old.value;
    } else if (!newest.record->read_header().is_tombstone()) {
      if (newest.address >= log_.read_only()) {
        newest.record->add(operation.delta);
        return Status::kOk;
      }
      if (newest.address >= log_.safe_read_only()) return Status::kPending;
      before = newest.record->read();
    }
    const Status status = append(found, operation.key, before + operation.delta, false);
    if (status != Status::kPending) return status;
  }
}

Status Session::replace(std::uint64_t key, std::uint64_t value, bool is_tombstone) {
  HashIndex::Found found = store_.index().find_or_make(Store::hash_of(key));
  for (;; found.read_again()) {
    const Located newest = locate(key, found.entry.address());
    if (newest.record != nullptr && newest.address >= log_.read_only() &&
        !newest.record->read_header().is_tombstone()) {
      if (is_tombstone) {
        newest.record->mark(Header::kTombstone);
      } else {
        newest.record->write(value);
      }
      return Status::kOk;
    }
    const Status status = append(found, key, value, is_tombstone);
    if (status != Status::kPending) return status;
  }
}

Status Session::append(const HashIndex::Found& found, std::uint64_t key, std::uint64_t value,
                       bool is_tombstone) {
  const std::optional<Address> address = log_.allocate(thread_, sizeof(Record));
  if (!address) return Status::kNoSpace;
  Record& record = *reinterpret_cast<Record*>(log_.at(*address));
  record.key = key;
  record.value = value;
  record.header = Header(found.entry.address(), kVersion, is_tombstone).word();
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
    if (read.record.key == operation.key)
      return header.is_tombstone() ? Answer{Status::kNotFound}
                                   : Answer{Status::kOk, read.record.value};
    address = header.previous();
  }
  if (address < log_.begin()) return {Status::kNotFound};
  operation.reading = store_.reader().read(address);
  return {Status::kPending};
}

}  // namespace turntable::hybridlog
