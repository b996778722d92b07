#include "hybridlog/chain_scan.h"

#include <algorithm>
#include <bit>
#include <string>
#include <system_error>
#include <thread>

#include "hybridlog/indirection.h"
#include "hybridlog/sized_value.h"

namespace turntable::hybridlog {
namespace {

constexpr std::uint64_t kMostBuckets = 1024;  // while the epoch is held up
constexpr unsigned kTagEnd = 62;              // bits of a hash above its tag: any

}  // namespace

ChainScan::ChainScan(Store& store, HashRange range, Address end)
    : store_(store),
      range_(range),
      end_(end),
      bits_(static_cast<std::uint32_t>(std::countr_zero(store.index().buckets()))) {}

// Whether a hash of the tag is in the range.
bool ChainScan::may_have(std::uint64_t tag) const noexcept {
  constexpr std::uint64_t kOthers = (std::uint64_t{1} << kAddressBits) - 1;
  for (std::uint64_t above = 0; above < std::uint64_t{1} << (64 - kTagEnd); ++above) {
    const std::uint64_t first = above << kTagEnd | tag << kAddressBits;
    if (first <= range_.last && range_.first <= (first | kOthers)) return true;
  }
  return false;
}

bool ChainScan::next(std::size_t most_bytes, const OnRecord& on_record, const OnRest& on_rest) {
  const std::uint64_t buckets = store_.index().buckets();
  if (bucket_ == buckets) return false;
  rests_.clear();
  {
    Epoch::Thread thread(store_.epoch());
    thread.protect();
    const Address head = store_.log().head();
    until_ = std::max(until_, std::min(head, end_));
    std::size_t bytes = 0;
    for (const std::uint64_t last = std::min(buckets, bucket_ + kMostBuckets);
         bucket_ < last && bytes < most_bytes; ++bucket_) {
      store_.index().for_each_entry(bucket_, [&](HashIndex::Word& word) {
        const IndexEntry entry(word.load(std::memory_order_acquire));
        if (entry.is_free() || entry.is_tentative() || !may_have(entry.tag())) return;
        bytes += visit(entry.address(), Indirection::hash_of_chain(bucket_, entry.tag()), head,
                       on_record);
      });
    }
  }
  for (const auto& [hash, address] : rests_)
    if (const Address rest = below_end(address); rest >= store_.log().begin()) on_rest(hash, rest);
  return true;
}

// Returns the bytes of what was given.
std::size_t ChainScan::visit(Address newest, std::uint64_t hash, Address head,
                             const OnRecord& on_record) {
  seen_.clear();
  std::size_t bytes = 0;
  Address address = newest;
  while (address >= head) {
    Record& record = *reinterpret_cast<Record*>(store_.log().at(address));
    const Header header = record.read_header();
    const bool is_its = !header.is_indirection() && range_.contains(hash_of(record.key));
    if (is_its && std::ranges::find(seen_, record.key) == seen_.end()) {
      seen_.push_back(record.key);
      read_value_of(record, header, value_);
      on_record({record.key, value_.bytes(), header.is_tombstone()});
      bytes += sizeof(Record) + value_.size();
    }
    address = header.previous();
  }
  if (address < store_.log().begin()) return bytes;
  rests_.push_back({hash, address});
  return bytes + Record::bytes_of_sized(Indirection::kBytes);
}

// Where the chain has its first record below the end: what lies above is of others, and may be lost
// in a crash.
Address ChainScan::below_end(Address address) const {
  while (address >= end_) {
    const auto read = store_.reader().read(address);
    while (!read->is_done()) std::this_thread::yield();
    const Header header(read->record.header);
    if (read->error || header.is_nothing()) {
      throw std::system_error(
          read->error ? read->error : std::make_error_code(std::errc::bad_message),
          "the log's record at address " + std::to_string(address) + " cannot be read");
    }
    address = header.previous();
  }
  return address;
}

}  // namespace turntable::hybridlog
