// A match-action table: an index that finds entry numbers, and the entries themselves.
//
// An entry is a run of 64-bit words: [0] the action's number, then packets and bytes if the table
// has a direct counter, a MeterCell if it has a direct meter, a filter's cell if it has a DirectLpf
// or DirectWred, a word for each field of the cell if it
// has a direct register, the action's data, each parameter in one word (two if wider than 64 bits,
// low half first), and at the end of all entries the words of Aging if the table ages them. Entry 0
// is the default entry; it exists always, so that a lookup never has to branch on a missing entry.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "dataplane/aging.h"
#include "dataplane/filter.h"
#include "dataplane/match_index.h"
#include "dataplane/meter.h"

namespace turntable::dataplane {

// In place of its action, what an entry names that has none of its own (docs/p4soft.md, action
// profiles): the number is its first word of data.
inline constexpr std::uint32_t kOfMember = 0;
inline constexpr std::uint32_t kOfGroup = 1;
// Of a default entry that names a member; one that does not has the number of its action.
inline constexpr std::uint32_t kDefaultOfMember = 0xFFFFFFFF;

// The direct externs of a table, and whether it ages: each entry has its own.
struct DirectExterns {
  bool counter = false;
  std::optional<MeterUnit> meter = std::nullopt;
  std::int32_t byte_count_adjust = 0;  // what the meter adds to the bytes of each frame
  std::optional<FilterKind> filter = std::nullopt;
  std::vector<std::uint64_t> cell = {};  // what a direct register's cell is at first, by field

  bool ages = false;

  std::size_t meter_start() const { return counter ? 3 : 1; }
  std::size_t filter_start() const { return meter_start() + (meter ? kMeterWords : 0); }
  std::size_t cell_start() const { return filter_start() + (filter ? kFilterWords : 0); }
  std::size_t data_start() const { return cell_start() + cell.size(); }
  std::size_t aging_words() const { return ages ? kAgingWords : 0; }
};

// One entry as generated code sees it. Valid until the next control-plane change.
class Entry {
 public:
  Entry() = default;
  explicit Entry(std::uint64_t* words) : words_(words) {}

  std::uint32_t action() const noexcept { return static_cast<std::uint32_t>(words_[0]); }

  // `Word` counts from the first word of data; `DataStart` is the table's data_start().
  template <int DataStart, int Word, int Width>
  Unsigned<Width> data() const noexcept {
    if constexpr (Width <= 64) {
      return static_cast<Unsigned<Width>>(words_[DataStart + Word]);
    } else {
      return to_bit<Width>(wide_constant(words_[DataStart + Word + 1], words_[DataStart + Word]));
    }
  }

  // The same where the first word of data is known only now: of a member, or of a table's default.
  template <int Word, int Width>
  Unsigned<Width> data_from(std::size_t data_start) const noexcept {
    return Entry(words_ + data_start).data<0, Word, Width>();
  }

  const std::uint64_t* words() const noexcept { return words_; }
  std::uint64_t* words_from(int first) const noexcept { return words_ + first; }

  // The table has a direct meter, of which `Start` is the first word.
  template <int Start>
  std::uint8_t execute_meter(MeterUnit unit, std::int64_t bytes, std::uint64_t now_ns,
                             std::uint8_t color = kGreen) const noexcept {
    MeterCell cell = load_meter(words_ + Start);
    const std::uint8_t result = cell.execute(unit, bytes, now_ns, color);
    store_meter(cell, words_ + Start);
    return result;
  }

  // The table has a DirectLpf or DirectWred, whose Cell has `Start` as its first word.
  template <class Cell, int Start, class... More>
  auto execute_filter(std::uint64_t value, std::uint64_t now_ns, More&... more) const noexcept {
    auto cell = load_filter<Cell>(words_ + Start);
    const auto result = cell.execute(value, now_ns, more...);
    store_filter(cell, words_ + Start);
    return result;
  }

  // The table ages its entries; `Start` is the first word of that.
  template <int Start>
  void hit(std::uint64_t now_ns) const noexcept {
    Aging(words_ + Start).hit(now_ns);
  }

  void count(std::int64_t bytes) const noexcept {
    words_[1] += 1;
    words_[2] += static_cast<std::uint64_t>(bytes);
  }

 private:
  std::uint64_t* words_ = nullptr;
};

class Table {
 public:
  using Words = std::vector<std::uint64_t>;

  // `data_words` is the longest data of the table's actions.
  Table(MatchIndex& index, std::uint32_t capacity, int data_words, DirectExterns direct)
      : index_(index),
        capacity_(capacity),
        direct_(std::move(direct)),
        stride_(static_cast<std::size_t>(data_words) + data_start() + direct_.aging_words()),
        own_byte_count_adjust_(direct_.byte_count_adjust),
        pool_(stride_),
        initial_default_(stride_),
        matches_(1) {}
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  std::uint32_t capacity() const noexcept { return capacity_; }
  std::uint32_t size() const noexcept { return size_; }
  const DirectExterns& direct() const noexcept { return direct_; }
  bool has_counter() const noexcept { return direct_.counter; }
  std::optional<MeterUnit> meter_unit() const noexcept { return direct_.meter; }
  std::int32_t byte_count_adjust() const noexcept { return direct_.byte_count_adjust; }
  void set_byte_count_adjust(std::int32_t bytes) noexcept { direct_.byte_count_adjust = bytes; }
  void reset_byte_count_adjust() noexcept { direct_.byte_count_adjust = own_byte_count_adjust_; }
  // Whether it is another than the program's own.
  bool sets_byte_count_adjust() const noexcept {
    return direct_.byte_count_adjust != own_byte_count_adjust_;
  }
  std::optional<FilterKind> filter_kind() const noexcept { return direct_.filter; }
  std::size_t filter_start() const noexcept { return direct_.filter_start(); }
  std::size_t cell_start() const noexcept { return direct_.cell_start(); }
  std::size_t data_start() const noexcept { return direct_.data_start(); }
  bool ages() const noexcept { return direct_.ages; }
  // The first word of an entry's Aging; stride() if the table does not age.
  std::size_t aging_start() const noexcept { return stride_ - direct_.aging_words(); }
  std::size_t stride() const noexcept { return stride_; }

  // An entry's words, of which there may be fewer: with all of them, and the cells of a filter and
  // of a direct register as they are at first.
  Words completed(Words words) const;

  // Control plane. `words` are as laid out above and have `stride` words.
  std::uint32_t find(const Match& match) const { return index_.find(match); }
  // Not present, size() < capacity(); returns the entry.
  std::uint32_t insert(const Match& match, const Words& words);
  Words erase(const Match& match);  // present; returns the entry's words
  Words replace(std::uint32_t entry, const Words& words);
  // The default entry that the program began with.
  const Words& initial_default() const { return initial_default_; }
  void commit();  // a batch of changes stays

  // The program's own entries, while it is constructed; `words` may stop after the action's data.
  void set_default(Words words);
  void add_entry(const Match& match, Words words);
  // Those in their order.
  const std::vector<std::pair<Match, Words>>& initial_entries() const { return initial_entries_; }

  std::span<const std::uint64_t> words(std::uint32_t entry) const {
    return {pool_.data() + entry * stride_, stride_};
  }
  std::uint32_t number_of(const Entry& entry) const {
    return static_cast<std::uint32_t>(static_cast<std::size_t>(entry.words() - pool_.data()) /
                                      stride_);
  }
  // Of a table with a direct meter: that of an entry, and into an entry's words.
  MeterCell meter(std::uint32_t entry) const {
    return load_meter(words(entry).data() + direct_.meter_start());
  }
  void put_meter(const MeterCell& cell, Words& words) const {
    store_meter(cell, words.data() + direct_.meter_start());
  }
  const Match& match(std::uint32_t entry) const { return matches_[entry]; }
  bool in_use(std::uint32_t entry) const { return !matches_[entry].first.empty(); }
  // BfRt's handle of an entry, which it has as long as it is there. The driver of a Tofino gives
  // the first one to the default entry.
  static std::uint32_t handle_of(std::uint32_t entry) { return entry + 1; }
  // Nothing: no entry has it.
  std::optional<std::uint32_t> with_handle(std::uint32_t handle) const;
  std::vector<std::uint32_t> entries() const;  // in use, without the default entry
  // The same, but entries that match alike in the order in which they are asked: inserted in this
  // order into an empty table, the same one wins.
  std::vector<std::uint32_t> entries_as_asked() const { return index_.equals_as_asked(entries()); }
  void clear_counters();
  void clear_meters();   // none has limits any more
  void reset_filters();  // every cell is what it was at first
  // Of a table that ages. The clock is that of packets, and stands still between calls of at().
  void at(std::uint64_t now_ns) { now_ns_ = now_ns; }
  std::uint64_t now_ns() const { return now_ns_; }
  Aging aging(std::uint32_t entry) { return Aging(pool_.data() + entry * stride_ + aging_start()); }
  void clear_registers();  // every cell is what it was at first
  // From now on; the table is empty. Counted where entries come and go, so that whatever undoes a
  // change undoes the count.
  void count_names() { counts_names_ = true; }
  // Whether an entry names this member (kOfMember) or group (kOfGroup); after count_names().
  bool is_named(std::uint32_t kind, std::uint32_t number) const {
    return names_.contains({kind, number});
  }
  Entry default_entry() noexcept { return entry(0); }

 protected:
  Entry entry(std::uint32_t number) noexcept { return Entry(pool_.data() + number * stride_); }

 private:
  using Name = std::pair<std::uint64_t, std::uint64_t>;  // an entry's first words, and of its data

  void put_fresh_filter(std::uint64_t* words) const;
  void put_first_register(std::uint64_t* words) const;
  std::optional<Name> name_of(std::uint32_t entry) const;
  void count_name(std::uint32_t entry);
  void uncount_name(std::uint32_t entry);

  MatchIndex& index_;
  std::uint32_t capacity_;
  DirectExterns direct_;
  std::size_t stride_;
  std::int32_t own_byte_count_adjust_;
  std::vector<std::pair<Match, Words>> initial_entries_;
  std::uint32_t size_ = 0;
  Words pool_;
  Words initial_default_;
  std::vector<Match> matches_;       // empty words: the place is free
  std::vector<std::uint32_t> free_;  // the last one is taken first
  std::uint64_t now_ns_ = 0;
  bool counts_names_ = false;
  std::map<Name, std::uint32_t> names_;  // how many entries have it
};

struct Lookup {
  Entry entry;
  bool hit;
};

// What P4's `t.apply()` returns; `action` is the action's number in the schema.
struct Applied {
  bool hit;
  std::uint32_t action;
};

// Index is one of the classes of match_index.h and ternary_index.h.
template <class Index>
class IndexedTable final : public Table {
 public:
  template <class... IndexArgs>
  IndexedTable(std::uint32_t capacity, int data_words, DirectExterns direct, IndexArgs&&... args)
      : Table(index_, capacity, data_words, std::move(direct)),
        index_(std::forward<IndexArgs>(args)...) {}

  template <class Key>
  Lookup lookup(const Key& key) noexcept {
    const std::uint32_t number = index_.lookup(key);
    return {entry(number), number != kNoEntry};
  }

 private:
  Index index_;
};

// A table without keys: always its default entry, and always a miss.
class NoIndex final : public MatchIndex {
 public:
  std::uint32_t find(const Match&) const override { return kNoEntry; }
  void insert(const Match&, std::uint32_t) override {}
  void erase(const Match&) override {}
  void clear() override {}
};

class KeylessTable final : public Table {
 public:
  KeylessTable(int data_words, DirectExterns direct)
      : Table(index_, 0, data_words, std::move(direct)) {}
  Lookup lookup() noexcept { return {entry(kNoEntry), false}; }

 private:
  NoIndex index_;
};

}  // namespace turntable::dataplane
