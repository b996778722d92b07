#include "farreach/kv/record_store.h"

#include <algorithm>

namespace turntable::kv {
namespace {

// While these are applied the worker waits: some tenths of a millisecond.
constexpr std::size_t kAppliedAtOnce = 128;

constexpr const char* kFence = "fence";  // a fact of the store

// Nothing if `stored` is no record.
bool decode_record(std::span<const std::uint8_t> stored, Record& record) {
  if (stored.size() < kRecordTrailerBytes) return false;
  const auto trailer = stored.last<kRecordTrailerBytes>();
  record.value = stored.first(stored.size() - kRecordTrailerBytes);
  record.number = 0;
  for (const std::uint8_t byte : trailer.first<4>()) record.number = record.number << 8 | byte;
  record.exists = trailer[4] != 0;
  return true;
}

std::span<const std::uint8_t> bytes_of(const rocksdb::Slice& slice) {
  return {reinterpret_cast<const std::uint8_t*>(slice.data()), slice.size()};
}

}  // namespace

void encode_trailer(std::uint32_t number, bool exists,
                    std::span<std::uint8_t, kRecordTrailerBytes> out) {
  for (unsigned i = 0; i < 4; ++i) out[i] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
  out[4] = exists ? 1 : 0;
}

RecordStore::RecordStore(Store& store, bool is_fresh) : store_(store), largest_is_known_(is_fresh) {
  std::string fence;
  if (store_.get_fact(kFence, fence) == Store::Result::kOk) {
    fence_ = static_cast<std::uint32_t>(std::stoul(fence));
  }
}

RecordStore::~RecordStore() {
  for (const Snapshot& snapshot : snapshots_) store_.release(snapshot.at);
}

Store::Result RecordStore::checked(Store::Result result, std::span<const std::uint8_t> stored,
                                   Record& record) const {
  record = {};
  if (result != Store::Result::kOk || decode_record(stored, record)) return result;
  return store_.fail(rocksdb::Status::Corruption("a record is shorter than its number"));
}

Store::Result RecordStore::get(const workload::KeyBytes& key, Record& record) {
  const std::lock_guard lock(mutex_);
  std::span<const std::uint8_t> stored;
  const Store::Result result = store_.get(key, stored);
  return checked(result, stored, record);
}

Store::Result RecordStore::fetch(const workload::KeyBytes& key, std::vector<std::uint8_t>& bytes,
                                 Record& record) {
  const std::lock_guard lock(mutex_);
  rocksdb::PinnableSlice stored;
  const Store::Result result = store_.read(key, stored);
  bytes.assign(bytes_of(stored).begin(), bytes_of(stored).end());
  return checked(result, bytes, record);
}

Store::Result RecordStore::fetch_at(std::uint32_t token, const workload::KeyBytes& key,
                                    std::vector<std::uint8_t>& bytes, Record& record) {
  const std::lock_guard lock(mutex_);
  const rocksdb::Snapshot* const snapshot = snapshot_of(token);
  record = {};
  if (snapshot == nullptr) return Store::Result::kNotFound;
  rocksdb::PinnableSlice stored;
  const Store::Result result = store_.read(key, stored, snapshot);
  bytes.assign(bytes_of(stored).begin(), bytes_of(stored).end());
  return checked(result, bytes, record);
}

RecordStore::Applied RecordStore::apply(const workload::KeyBytes& key, const Record& record,
                                        std::uint32_t snapshot_token) {
  const std::lock_guard lock(mutex_);
  if (is_fenced_locked(record.number)) return {Store::Result::kOk, false, true};
  if (snapshot_token > last_token_) snapshot_locked(snapshot_token);
  old_.Reset();
  Record old;
  const Store::Result read = store_.read(key, old_);
  const Store::Result found = checked(read, bytes_of(old_), old);
  if (found == Store::Result::kError) return {found, false};
  if (found == Store::Result::kOk && record.number <= old.number) {
    return {Store::Result::kOk, false};
  }
  largest_number_ = std::max(largest_number_, record.number);
  return {store_.put(key, stored_form(record)), true};
}

bool RecordStore::is_fenced(std::uint32_t number) const {
  const std::lock_guard lock(mutex_);
  return is_fenced_locked(number);
}

Store::Result RecordStore::fence(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  if (number <= fence_) return store_.failed() ? Store::Result::kError : Store::Result::kOk;
  const Store::Result kept = store_.put_fact(kFence, std::to_string(number));
  if (kept == Store::Result::kOk) fence_ = number;
  return kept;
}

// Valid until the next call.
std::span<const std::uint8_t> RecordStore::stored_form(const Record& record) {
  const std::size_t value_bytes = record.value.size();
  buffer_.resize(value_bytes + kRecordTrailerBytes);
  std::copy(record.value.begin(), record.value.end(), buffer_.begin());
  encode_trailer(record.number, record.exists,
                 std::span(buffer_).subspan(value_bytes).first<kRecordTrailerBytes>());
  return buffer_;
}

RecordStore::AppliedAll RecordStore::apply_all(std::vector<Update> updates) {
  std::sort(updates.begin(), updates.end(), [](const Update& one, const Update& other) {
    if (one.key != other.key) return one.key < other.key;
    return one.record.number > other.record.number;
  });
  const auto older =
      std::unique(updates.begin(), updates.end(),
                  [](const Update& one, const Update& other) { return one.key == other.key; });
  updates.erase(older, updates.end());
  AppliedAll all{Store::Result::kOk, 0};
  for (auto rest = std::span<const Update>(updates); !rest.empty();) {
    const auto some = rest.first(std::min(rest.size(), kAppliedAtOnce));
    const AppliedAll applied = apply_sorted(some);
    all.newer += applied.newer;
    all.missed += applied.missed;
    if (applied.result != Store::Result::kOk) return {applied.result, all.newer, all.missed};
    rest = rest.subspan(some.size());
  }
  return all;
}

RecordStore::AppliedAll RecordStore::apply_sorted(std::span<const Update> updates) {
  std::vector<rocksdb::Slice> keys;
  keys.reserve(updates.size());
  for (const Update& update : updates) {
    keys.emplace_back(reinterpret_cast<const char*>(update.key.data()), update.key.size());
  }
  std::vector<rocksdb::PinnableSlice> stored(updates.size());
  std::vector<rocksdb::Status> found(updates.size());
  const std::lock_guard lock(mutex_);
  const Store::Result read = store_.read_all(keys, stored, found);
  if (read != Store::Result::kOk) return {read, 0};
  rocksdb::WriteBatch batch;
  std::size_t missed = 0;
  for (std::size_t i = 0; i < updates.size(); ++i) {
    const Record& record = updates[i].record;
    if (found[i].ok()) {
      Record old;
      const Store::Result well = checked(Store::Result::kOk, bytes_of(stored[i]), old);
      if (well != Store::Result::kOk) return {well, 0};
      if (record.number <= old.number) continue;
    }
    if (is_fenced_locked(record.number)) {
      ++missed;
      continue;
    }
    const auto bytes = stored_form(record);
    const auto status =
        batch.Put(keys[i], {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (!status.ok()) return {store_.fail(status), 0};
    largest_number_ = std::max(largest_number_, record.number);
  }
  const auto newer = static_cast<std::size_t>(batch.Count());
  if (newer == 0) return {Store::Result::kOk, 0, missed};
  return {store_.write(batch), newer, missed};
}

Store::Result RecordStore::take_snapshot(std::uint32_t token) {
  const std::lock_guard lock(mutex_);
  if (store_.failed()) return Store::Result::kError;
  if (token > last_token_) snapshot_locked(token);
  return Store::Result::kOk;
}

void RecordStore::snapshot_locked(std::uint32_t token) {
  last_token_ = token;
  snapshots_.push_back({token, store_.snapshot()});
}

void RecordStore::release_snapshots(std::uint32_t token, std::uint32_t kept) {
  const std::lock_guard lock(mutex_);
  snapshots_.remove_if([&](const Snapshot& snapshot) {
    if (snapshot.token >= token || snapshot.token == kept) return false;
    store_.release(snapshot.at);
    return true;
  });
}

const rocksdb::Snapshot* RecordStore::snapshot_of(std::uint32_t token) const {
  const auto found = std::find_if(snapshots_.begin(), snapshots_.end(),
                                  [&](const Snapshot& s) { return s.token == token; });
  return found == snapshots_.end() ? nullptr : found->at;
}

Store::Result RecordStore::for_each_at(std::uint32_t token, const Visit& visit) {
  const std::lock_guard lock(mutex_);
  const rocksdb::Snapshot* const snapshot = snapshot_of(token);
  if (snapshot == nullptr) return Store::Result::kNotFound;
  return for_each_locked(visit, snapshot);
}

Store::Result RecordStore::largest_number(std::uint32_t& number) {
  const std::lock_guard lock(mutex_);
  const Store::Result read = largest_is_known_ ? Store::Result::kOk : read_largest_number();
  number = std::max(largest_number_, fence_);
  return store_.failed() ? Store::Result::kError : read;
}

Store::Result RecordStore::read_largest_number() {
  const Store::Result read = for_each_locked([&](const workload::KeyBytes&, const Record& record) {
    largest_number_ = std::max(largest_number_, record.number);
  });
  largest_is_known_ = read == Store::Result::kOk;
  return read;
}

Store::Result RecordStore::for_each_locked(const Visit& visit, const rocksdb::Snapshot* snapshot) {
  Store::Result well = Store::Result::kOk;
  const auto visit_stored = [&](const workload::KeyBytes& key,
                                std::span<const std::uint8_t> stored) {
    Record record;
    well = checked(Store::Result::kOk, stored, record);
    if (well == Store::Result::kOk) visit(key, record);
    return well == Store::Result::kOk;
  };
  const Store::Result read = store_.for_each(visit_stored, snapshot);
  return well == Store::Result::kOk ? read : well;
}

std::string RecordStore::first_error() const {
  const std::lock_guard lock(mutex_);
  return store_.first_error().ToString();
}

}  // namespace turntable::kv
