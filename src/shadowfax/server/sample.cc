#include "shadowfax/server/sample.h"

#include <algorithm>
#include <thread>
#include <unordered_set>

#include "hybridlog/log_scan.h"
#include "shadowfax/server/moved_record.h"

namespace turntable::shadowfax {
namespace {

// The last `most` keys of the list, each once, where it comes last.
std::vector<std::uint64_t> last_keys(const std::vector<std::uint64_t>& keys, std::size_t most) {
  std::vector<std::uint64_t> last;
  std::unordered_set<std::uint64_t> seen;
  for (auto key = keys.rbegin(); key != keys.rend() && last.size() < most; ++key)
    if (seen.insert(*key).second) last.push_back(*key);
  std::ranges::reverse(last);
  return last;
}

}  // namespace

// The scan comes to the first records last.
std::vector<std::uint64_t> sampled_keys(hybridlog::Store& store, hybridlog::HashRange range,
                                        hybridlog::Address from, std::size_t most) {
  hybridlog::LogScan scan(store, range, store.log().tail(), from);
  std::vector<hybridlog::ScannedRecord> records;
  std::vector<std::uint64_t> keys;
  while (scan.next_page(records)) {
    for (const hybridlog::ScannedRecord& record : records) keys.push_back(record.key);
    if (keys.size() > 4 * most) keys = last_keys(keys, most);
  }
  keys = last_keys(keys, most);
  std::ranges::reverse(keys);
  return keys;
}

SampledRecords records_of(hybridlog::Store& store, const std::vector<std::uint64_t>& keys,
                          std::size_t most_bytes) {
  SampledRecords found;
  hybridlog::Epoch::Thread thread(store.epoch());
  thread.protect();
  hybridlog::Session session(store, thread);
  const auto add = [&](std::uint64_t key, hybridlog::Session::Answer answer) {
    const hybridlog::Bytes value = session.value().bytes();
    if (answer.status != hybridlog::Status::kOk ||
        found.bytes.size() + MovedRecord::kHeaderBytes + value.size() > most_bytes)
      return;
    append(found.bytes, hybridlog::ScannedRecord{.key = key, .value = value});
    ++found.count;
  };
  for (const std::uint64_t key : keys) {
    const hybridlog::Session::Answer answer = session.read_value(key, /*context=*/key);
    if (answer.status != hybridlog::Status::kPending) add(key, answer);
  }
  while (session.complete_pending(add) > 0) std::this_thread::yield();
  return found;
}

}  // namespace turntable::shadowfax
