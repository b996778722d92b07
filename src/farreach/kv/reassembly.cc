#include "farreach/kv/reassembly.h"

#include <algorithm>

namespace turntable::kv {
namespace {

std::uint64_t bits_below(unsigned count) {
  return count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

}  // namespace

Reassembly::Reassembly(std::size_t entries) : ring_(entries) {}

bool Reassembly::add(std::uint64_t sender, Packet& packet) {
  if (packet.fragment.count == 1) {
    counters_.completed.add();
    return true;  // it is the whole
  }
  Entry* entry = find(sender, packet);
  if (entry == nullptr) entry = &take_oldest(sender, packet);
  if (!store(*entry, packet) || entry->missing != 0) return false;
  counters_.completed.add();
  packet = entry->first;
  packet.value = std::span(entry->bytes).first(entry->length);
  return true;
}

std::uint32_t Reassembly::largest_incomplete(const PacketKey& key) const {
  std::uint32_t largest = 0;
  for (const Entry& entry : ring_) {
    const bool has_first = entry.used && (entry.missing & 1) == 0;
    if (has_first && entry.missing != 0 && entry.first.key == key) {
      largest = std::max(largest, entry.first.sequence);
    }
  }
  return largest;
}

// From the newest on: fragments of a value come close together.
Reassembly::Entry* Reassembly::find(std::uint64_t sender, const Packet& packet) {
  for (std::size_t i = 1; i <= ring_.size(); ++i) {
    Entry& entry = ring_[(oldest_ + ring_.size() - i) % ring_.size()];
    if (!entry.used) return nullptr;
    if (entry.sender == sender && entry.first.request_id == packet.request_id &&
        entry.first.fragment.transmission == packet.fragment.transmission) {
      return &entry;
    }
  }
  return nullptr;
}

Reassembly::Entry& Reassembly::take_oldest(std::uint64_t sender, const Packet& packet) {
  Entry& entry = ring_[oldest_];
  oldest_ = (oldest_ + 1) % ring_.size();
  if (entry.used && entry.missing != 0) counters_.evicted.add();
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
