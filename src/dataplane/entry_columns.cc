#include "dataplane/entry_columns.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "common/packed_numbers.h"
#include "dataplane/entry_codec.h"
#include "dataplane/names.h"
#include "dataplane/values.h"

namespace turntable::dataplane {
namespace {

constexpr int kMaxColumnWidth = 64;

// The columns of "key" or "data", in the order of `fields`. Throws bad_argument if one is missing.
template <class Fields>
std::vector<const nlohmann::json*> given_columns(const nlohmann::json& update, const char* member,
                                                 const Fields& fields, const std::string& where) {
  std::vector<std::string> names;
  names.reserve(fields.size());
  for (const auto& field : fields) names.push_back(field.name);
  std::vector<const nlohmann::json*> given(names.size());
  const auto found = update.find(member);
  if (found != update.end() && !found->is_object()) {
    throw bad_argument(where + ": \"" + member + "\" is " + found->dump().substr(0, 80) +
                       "; expected an object from names to columns");
  }
  if (found != update.end()) {
    for (const auto& [name, value] : found->items()) {
      given[resolve_name(names, name, member, "of " + where)] = &value;
    }
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (given[i] == nullptr) throw bad_argument(where + ": column " + names[i] + " is missing");
  }
  return given;
}

}  // namespace

EntryColumns::EntryColumns(const TableSchema& schema, const Table& table,
                           const nlohmann::json& update, Parts parts)
    : schema_(schema), table_(table) {
  const std::string where = "table " + schema.name;
  if (!schema.all_exact()) {
    throw bad_argument(where + ": columns are for tables whose keys are all exact; write " +
                       "entry by entry (\"upsert\")");
  }
  if (parts == Parts::kKeysAndData) {
    action_ = EntryCodec(schema, table).action_of(update, /*for_default=*/false);
  }
  const auto keys = given_columns(update, "key", schema.keys, where);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string what = where + ", key " + schema.keys[i].name;
    keys_.push_back(column(*keys[i], schema.keys[i].field.width, what));
    check_length(keys_.back(), what);
  }
  if (parts == Parts::kKeys) return;
  const ActionSchema& action = schema.actions[action_];
  const auto data = given_columns(update, "data", action.data, where);
  for (std::size_t i = 0; i < data.size(); ++i) {
    const std::string what = where + ", data " + action.data[i].name;
    data_.push_back(column(*data[i], action.data[i].width, what));
    check_length(data_.back(), what);
  }
}

EntryColumns::Column EntryColumns::column(const nlohmann::json& value, int width,
                                          const std::string& what) const {
  if (width > kMaxColumnWidth) {
    throw bad_argument(what + " has " + std::to_string(width) +
                       " bits; columns are for up to 64: use \"upsert\"");
  }
  const auto in_row = [&](std::size_t row) { return what + ", row " + std::to_string(row); };
  if (!value.is_array()) {
    Column numbers = unpack_numbers(value, what);
    for (std::size_t row = 0; row < numbers.size(); ++row) {
      if (width < kMaxColumnWidth && numbers[row] >> width != 0) {
        parse_value(numbers[row], width, in_row(row));  // throws
      }
    }
    return numbers;
  }
  Column numbers;
  numbers.reserve(value.size());
  for (const nlohmann::json& element : value) {
    const bool fits = element.is_number_unsigned() && width < kMaxColumnWidth &&
                      element.get<std::uint64_t>() >> width == 0;
    numbers.push_back(
        fits ? element.get<std::uint64_t>()
             : static_cast<std::uint64_t>(parse_value(element, width, in_row(numbers.size()))));
  }
  return numbers;
}

void EntryColumns::check_length(const Column& column, const std::string& what) {
  if (!has_rows_) rows_ = column.size();
  has_rows_ = true;
  if (column.size() == rows_) return;
  throw bad_argument(what + " has " + std::to_string(column.size()) +
                     " rows; expected as many as the first column, " + std::to_string(rows_));
}

Match EntryColumns::match() const {
  return {std::vector<std::uint64_t>(static_cast<std::size_t>(words_for(schema_.key_bits))), {}, 0};
}

void EntryColumns::put_key(std::size_t row, Match& match) const {
  std::fill(match.first.begin(), match.first.end(), 0);
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const KeyField& field = schema_.keys[i].field;
    pack_field(match.first.data(), field.offset, field.width, keys_[i][row]);
  }
}

Table::Words EntryColumns::words() const {
  return table_.completed({action_});
}

void EntryColumns::put_data(std::size_t row, Table::Words& words) const {
  if (data_.empty()) return;
  const ActionSchema& action = schema_.actions[action_];
  for (std::size_t i = 0; i < data_.size(); ++i) {
    words[table_.data_start() + static_cast<std::size_t>(action.data[i].word)] = data_[i][row];
  }
}

}  // namespace turntable::dataplane
