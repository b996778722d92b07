#include "hybridlog/store.h"

#include <algorithm>
#include <bit>
#include <future>
#include <span>
#include <system_error>
#include <thread>
#include <utility>

#include "hybridlog/recovery.h"
#include "hybridlog/sized_value.h"

namespace turntable::hybridlog {
namespace {

constexpr std::uint64_t kFirstVersion = 1;
constexpr std::size_t kOwnThreads = 1;  // that makes a checkpoint
constexpr std::uint64_t kNoValue = 0;   // of a tombstone

Address start_of_next_page(Address address, unsigned page_bits) {
  const Address page = Address{1} << page_bits;
  return (address + page - 1) & ~(page - 1);
}

ReaderSettings reader_settings(const StoreSettings& settings) {
  return {.under_way = settings.reader_threads,
          .uses_uring = settings.uses_uring,
          .most_value_bytes = settings.log.most_value_bytes()};
}

// Of a record in memory.
Indirection indirection_of(const Record& record) noexcept {
  return Indirection::of(record.key, reinterpret_cast<const std::byte*>(&record + 1));
}

// What is on the device where there was no record is of nobody.
Address begin_after(const Checkpoint& from, unsigned page_bits) {
  return from.begin == from.end ? start_of_next_page(from.end, page_bits) : from.begin;
}

}  // namespace

Store::Store(const StoreSettings& settings, std::unique_ptr<Device> device)
    : device_(std::move(device)),
      epoch_(settings.threads + kOwnThreads),
      index_(settings.index_buckets),
      log_(settings.log, epoch_, *device_),
      reader_(open_record_reader(*device_, reader_settings(settings))),
      versions_(kFirstVersion, log_.tail()) {}

Store::Store(const StoreSettings& settings, std::unique_ptr<Device> device, const Checkpoint& from)
    : device_(std::move(device)),
      epoch_(settings.threads + kOwnThreads),
      index_(settings.index_buckets),
      log_(settings.log, epoch_, *device_, begin_after(from, settings.log.page_bits),
           start_of_next_page(from.end, settings.log.page_bits)),
      reader_(open_record_reader(*device_, reader_settings(settings))),
      versions_(from.version + 1, log_.tail(), from.serials),
      awaited_(from.left) {
  recovered_ = recover(from, settings, *device_, index_);
}

// Who has allocated a record below `from` has put it into the index before it refreshes.
IndexFile Store::write_index(const std::string& path, const std::stop_token& stop) {
  const Address from = log_.tail();
  const auto all_refreshed = std::make_shared<std::promise<void>>();
  epoch_.bump([all_refreshed] { all_refreshed->set_value(); });
  all_refreshed->get_future().wait();
  return hybridlog::write_index(path, index_, from, stop);
}

Checkpoint Store::checkpoint(const CutSteps& steps) {
  Checkpoint made;
  made.version = versions_.version();
  made.page_bits = log_.settings().page_bits;
  made.index_buckets = index_.buckets();
  made.begin = log_.begin();
  versions_.forget_ended(Versions::Clock::now() - kRemembered);
  auto serials = versions_.cut(
      [&] {
        made.cut = log_.tail();
        steps.all_prepared();
        // What is left from here on is of the next version: whoever waits crosses first.
        made.left = awaited_.left();
        return made.cut;
      },
      steps.gives_up);
  if (!serials) {
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                            "checkpoint: operations wait for another store, which does not answer; "
                            "try again later");
  }
  made.serials = *std::move(serials);
  steps.all_crossed();
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
  while (!leave()) {
    thread_.refresh();
    std::this_thread::yield();
  }
}

// The serial number says that all have been done.
bool Session::leave() {
  is_leaving_ = true;
  settled_.clear();
  std::erase_if(pending_, [](const Operation& operation) { return operation.kind == Kind::kRead; });
  carry_on_with_pending([](std::uint64_t, Answer) {});
  leave_awaited();
  return pending_.empty();
}

void Session::leave_awaited() {
  std::erase_if(pending_, [this](const Operation& operation) {
    return operation.is_awaiting &&
           store_.awaited().leave({operation.key, operation.delta, operation.value});
  });
}

Status Session::erase(std::uint64_t key) {
  take_part();
  member_.begin_operation();
  const std::uint64_t hash = hash_of(key);
  // What comes of the key later must find that it was deleted.
  if (!store_.index().find(hash) && !store_.awaited().covers(hash)) return Status::kOk;
  return replace(key, bytes_of(kNoValue), /*is_tombstone=*/true);
}

Status Session::take(std::uint64_t key, Bytes value, bool is_tombstone, std::uint64_t context) {
  take_part();
  if (is_too_long(value)) return Status::kWrongSize;
  Operation operation(Kind::kTake, key, kNoValue, context);
  operation.is_tombstone = is_tombstone;
  if (is_tombstone) value = bytes_of(kNoValue);
  operation.value.assign(value.begin(), value.end());
  return carry_out(std::move(operation)).status;
}

Status Session::keep(std::uint64_t key, Bytes value, bool is_tombstone, Address address,
                     std::uint64_t context) {
  take_part();
  Operation operation(Kind::kKeep, key, kNoValue, context);
  operation.is_tombstone = is_tombstone;
  operation.kept = address;
  operation.value.assign(value.begin(), value.end());
  return carry_out(std::move(operation)).status;
}

Status Session::point(const Indirection& to) {
  take_part();
  const std::uint64_t buckets = store_.index().buckets();
  for (std::uint64_t more = 0; more == 0 || more < buckets; more += to.mask() + 1) {
    Indirection part = to;
    if (more != 0 || buckets > to.mask() + 1) {
      part.hash |= more;
      part.bits = static_cast<std::uint32_t>(std::countr_zero(buckets));
    }
    if (const Status status = point_from(part); status != Status::kOk) return status;
  }
  return Status::kOk;
}

// Not a second time where memory has it: it may be sent again because the answer was late.
Status Session::point_from(const Indirection& part) {
  const Indirection::Words value = part.value();
  for (HashIndex::Found found = store_.index().find_or_make(part.hash);; found.read_again()) {
    const Address head = log_.head();
    for (Address at = found.entry.address(); at >= head;) {
      Record& record = *reinterpret_cast<Record*>(log_.at(at));
      const Header header = record.read_header();
      if (header.is_indirection() && indirection_of(record) == part) return Status::kOk;
      at = header.previous();
    }
    const Status status =
        append_marked(found, part.hash, std::as_bytes(std::span(value)), Header::kIndirection);
    if (status != Status::kPending) return status;
  }
}

Session::Answer Session::read_value(std::uint64_t key, std::uint64_t context, Place place) {
  take_part();
  member_.begin_operation();
  if (Record* const record =
          newest_of_own_version(key, place, quickly_read_from(), Header::kSized)) {
    SizedValue(*record).read(value_);
    return {Status::kOk, value_.number()};
  }
  Operation operation(Kind::kRead, key, 0, context);
  operation.reads_any = true;
  return carry_out(std::move(operation));
}

Status Session::upsert_value(std::uint64_t key, Bytes value, Place place) {
  if (value.size() == sizeof(Record::value)) return upsert(key, number_of(value), place);
  take_part();
  member_.begin_operation();
  if (is_too_long(value)) return Status::kWrongSize;
  if (Record* const record = newest_of_own_version(key, place, log_.read_only(), Header::kSized))
    if (write_value(*record, Header(Header::kSized), value)) return Status::kOk;
  return replace(key, value, /*is_tombstone=*/false);
}

Status Session::add_to_value(std::uint64_t key, Bytes value, std::uint64_t context, Place place) {
  if (value.size() == sizeof(Record::value)) return add(key, number_of(value), context, place);
  take_part();
  member_.begin_operation();
  if (value.size() < sizeof(Record::value) || is_too_long(value)) return Status::kWrongSize;
  const std::uint64_t delta = number_of(value);
  if (Record* const record = newest_of_own_version(key, place, log_.read_only(), Header::kSized))
    return add_to(*record, Header(Header::kSized), delta) ? Status::kOk : Status::kWrongSize;
  Operation operation(Kind::kAdd, key, delta, context);
  operation.value.assign(value.begin(), value.end());
  return carry_out(std::move(operation)).status;
}

// An operation that would be pending is waited for while a cut is prepared; or until sessions
// cross, if it waits for another store: that may be dead. (A batch of a range that just leaves has
// none of these: who gives it away has all of it, and has resolved all before.)
Session::Answer Session::carry_out(Operation operation) {
  for (;;) {
    const Answer answer = carry_on(operation);
    if (answer.status != Status::kPending) return answer;
    const bool is_of_another_store = operation.asking != nullptr || operation.is_awaiting;
    if (is_of_another_store && store_.versions().phase() == Versions::Phase::kCross &&
        member_.waits())
      member_.cross(/*in_operation=*/true);
    if (!member_.waits()) break;
    thread_.refresh();
    std::this_thread::yield();
  }
  pending_.push_back(std::move(operation));
  return {Status::kPending};
}

// Not where it is called: most operations do not get here.
Session::Answer Session::carry_out(Kind kind, std::uint64_t key, std::uint64_t delta,
                                   std::uint64_t context) {
  return carry_out(Operation(kind, key, delta, context));
}

void Session::follow() {
  const Versions::Phase phase = store_.versions().phase();
  if (phase == Versions::Phase::kPrepare) {
    settle();
    if (pending_.empty()) member_.prepare();
  } else if (phase == Versions::Phase::kCross && !holds_version_) {
    member_.cross(/*in_operation=*/false);
  }
}

// Everything that is pending ends, unless the cut is given up.
void Session::settle() {
  const auto keep = [this](std::uint64_t context, Answer answer) {
    settled_.push_back({context, answer, value_});
  };
  while (!pending_.empty() && store_.versions().phase() == Versions::Phase::kPrepare) {
    thread_.refresh();
    carry_on_with_pending(keep);
    if (is_leaving_) leave_awaited();
    if (!pending_.empty()) std::this_thread::yield();
  }
}

std::size_t Session::complete_pending(const Completed& completed) {
  take_part();
  thread_.refresh();
  for (Settled& each : std::exchange(settled_, {})) {
    value_ = std::move(each.value);
    completed(each.context, each.answer);
  }
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
  // Once others count, what was asked for may be here.
  if (operation.asking && !operation.asking->is_done() &&
      operation.counted == store_.elsewhere().state())
    return {Status::kPending};
  switch (operation.kind) {
    case Kind::kRead:
      return try_read(operation);
    case Kind::kAdd:
      return {try_add(operation)};
    case Kind::kTake:
      return {try_take(operation)};
    case Kind::kKeep:
      return {try_keep(operation)};
  }
  return {Status::kIoError};
}

Status Session::begin_again(Operation& operation) noexcept {
  operation.chain = kNoChain;
  operation.reading.reset();
  return Status::kPending;
}

Status Session::await(Operation& operation) noexcept {
  if (!is_leaving_ && store_.awaited().is_given_up()) return Status::kIoError;
  operation.is_awaiting = true;
  return begin_again(operation);
}

// What is awaited has come once indirection records count: so whoever has not seen them count, and
// does not find it awaited any more, looks again.
Session::Located Session::locate(std::uint64_t key, Address newest) noexcept {
  for (;;) {
    const void* const counted = store_.elsewhere().state();
    Located at = locate_once(key, newest);
    at.counted = counted;
    at.is_hidden = store_.awaited().is_any() && store_.awaited().hides(hash_of(key), at.address);
    if (store_.elsewhere().state() == counted) return at;
  }
}

// Frames at or above a head that was read under protection stay until this thread refreshes.
Session::Located Session::locate_once(std::uint64_t key, Address newest) noexcept {
  const Address head = log_.head();
  Located at{.address = newest};
  while (at.address >= std::max(head, at.floor)) {
    Record& record = *reinterpret_cast<Record*>(log_.at(at.address));
    const Header header = record.read_header();
    if (header.is_indirection()) {
      const auto floor =
          at.indirection == nullptr ? floor_of(indirection_of(record), key) : std::nullopt;
      if (floor) {
        at.indirection = &record;
        at.floor = *floor;
      }
    } else if (record.key == key) {
      at.record = &record;
      return at;
    }
    at.address = header.previous();
  }
  return at;
}

std::optional<Address> Session::floor_of(const Indirection& indirection,
                                         std::uint64_t key) const noexcept {
  const std::optional<Address> floor = store_.elsewhere().floor_of(indirection.migration);
  return floor && indirection.covers(hash_of(key)) ? floor : std::nullopt;
}

Session::Answer Session::try_read(Operation& operation) {
  const std::uint64_t hash = hash_of(operation.key);
  const auto of_device = [&](const Located& left) -> Answer {
    const Old old = from_device(operation, left);
    if (old.status != Status::kOk) return {old.status};
    if (old.is_elsewhere) copy_from_elsewhere(operation, old.value, old.is_tombstone);
    if (old.is_tombstone) return {Status::kNotFound};
    if (!old.is_elsewhere) copy_from_device_if_sampled(operation, old.value);
    return answer_of(operation, old.value);
  };
  operation.is_awaiting = false;
  // What the device gave answers for the moment at which it was asked.
  if (operation.reading) return of_device({.address = operation.chain});
  // Before the chain is looked at: where it is not awaited any more by then, it has another head.
  const bool was_awaited = store_.awaited().covers(hash);
  const HashIndex::Found found = store_.index().find(hash);
  if (!found) return {was_awaited ? await(operation) : Status::kNotFound};
  const Located newest = locate(operation.key, found.entry.address());
  if (newest.is_hidden || (was_awaited && !store_.awaited().covers(hash)))
    return {await(operation)};
  if (newest.record == nullptr) return of_device(newest);
  const Header header = newest.record->read_header();
  cross_if_newer(header, newest.address);
  if (header.is_tombstone()) return {Status::kNotFound};
  if (!operation.reads_any && !header.is_sized()) {
    const std::uint64_t value = newest.record->read();
    copy_if_sampled(operation.key, found, newest.address, bytes_of(value));
    return {Status::kOk, value};
  }
  read_value_of(*newest.record, header, value_);
  copy_if_sampled(operation.key, found, newest.address, value_.bytes());
  return answer_of(operation, value_.bytes());
}

// An addition of 0 to a record that nobody changes any more. It may fail: nothing depends on it.
void Session::copy_if_sampled(std::uint64_t key, const HashIndex::Found& found, Address address,
                              Bytes value) {
  if (!store_.sampling().wants(hash_of(key), address)) return;
  if (address < log_.safe_read_only()) append(found, key, value, /*is_tombstone=*/false);
}

// Unless the key may have a newer record by now.
void Session::copy_from_device_if_sampled(const Operation& operation, Bytes value) {
  const std::uint64_t hash = hash_of(operation.key);
  const Address address = operation.reading->address;
  if (!store_.sampling().wants(hash, address)) return;
  const HashIndex::Found found = store_.index().find(hash);
  const Located newest = locate(operation.key, found.entry.address());
  if (newest.record == nullptr && newest.address == operation.chain)
    copy_if_sampled(operation.key, found, address, value);
}

// What another store has had of the key becomes this one's, unless the key may have a newer record
// by now. It may fail: then it is asked for once more.
void Session::copy_from_elsewhere(const Operation& operation, Bytes value, bool is_tombstone) {
  const HashIndex::Found found = store_.index().find(hash_of(operation.key));
  const Located newest = locate(operation.key, found.entry.address());
  if (newest.record == nullptr && newest.address == operation.chain)
    append(found, operation.key, value, is_tombstone);
}

// value: may be that of value_.
Session::Answer Session::answer_of(const Operation& operation, Bytes value) {
  if (operation.reads_any) {
    if (value.data() != value_.bytes().data()) value_.assign(value);
    return {Status::kOk, value_.number()};
  }
  if (value.size() != sizeof(Record::value)) return {Status::kWrongSize, value.size()};
  return {Status::kOk, number_of(value)};
}

Status Session::try_add(Operation& operation) {
  const std::uint64_t hash = hash_of(operation.key);
  operation.is_awaiting = false;
  HashIndex::Found found = store_.index().find_or_make(hash);
  for (;; found.read_again()) {
    bool is_there = false;  // value_ has what it is
    const Located newest = locate(operation.key, found.entry.address());
    if (newest.is_hidden) return await(operation);
    if (newest.record == nullptr) {
      const Old old = from_device(operation, newest);
      if (old.status == Status::kPending || old.status == Status::kIoError) return old.status;
      is_there = old.status == Status::kOk && !old.is_tombstone;
      if (is_there) value_.assign(old.value);
    } else if (const Header header = newest.record->read_header();
               cross_if_newer(header, newest.address), !header.is_tombstone()) {
      if (may_change_in_place(header, newest.address)) {
        return add_to(*newest.record, header, operation.delta) ? Status::kOk : Status::kWrongSize;
      }
      if (may_be_changed_by_others(header, newest.address)) return Status::kPending;
      is_there = true;
      read_value_of(*newest.record, header, value_);
    }
    if (!is_there) {
      value_.assign(operation.value.empty() ? bytes_of(operation.delta) : operation.value);
    } else if (!value_.add(operation.delta)) {
      return Status::kWrongSize;
    }
    const Status status = append(found, operation.key, value_.bytes(), false);
    if (status != Status::kPending) return status;
  }
}

// Where the key has a record of its own here, that one is newer.
Status Session::try_take(Operation& operation) {
  const std::uint64_t hash = hash_of(operation.key);
  HashIndex::Found found = store_.index().find_or_make(hash);
  for (;; found.read_again()) {
    const Located newest = locate(operation.key, found.entry.address());
    if (!newest.is_hidden) {
      if (newest.record != nullptr) {
        cross_if_newer(newest.record->read_header(), newest.address);
        return Status::kOk;
      }
      const Old old = from_device(operation, newest);
      if (old.status != Status::kNotFound) return old.status;
    }
    const Status status = append(found, operation.key, operation.value, operation.is_tombstone);
    if (status != Status::kPending) return status;
  }
}

// Every record of the key that is newer lies before it in the chain.
Status Session::try_keep(Operation& operation) {
  HashIndex::Found found = store_.index().find(hash_of(operation.key));
  if (!found) return Status::kNotFound;
  for (;; found.read_again()) {
    const Located newest = locate(operation.key, found.entry.address());
    Address address = newest.address;
    if (newest.record == nullptr) {
      const Old old = from_device(operation, newest);
      if (old.status != Status::kOk) return old.status;
      address = old.address;
    }
    if (address != operation.kept) return Status::kNotFound;
    const Status status = append(found, operation.key, operation.value, operation.is_tombstone);
    if (status != Status::kPending) return status;
  }
}

Status Session::replace(std::uint64_t key, Bytes value, bool is_tombstone) {
  HashIndex::Found found = store_.index().find_or_make(hash_of(key));
  for (;; found.read_again()) {
    const Located newest = locate(key, found.entry.address());
    if (newest.record != nullptr) {
      const Header header = newest.record->read_header();
      cross_if_newer(header, newest.address);
      if (may_change_in_place(header, newest.address) && !header.is_tombstone()) {
        if (is_tombstone) newest.record->mark(Header::kTombstone);
        if (is_tombstone || write_value(*newest.record, header, value)) return Status::kOk;
      }
    }
    const Status status = append(found, key, value, is_tombstone);
    if (status != Status::kPending) return status;
  }
}

// Another session is in the next version already. This one is prepared: nothing else is pending.
// Below the cut the same bits are those of a version of long ago (hybridlog/versions.h).
void Session::cross_if_newer(Header header, Address address) {
  if (header.version() == ((member_.version() + 1) & Header::kVersionMask) &&
      address >= store_.versions().cut_address())
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

// The header is written last: who goes through the log meanwhile must know how long a record is,
// and whose. Each word is written at once, for the same reason. A value of another store may be
// longer than this one's: no page would have room for it, or no read would give it.
Status Session::append_marked(const HashIndex::Found& found, std::uint64_t key, Bytes value,
                              std::uint64_t mark) {
  const bool is_sized = value.size() != sizeof(Record::value);
  if (is_sized && is_too_long(value)) return Status::kWrongSize;
  const std::size_t bytes = is_sized ? Record::bytes_of_sized(value.size()) : sizeof(Record);
  const std::optional<Address> address = log_.allocate(thread_, bytes);
  if (!address) return Status::kNoSpace;
  Record& record = *reinterpret_cast<Record*>(log_.at(*address));
  std::atomic_ref(record.key).store(key, std::memory_order_relaxed);
  Header header(Header(found.entry.address(), member_.version()).word() | mark);
  if (is_sized) {
    SizedValue(record).begin(value);
    header = Header(header.word() | Header::kSized);
  } else {
    std::atomic_ref(record.value).store(number_of(value), std::memory_order_relaxed);
  }
  std::atomic_ref(record.header).store(header.word(), std::memory_order_release);
  if (found.replace(*address)) return Status::kOk;
  record.mark(Header::kInvalid);
  return Status::kPending;
}

Status Session::append(const HashIndex::Found& found, std::uint64_t key, Bytes value,
                       bool is_tombstone) {
  return append_marked(found, key, value, is_tombstone ? Header::kTombstone : 0);
}

// What was looked up in the index before the log's begin moved may be written again above it since:
// only what lay below the begin of that time is known not to be there.
Session::Old Session::from_device(Operation& operation, const Located& left) {
  if (operation.chain != left.address) {  // nothing is known of it, or it is another one by now
    operation.chain = left.address;
    operation.begin = log_.begin();
    operation.reading.reset();
    operation.indirection.reset();
    operation.counted = left.counted;
  }
  // Others count by now: what was passed may be one of them.
  const auto is_overtaken = [&] { return operation.counted != store_.elsewhere().state(); };
  if (is_overtaken()) return {begin_again(operation)};
  if (left.indirection != nullptr) {
    operation.indirection = indirection_of(*left.indirection);
    operation.floor = left.floor;
  }
  Address address = left.address;
  if (operation.reading) {
    const RecordReader::Ticket& read = *operation.reading;
    if (!read.is_done()) return {Status::kPending};
    // Nobody's: it may have been given back before it was read.
    if (read.address < log_.begin()) return {begin_again(operation)};
    const Header header(read.record.header);
    if (read.error || header.is_nothing()) return {Status::kIoError};
    // Invalid is what a recovery has left out.
    if (header.is_indirection() && !header.is_invalid()) {
      note_indirection(operation, read);
    } else if (read.record.key == operation.key && !header.is_invalid()) {
      cross_if_newer(header, read.address);
      return {Status::kOk, read.value(), header.is_tombstone(), read.address};
    }
    address = header.previous();
  }
  if (store_.awaited().hides(hash_of(operation.key), address)) {
    const bool waits = operation.kind == Kind::kRead || operation.kind == Kind::kAdd;
    return {waits ? await(operation) : Status::kNotFound};
  }
  if (is_overtaken()) return {begin_again(operation)};
  const bool is_elsewhere = operation.indirection.has_value();
  if (address < operation.begin || (is_elsewhere && address < operation.floor))
    return is_elsewhere ? from_elsewhere(operation) : Old{Status::kNotFound};
  if (address < log_.begin()) return {begin_again(operation)};
  // Who keeps a record has read it.
  if (operation.kind == Kind::kKeep && address <= operation.kept)
    return {Status::kOk, operation.value, operation.is_tombstone, address};
  operation.reading = store_.reader().read(address);
  return {Status::kPending};
}

// The newest one of the chain counts.
void Session::note_indirection(Operation& operation, const RecordReader::Ticket& read) const {
  if (operation.indirection || read.value().size() != Indirection::kBytes) return;
  const Indirection found = Indirection::of(read.record.key, read.value().data());
  const std::optional<Address> floor = floor_of(found, operation.key);
  if (!floor) return;
  operation.indirection = found;
  operation.floor = *floor;
}

// What is asked for does not change there: where the chain begins here does not matter.
Session::Old Session::from_elsewhere(Operation& operation) {
  // This log has nothing of the key.
  if (operation.kind == Kind::kTake || operation.kind == Kind::kKeep) return {Status::kNotFound};
  if (!operation.asking || operation.asking->indirection != *operation.indirection) {
    OtherLogs* const logs = store_.elsewhere().logs();
    if (logs == nullptr) return {Status::kIoError};
    operation.asking = logs->read(*operation.indirection, operation.key);
  }
  const OtherLogs::Ticket& asked = *operation.asking;
  if (!asked.is_done()) return {Status::kPending};
  switch (asked.found) {
    case OtherLogs::Found::kValue:
      return {.status = Status::kOk, .value = asked.value.bytes(), .is_elsewhere = true};
    case OtherLogs::Found::kNothing:
      return {.status = Status::kOk,
              .value = bytes_of(kNoValue),
              .is_tombstone = true,
              .is_elsewhere = true};
    case OtherLogs::Found::kGone:
      operation.asking.reset();
      return {begin_again(operation)};
    case OtherLogs::Found::kError:
      break;
  }
  return {Status::kIoError};
}

}  // namespace turntable::hybridlog
