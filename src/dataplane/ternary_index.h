// Ternary keys, several range keys, or any mixture of kinds: rows in order of priority, compared
// one after the other, as a TCAM does it at once. Meant for the few hundred entries such tables
// have.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include "dataplane/match_index.h"

namespace turntable::dataplane {

template <int Words>
class TernaryMatchIndex final : public MatchIndex {
 public:
  explicit TernaryMatchIndex(std::vector<KeyField> fields) : fields_(std::move(fields)) {
    std::ranges::copy_if(fields_, std::back_inserter(ranges_), is_range);
  }

  std::uint32_t lookup(const KeyWords<Words>& key) const noexcept {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].matches(key) && is_in_ranges(i, key)) return rows_[i].entry;
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
    const std::vector<Bounds> bounds = make_bounds(match);
    bounds_.insert(bounds_of(place), bounds.begin(), bounds.end());
    rows_.insert(place, row);
  }
  void erase(const Match& match) override {
    const auto found = entries_.find(match);
    const auto row = std::ranges::find(rows_, found->second, &Row::entry);
    const auto bounds = bounds_of(row);
    bounds_.erase(bounds, bounds + std::ssize(ranges_));
    rows_.erase(row);
    entries_.erase(found);
  }
  // The places of a priority's entries get these entries in the order of their rows.
  std::vector<std::uint32_t> equals_as_asked(std::vector<std::uint32_t> entries) const override {
    std::map<std::uint32_t, std::uint32_t> priority_of;
    for (const Row& row : rows_) priority_of[row.entry] = row.priority;
    std::map<std::uint32_t, std::size_t> next_row;  // of a priority
    for (std::size_t i = 0; i < rows_.size(); ++i) next_row.emplace(rows_[i].priority, i);
    for (std::uint32_t& entry : entries) entry = rows_[next_row[priority_of[entry]]++].entry;
    return entries;
  }
  void clear() override {
    entries_.clear();
    rows_.clear();
    bounds_.clear();
  }

 private:
  // Rows are small and lie together: most of them are only looked at and passed.
  struct Row {
    KeyWords<Words> value{}, mask{};
    std::uint32_t priority = 0;
    std::uint32_t entry = kNoEntry;

    bool matches(const KeyWords<Words>& key) const noexcept {
      std::uint64_t difference = 0;
      for (int i = 0; i < Words; ++i) difference |= (key[i] ^ value[i]) & mask[i];
      return difference == 0;
    }
  };
  struct Bounds {
    uint128 low, high;
  };

  static bool is_range(const KeyField& field) { return field.kind == MatchKind::kRange; }

  bool is_in_ranges(std::size_t row, const KeyWords<Words>& key) const noexcept {
    const Bounds* bounds = bounds_.data() + row * ranges_.size();
    return std::ranges::all_of(ranges_, [&](const KeyField& field) {
      const uint128 value = unpack_field(key.data(), field.offset, field.width);
      const auto [low, high] = *bounds++;
      return low <= value && value <= high;
    });
  }

  auto bounds_of(typename std::vector<Row>::const_iterator row) const {
    return bounds_.begin() + (row - rows_.begin()) * std::ssize(ranges_);
  }

  std::vector<Bounds> make_bounds(const Match& match) const {
    std::vector<Bounds> bounds;
    for (const KeyField& field : ranges_)
      bounds.push_back({unpack_field(match.first.data(), field.offset, field.width),
                        unpack_field(match.second.data(), field.offset, field.width)});
    return bounds;
  }

  Row make_row(const Match& match, std::uint32_t entry) const {
    Row row;
    row.priority = match.priority;
    row.entry = entry;
    for (const KeyField& field : fields_) {
      if (is_range(field)) continue;
      const uint128 ones = ~uint128{0} >> (128 - field.width);
      pack_field(row.value.data(), field.offset, field.width,
                 unpack_field(match.first.data(), field.offset, field.width));
      pack_field(row.mask.data(), field.offset, field.width,
                 field.kind == MatchKind::kExact
                     ? ones
                     : unpack_field(match.second.data(), field.offset, field.width));
    }
    return row;
  }

  std::vector<KeyField> fields_, ranges_;  // ranges_: those of them that are ranges
  std::map<Match, std::uint32_t> entries_;
  std::vector<Row> rows_;
  std::vector<Bounds> bounds_;  // of each row, as many as there are ranges
};

}  // namespace turntable::dataplane
