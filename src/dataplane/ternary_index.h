// Ternary keys, several range keys, or any mixture of kinds: rows in order of priority, compared
// one after the other, as a TCAM does it at once. Meant for the few hundred entries such tables
// have.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "dataplane/match_index.h"

namespace turntable::dataplane {

template <int Words>
class TernaryMatchIndex final : public MatchIndex {
 public:
  explicit TernaryMatchIndex(std::vector<KeyField> fields) : fields_(std::move(fields)) {}

  std::uint32_t lookup(const KeyWords<Words>& key) const noexcept {
    for (const Row& row : rows_) {
      if (row.matches(key)) return row.entry;
    }
    return kNoEntry;
  }

  std::uint32_t find(const Match& match) const override {
    const auto found = entries_.find(match);
    return found == entries_.end() ? kNoEntry : found->second;
  }
  void insert(const Match& match, std::uint32_t entry) override {
    entries_.emplace(match, entry);
    const Row row = make_row(match, entry);
    // After all rows of the same priority: of equals, the first inserted wins.
    const auto place =
        std::upper_bound(rows_.begin(), rows_.end(), row,
                         [](const Row& a, const Row& b) { return a.priority < b.priority; });
    rows_.insert(place, row);
  }
  void erase(const Match& match) override {
    const auto found = entries_.find(match);
    std::erase_if(rows_, [&](const Row& row) { return row.entry == found->second; });
    entries_.erase(found);
  }
  void clear() override {
    entries_.clear();
    rows_.clear();
  }

 private:
  struct Range {
    int offset, width;
    uint128 low, high;
  };
  struct Row {
    KeyWords<Words> value{}, mask{};
    std::vector<Range> ranges;
    std::uint32_t priority = 0;
    std::uint32_t entry = kNoEntry;

    bool matches(const KeyWords<Words>& key) const noexcept {
      std::uint64_t difference = 0;
      for (int i = 0; i < Words; ++i) difference |= (key[i] ^ value[i]) & mask[i];
      return difference == 0 && std::all_of(ranges.begin(), ranges.end(), [&](const Range& range) {
               const uint128 field = unpack_field(key.data(), range.offset, range.width);
               return range.low <= field && field <= range.high;
             });
    }
  };

  Row make_row(const Match& match, std::uint32_t entry) const {
    Row row;
    row.priority = match.priority;
    row.entry = entry;
    for (const KeyField& field : fields_) {
      const uint128 first = unpack_field(match.first.data(), field.offset, field.width);
      const uint128 second = unpack_field(match.second.data(), field.offset, field.width);
      if (field.kind == MatchKind::kRange) {
        row.ranges.push_back({field.offset, field.width, first, second});
        continue;
      }
      const uint128 ones = ~uint128{0} >> (128 - field.width);
      pack_field(row.value.data(), field.offset, field.width, first);
      pack_field(row.mask.data(), field.offset, field.width,
                 field.kind == MatchKind::kExact ? ones : second);
    }
    return row;
  }

  std::vector<KeyField> fields_;
  std::map<Match, std::uint32_t> entries_;
  std::vector<Row> rows_;
};

}  // namespace turntable::dataplane
