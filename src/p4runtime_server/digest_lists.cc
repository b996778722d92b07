#include "p4runtime_server/digest_lists.h"

#include <algorithm>
#include <utility>

#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {
namespace {

using p4::v1::DigestEntry;
using p4::v1::Update;

std::string name_of(const DigestEntry& entry) {
  return "digest " + std::to_string(entry.digest_id());
}

// Longer is as long: a time so far ahead is none that a clock has.
constexpr std::chrono::nanoseconds kLongestWait = std::chrono::hours(24 * 365);

std::chrono::nanoseconds longest_wait(const DigestEntry& entry) {
  return std::min(std::chrono::nanoseconds(entry.config().max_timeout_ns()), kLongestWait);
}

std::chrono::nanoseconds memory(const DigestEntry& entry) {
  return std::chrono::nanoseconds(entry.config().ack_timeout_ns());
}

}  // namespace

void DigestLists::check(Update::Type type, const DigestEntry& entry) const {
  const std::lock_guard lock(mutex_);
  const bool is_there = kinds_.contains(entry.digest_id());
  if (type != Update::INSERT && type != Update::MODIFY && type != Update::DELETE)
    throw invalid(name_of(entry) + ": what to do is not said");
  if (type == Update::INSERT && is_there) {
    throw Refusal(grpc::StatusCode::ALREADY_EXISTS,
                  name_of(entry) + " is sent already; modify its configuration");
  }
  if (type != Update::INSERT && !is_there)
    throw not_found(name_of(entry) + " is not sent; insert it");
  const DigestEntry::Config& config = entry.config();
  if (type != Update::DELETE &&
      (config.max_timeout_ns() < 0 || config.max_list_size() < 0 || config.ack_timeout_ns() < 0))
    throw invalid(name_of(entry) + ": a negative number; expected 0 or more");
}

void DigestLists::write(Update::Type type, const DigestEntry& entry) {
  check(type, entry);
  const std::lock_guard lock(mutex_);
  if (type == Update::DELETE) {
    kinds_.erase(entry.digest_id());
    return;
  }
  Kind& kind = kinds_[entry.digest_id()];
  kind.entry = entry;
  kind.buffer.set_digest_id(entry.digest_id());
}

std::vector<DigestEntry> DigestLists::entries(std::uint32_t id) const {
  const std::lock_guard lock(mutex_);
  std::vector<DigestEntry> found;
  for (const auto& [number, kind] : kinds_)
    if (id == 0 || id == number) found.push_back(kind.entry);
  return found;
}

bool DigestLists::has_any() const {
  const std::lock_guard lock(mutex_);
  return !kinds_.empty();
}

void DigestLists::clear() {
  const std::lock_guard lock(mutex_);
  kinds_.clear();
}

void DigestLists::take_over(DigestLists& before) {
  const std::scoped_lock lock(mutex_, before.mutex_);
  kinds_ = std::exchange(before.kinds_, {});
  next_list_ = before.next_list_;
}

std::size_t DigestLists::room(const Kind& kind) const {
  if (kind.entry.config().max_timeout_ns() == 0) return 1;
  const auto size = static_cast<std::size_t>(kind.entry.config().max_list_size());
  return size == 0 ? kMostListDigests : std::min(size, kMostListDigests);
}

DigestLists::Lists DigestLists::add(std::uint32_t id, p4::v1::P4Data data, Time now) {
  const std::lock_guard lock(mutex_);
  Lists lists;
  const auto found = kinds_.find(id);
  if (found == kinds_.end()) return lists;
  Kind& kind = found->second;
  std::string bytes = data.SerializeAsString();
  if (kind.known.contains(bytes) || !kind.buffered.insert(std::move(bytes)).second) return lists;
  if (kind.buffer.data().empty()) kind.first_at = now;
  *kind.buffer.add_data() = std::move(data);
  if (kind.buffered.size() >= room(kind)) take(kind, now, lists);
  return lists;
}

DigestLists::Lists DigestLists::due(Time now) {
  const std::lock_guard lock(mutex_);
  Lists lists;
  for (auto& [id, kind] : kinds_) {
    while (!kind.sent.empty() && now - kind.sent.begin()->second.at >= memory(kind.entry))
      forget(kind, kind.sent.begin());
    if (!kind.buffer.data().empty() && now - kind.first_at >= longest_wait(kind.entry))
      take(kind, now, lists);
  }
  return lists;
}

std::optional<DigestLists::Time> DigestLists::next_due() const {
  const std::lock_guard lock(mutex_);
  std::optional<Time> next;
  for (const auto& [id, kind] : kinds_) {
    if (kind.buffer.data().empty()) continue;
    const Time at = kind.first_at + longest_wait(kind.entry);
    if (!next || at < *next) next = at;
  }
  return next;
}

void DigestLists::take(Kind& kind, Time now, Lists& lists) {
  const std::uint64_t number = next_list_++;
  kind.buffer.set_list_id(number);
  lists.push_back(std::move(kind.buffer));
  kind.buffer.Clear();
  kind.buffer.set_digest_id(kind.entry.digest_id());
  Bytes digests = std::move(kind.buffered);
  kind.buffered.clear();
  if (memory(kind.entry).count() == 0) return;
  kind.unacknowledged += digests.size();
  kind.known.insert(digests.begin(), digests.end());
  kind.sent[number] = {now, std::move(digests)};
  while (kind.unacknowledged > kMostUnacknowledged) forget(kind, kind.sent.begin());
}

void DigestLists::forget(Kind& kind, std::map<std::uint64_t, Sent>::iterator list) {
  for (const std::string& digest : list->second.digests) kind.known.erase(digest);
  kind.unacknowledged -= list->second.digests.size();
  kind.sent.erase(list);
}

void DigestLists::acknowledge(const p4::v1::DigestListAck& acknowledgement) {
  const std::lock_guard lock(mutex_);
  const auto kind = kinds_.find(acknowledgement.digest_id());
  if (kind == kinds_.end()) return;
  const auto list = kind->second.sent.find(acknowledgement.list_id());
  if (list != kind->second.sent.end()) forget(kind->second, list);
}

}  // namespace turntable::p4runtime_server
