#include "farreach/kv/reassembly.h"

#include <algorithm>
#include <iterator>

namespace turntable::kv {
namespace {

std::uint64_t bits_below(unsigned count) {
  return count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

}  // namespace

Reassembly::Reassembly(std::size_t entries) : entries_(entries) {}

bool Reassembly::add(std::uint64_t sender, Packet& packet) {
  if (packet.fragment.count == 1) {
    counters_.completed.add();
    return true;  // it is the whole
  }
  Entry* entry = find(sender, packet);
  if (entry == nullptr) entry = &begin(sender, packet);
  if (!store(*entry, packet) || entry->is_incomplete()) return false;
  --incomplete_;
  counters_.completed.add();
  packet = entry->first;
  packet.value = std::span(entry->bytes).first(entry->length);
  return true;
}

std::uint32_t Reassembly::largest_incomplete(const PacketKey& key) const {
  std::uint32_t largest = 0;
  for (const Entry& entry : entries_) {
    const bool has_first = (entry.missing & 1) == 0;
    if (entry.is_incomplete() && has_first && entry.first.key == key) {
      largest = std::max(largest, entry.first.sequence);
    }
  }
  return largest;
}

// From the newest on: fragments of a value come close together.
Reassembly::Entry* Reassembly::find(std::uint64_t sender, const Packet& packet) {
  for (Entry& entry : entries_) {
    if (!entry.used) return nullptr;
    if (entry.sender == sender && entry.first.request_id == packet.request_id &&
        entry.first.fragment.transmission == packet.fragment.transmission) {
      return &entry;
    }
  }
  return nullptr;
}

std::list<Reassembly::Entry>::iterator Reassembly::place_of_oldest() {
  const bool gives_up = entries_.back().used && incomplete_ > entries_.size() / 2;
  auto place = std::prev(entries_.end());
  while (place->is_incomplete() != gives_up) --place;
  return place;
}

Reassembly::Entry& Reassembly::begin(std::uint64_t sender, const Packet& packet) {
  const auto place = place_of_oldest();
  Entry& entry = *place;
  entries_.splice(entries_.begin(), entries_, place);
  if (entry.is_incomplete()) {
    counters_.evicted.add();
  } else {
    ++incomplete_;
  }
  entry.used = true;
  entry.sender = sender;
  entry.first = packet;
  entry.length = 0;
  entry.missing = bits_below(packet.fragment.count);
  entry.bytes.resize(
      std::max(entry.bytes.size(), std::size_t{packet.fragment.count} * kFragmentBytes));
  return entry;
}

// Answers whether the fragment was one of those missing.
bool Reassembly::store(Entry& entry, const Packet& packet) {
  const Fragment& fragment = packet.fragment;
  const std::size_t begin = std::size_t{fragment.index} * kFragmentBytes;
  const bool last = fragment.index + 1 == fragment.count;
  // The first fragment says how long the value is, and where the last one ends does.
  const std::size_t length = fragment.index == 0 ? fragment.value_length
                             : last              ? begin + packet.value.size()
                                                 : entry.length;
  if (entry.first.key != packet.key || entry.first.fragment.count != fragment.count ||
      (entry.length != 0 && entry.length != length)) {
    counters_.mismatched.add();
    return false;
  }
  const std::uint64_t bit = std::uint64_t{1} << fragment.index;
  if ((entry.missing & bit) == 0) {
    counters_.duplicates.add();
    return false;
  }
  entry.length = length;
  if (fragment.index == 0) entry.first = packet;
  std::copy(packet.value.begin(), packet.value.end(),
            entry.bytes.begin() + static_cast<std::ptrdiff_t>(begin));
  entry.missing &= ~bit;
  return true;
}

}  // namespace turntable::kv
