#include "dataplane/table.h"

#include <algorithm>
#include <functional>

#include "dataplane/filter_codec.h"

namespace turntable::dataplane {

std::uint32_t Table::insert(const Match& match, const Words& words) {
  std::uint32_t number;
  if (free_.empty()) {
    number = static_cast<std::uint32_t>(matches_.size());
    matches_.emplace_back();
    pool_.resize(pool_.size() + stride_);
  } else {
    number = free_.back();
    free_.pop_back();
  }
  matches_[number] = match;
  std::copy(words.begin(), words.end(),
            pool_.begin() + static_cast<std::ptrdiff_t>(number * stride_));
  index_.insert(match, number);
  count_name(number);
  ++size_;
  return number;
}

// Places may change only here: what undoes a batch puts entries back where they were. An empty
// table begins at its first place again, so that it is read in the order of its insertions, as by
// the driver of a Tofino.
void Table::commit() {
  index_.commit();
  if (size_ == 0) std::ranges::sort(free_, std::greater{});
}

Table::Words Table::erase(const Match& match) {
  const std::uint32_t number = index_.find(match);
  const auto old = words(number);
  Words result(old.begin(), old.end());
  index_.erase(match);
  uncount_name(number);
  matches_[number] = Match{};
  free_.push_back(number);
  --size_;
  return result;
}

Table::Words Table::replace(std::uint32_t entry, const Words& words) {
  const auto begin = pool_.begin() + static_cast<std::ptrdiff_t>(entry * stride_);
  Words old(begin, begin + static_cast<std::ptrdiff_t>(stride_));
  uncount_name(entry);
  std::copy(words.begin(), words.end(), begin);
  count_name(entry);
  return old;
}

// The program's own default entry has an action and names nobody.
std::optional<Table::Name> Table::name_of(std::uint32_t entry) const {
  const std::uint64_t kind = words(entry)[0];
  const std::uint64_t number = words(entry)[data_start()];
  if (entry != kNoEntry) return Name{kind, number};
  if (kind != kDefaultOfMember) return std::nullopt;
  return Name{kOfMember, number};
}

void Table::count_name(std::uint32_t entry) {
  if (!counts_names_) return;
  if (const auto name = name_of(entry)) ++names_[*name];
}

void Table::uncount_name(std::uint32_t entry) {
  if (!counts_names_) return;
  const auto name = name_of(entry);
  if (!name) return;
  const auto counted = names_.find(*name);
  if (--counted->second == 0) names_.erase(counted);
}

Table::Words Table::completed(Words words) const {
  words.resize(stride_);
  put_first_register(words.data());
  put_fresh_filter(words.data());
  return words;
}

void Table::put_fresh_filter(std::uint64_t* words) const {
  if (!direct_.filter) return;
  const FilterWords fresh = fresh_filter(*direct_.filter);
  std::copy(fresh.begin(), fresh.end(), words + filter_start());
}

void Table::put_first_register(std::uint64_t* words) const {
  std::copy(direct_.cell.begin(), direct_.cell.end(), words + cell_start());
}

void Table::set_default(Words words) {
  words = completed(std::move(words));
  initial_default_ = words;
  replace(kNoEntry, words);
}

void Table::add_entry(const Match& match, Words words) {
  words = completed(std::move(words));
  insert(match, words);
  commit();
  initial_entries_.emplace_back(match, std::move(words));
}

std::vector<std::uint32_t> Table::entries() const {
  std::vector<std::uint32_t> result;
  result.reserve(size_);
  for (std::uint32_t number = 1; number < matches_.size(); ++number) {
    if (in_use(number)) result.push_back(number);
  }
  return result;
}

std::optional<std::uint32_t> Table::with_handle(std::uint32_t handle) const {
  if (handle == handle_of(kNoEntry)) return kNoEntry;
  if (handle == 0 || handle > matches_.size() || !in_use(handle - 1)) return std::nullopt;
  return handle - 1;
}

void Table::clear_counters() {
  if (!direct_.counter) return;
  for (std::size_t begin = 0; begin < pool_.size(); begin += stride_) {
    pool_[begin + 1] = pool_[begin + 2] = 0;
  }
}

void Table::clear_meters() {
  if (!direct_.meter) return;
  for (std::size_t begin = 0; begin < pool_.size(); begin += stride_)
    store_meter(MeterCell{}, pool_.data() + begin + direct_.meter_start());
}

void Table::reset_filters() {
  for (std::size_t begin = 0; begin < pool_.size(); begin += stride_)
    put_fresh_filter(pool_.data() + begin);
}

void Table::clear_registers() {
  for (std::size_t begin = 0; begin < pool_.size(); begin += stride_)
    put_first_register(pool_.data() + begin);
}

}  // namespace turntable::dataplane
