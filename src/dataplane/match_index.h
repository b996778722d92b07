// The indexes behind a table: one class per combination of match kinds. The control plane changes
// them through MatchIndex; generated code calls the non-virtual `lookup` of the concrete class,
// which returns an entry number or kNoEntry.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "dataplane/exact_index.h"
#include "dataplane/match.h"

namespace turntable::dataplane {

class MatchIndex {
 public:
  virtual ~MatchIndex() = default;
  virtual std::uint32_t find(const Match& match) const = 0;
  virtual void insert(const Match& match, std::uint32_t entry) = 0;  // find(match) == kNoEntry
  virtual void erase(const Match& match) = 0;                        // find(match) != kNoEntry
  virtual void clear() = 0;
  // `entries`, all there are, where those of one priority that may match the same packet change
  // places: the one that wins comes first.
  virtual std::vector<std::uint32_t> equals_as_asked(std::vector<std::uint32_t> entries) const {
    return entries;  // no two match the same, or their keys say which wins
  }
  // Called once after a batch of changes and before the next lookup.
  virtual void commit() {}
};

template <int Words>
KeyWords<Words> to_key(const std::vector<std::uint64_t>& words) {
  KeyWords<Words> key;
  std::copy_n(words.begin(), Words, key.begin());
  return key;
}

// All keys exact.
template <int Words>
class ExactMatchIndex final : public MatchIndex {
 public:
  std::uint32_t lookup(const KeyWords<Words>& key) const noexcept { return index_.lookup(key); }

  std::uint32_t find(const Match& match) const override {
    return index_.lookup(to_key<Words>(match.first));
  }
  void insert(const Match& match, std::uint32_t entry) override {
    index_.insert(to_key<Words>(match.first), entry);
  }
  void erase(const Match& match) override { index_.erase(to_key<Words>(match.first)); }
  void clear() override { index_.clear(); }

 private:
  ExactIndex<Words> index_;
};

// One lpm key, the others exact: a hash index per prefix length in use, the longest asked first.
template <int Words, int Offset, int Width>
class LpmMatchIndex final : public MatchIndex {
 public:
  std::uint32_t lookup(const KeyWords<Words>& key) const noexcept {
    for (const Length& length : lengths_) {
      KeyWords<Words> masked;
      for (int i = 0; i < Words; ++i) masked[i] = key[i] & length.mask[i];
      const std::uint32_t entry = length.index.lookup(masked);
      if (entry != kNoEntry) return entry;
    }
    return kNoEntry;
  }

  std::uint32_t find(const Match& match) const override {
    const auto length = at(prefix_length(match));
    return length == lengths_.end() ? kNoEntry : length->index.lookup(to_key<Words>(match.first));
  }
  void insert(const Match& match, std::uint32_t entry) override {
    const int bits = prefix_length(match);
    auto length = at(bits);
    if (length == lengths_.end()) {
      const auto shorter = std::find_if(lengths_.begin(), lengths_.end(),
                                        [&](const Length& l) { return l.bits < bits; });
      length = lengths_.insert(shorter, Length{bits, mask_of(match), {}});
    }
    length->index.insert(to_key<Words>(match.first), entry);
  }
  void erase(const Match& match) override {
    const auto length = at(prefix_length(match));
    length->index.erase(to_key<Words>(match.first));
    if (length->index.size() == 0) lengths_.erase(length);
  }
  void clear() override { lengths_.clear(); }

 private:
  struct Length {
    int bits;
    KeyWords<Words> mask;  // all ones for the exact keys
    ExactIndex<Words> index;
  };

  static int prefix_length(const Match& match) {
    uint128 mask = unpack_field(match.second.data(), Offset, Width);
    int bits = 0;
    for (; mask != 0; mask >>= 1) bits += static_cast<int>(mask & 1);
    return bits;
  }
  static KeyWords<Words> mask_of(const Match& match) {
    KeyWords<Words> outside{};
    pack_field(outside.data(), Offset, Width, kMask<Width>);
    KeyWords<Words> mask = to_key<Words>(match.second);
    for (int i = 0; i < Words; ++i) mask[i] |= ~outside[i];
    return mask;
  }
  auto at(int bits) const {
    return std::find_if(lengths_.begin(), lengths_.end(),
                        [&](const Length& l) { return l.bits == bits; });
  }
  auto at(int bits) {
    return std::find_if(lengths_.begin(), lengths_.end(),
                        [&](const Length& l) { return l.bits == bits; });
  }

  std::vector<Length> lengths_;  // descending
};

// One range key of at most 64 bits, the others exact: a hash index over the exact keys leads to a
// group, whose ranges are kept as sorted disjoint intervals, each with the entry that wins in it. A
// lookup is a hash and a binary search.
template <int Words, int Offset, int Width>
class RangeMatchIndex final : public MatchIndex {
 public:
  static_assert(Width <= 64);

  std::uint32_t lookup(const KeyWords<Words>& key) const noexcept {
    const std::uint32_t group = groups_by_key_.lookup(without_range(key));
    if (group == kNoEntry) return kNoEntry;
    const std::vector<Interval>& intervals = groups_[group - 1].intervals;
    const auto value = static_cast<std::uint64_t>(unpack_field(key.data(), Offset, Width));
    const auto after = std::upper_bound(
        intervals.begin(), intervals.end(), value,
        [](std::uint64_t v, const Interval& interval) { return v < interval.low; });
    return after == intervals.begin() ? kNoEntry : std::prev(after)->entry;
  }

  std::uint32_t find(const Match& match) const override {
    const std::uint32_t number = group_number(match);
    if (number == kNoEntry) return kNoEntry;
    const auto& members = groups_[number - 1].members;
    const auto member = members.find(order_of(match));
    return member == members.end() ? kNoEntry : member->second;
  }
  void insert(const Match& match, std::uint32_t entry) override {
    std::uint32_t number = group_number(match);
    if (number == kNoEntry) {
      groups_.emplace_back();
      number = static_cast<std::uint32_t>(groups_.size());
      groups_by_key_.insert(without_range(to_key<Words>(match.first)), number);
    }
    groups_[number - 1].members.emplace(order_of(match), entry);
    groups_[number - 1].stale = true;
  }
  // An emptied group stays: the exact keys of such tables are few, and groups are numbered by
  // position.
  void erase(const Match& match) override {
    Group& group = groups_[group_number(match) - 1];
    group.members.erase(order_of(match));
    group.stale = true;
  }
  void clear() override {
    groups_by_key_.clear();
    groups_.clear();
  }
  void commit() override {
    for (Group& group : groups_) {
      if (group.stale) group.rebuild();
    }
  }

 private:
  struct Order {
    std::uint32_t priority;
    std::uint64_t low, high;
    auto operator<=>(const Order&) const = default;
  };
  struct Interval {
    std::uint64_t low;  // up to the next interval's low
    std::uint32_t entry;
  };
  struct Group {
    std::map<Order, std::uint32_t> members;
    std::vector<Interval> intervals;
    bool stale = false;

    // A sweep over the places where a range begins or ends; of the ranges open there, the first in
    // order wins.
    void rebuild() {
      struct Edge {
        std::uint64_t at;
        bool opens;
        const std::pair<const Order, std::uint32_t>* member;
      };
      std::vector<Edge> edges;
      for (const auto& member : members) {
        edges.push_back({member.first.low, true, &member});
        if (member.first.high != ~std::uint64_t{0}) {
          edges.push_back({member.first.high + 1, false, &member});
        }
      }
      std::sort(edges.begin(), edges.end(),
                [](const Edge& a, const Edge& b) { return a.at < b.at; });
      std::map<Order, std::uint32_t> open;
      intervals.clear();
      for (std::size_t i = 0; i < edges.size(); ++i) {
        if (edges[i].opens)
          open.insert(*edges[i].member);
        else
          open.erase(edges[i].member->first);
        if (i + 1 < edges.size() && edges[i + 1].at == edges[i].at) continue;
        intervals.push_back({edges[i].at, open.empty() ? kNoEntry : open.begin()->second});
      }
      stale = false;
    }
  };

  static KeyWords<Words> without_range(KeyWords<Words> key) {
    constexpr auto kRange = [] {
      KeyWords<Words> range{};
      pack_field(range.data(), Offset, Width, kMask<Width>);
      return range;
    }();
    for (int i = 0; i < Words; ++i) key[i] &= ~kRange[i];
    return key;
  }
  std::uint32_t group_number(const Match& match) const {
    return groups_by_key_.lookup(without_range(to_key<Words>(match.first)));
  }
  static Order order_of(const Match& match) {
    return {match.priority,
            static_cast<std::uint64_t>(unpack_field(match.first.data(), Offset, Width)),
            static_cast<std::uint64_t>(unpack_field(match.second.data(), Offset, Width))};
  }

  ExactIndex<Words> groups_by_key_;  // group number, from 1
  std::vector<Group> groups_;
};

}  // namespace turntable::dataplane
