// Puts the fragments of large values together (kv/packet.h).
//
// Fragments may be lost, doubled, and come in any order. What belongs together is one of a fixed
// number of entries, so memory is bounded and a value whose fragments are lost needs no timer.
//
// A new value takes the place of the oldest that is complete: a sender that is held up between two
// fragments finds its value again, however many others have passed it. Only when more than half of
// the entries lack fragments, the oldest of those is given up. Until its place is taken, a complete
// value stays, so that late twins of its fragments are recognised instead of beginning a new one.
//
// Nothing allocates once each entry has held a value of the largest length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

#include "common/counter.h"
#include "farreach/kv/packet.h"

namespace turntable::kv {

struct ReassemblyCounters {
  Counter completed;
  Counter evicted;     // values given up for newer ones with fragments missing
  Counter duplicates;  // fragments that had come before
  Counter mismatched;  // fragments that contradict others of their value; ignored
};

class Reassembly {
 public:
  // `entries`: at least 1; of senders with one value at a time each, twice their number: then none
  // that is still sent is given up.
  explicit Reassembly(std::size_t entries);

  // Takes a decoded fragment from `sender` (anything that tells senders apart). If it completes a
  // value, answers true and makes `packet` the whole: fragment 0's headers and all of the value,
  // valid until the next call.
  bool add(std::uint64_t sender, Packet& packet);

  // The largest sequence number of the values under `key` whose fragment 0 has come, but others
  // have not yet; 0: there is none.
  std::uint32_t largest_incomplete(const PacketKey& key) const;

  const ReassemblyCounters& counters() const { return counters_; }

 private:
  struct Entry {
    bool is_incomplete() const noexcept { return missing != 0; }

    std::uint64_t sender = 0;
    Packet first{};             // fragment 0, or until it comes another one; without its bytes
    std::size_t length = 0;     // of the value; 0: not known yet
    std::uint64_t missing = 0;  // bit i: fragment i
    bool used = false;
    std::vector<std::uint8_t> bytes;
  };
  static_assert(fragments_of(kMaxLargeValueBytes) <= 64);

  Entry* find(std::uint64_t sender, const Packet& packet);
  Entry& begin(std::uint64_t sender, const Packet& packet);
  std::list<Entry>::iterator place_of_oldest();
  bool store(Entry& entry, const Packet& packet);

  std::list<Entry> entries_;  // the newest first, then those that were never used
  std::size_t incomplete_ = 0;
  ReassemblyCounters counters_;
};

}  // namespace turntable::kv
