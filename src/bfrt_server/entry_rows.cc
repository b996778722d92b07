#include "bfrt_server/entry_rows.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "bfrt/byte_string.h"
#include "bfrt_server/operation.h"
#include "common/packed_numbers.h"

namespace turntable::bfrt_server {
namespace {

using Json = nlohmann::json;
using bfrt::Field;
using bfrt_proto::Update;

constexpr int kMaxWidth = 64;

bool is_plain(const Field& field) {
  return field.kind == Field::Kind::kNumber && field.width <= kMaxWidth && !field.repeated &&
         !field.read_only;
}

// Each of `fields` once among `messages`, in any order; `bytes_of` gives nullptr for a message of
// another form. Appends the numbers.
template <typename Messages, typename BytesOf>
bool put_numbers(const std::vector<Field>& fields, const Messages& messages,
                 const BytesOf& bytes_of, EntryRows::Row& row) {
  if (static_cast<std::size_t>(messages.size()) != fields.size()) return false;
  std::uint64_t given = 0;
  const std::size_t first = row.size();
  row.resize(first + fields.size());
  std::size_t likely = 0;
  for (const auto& message : messages) {
    std::size_t place = likely++;
    if (fields[place].id != message.field_id()) {
      for (place = 0; place < fields.size(); ++place)
        if (fields[place].id == message.field_id()) break;
      if (place == fields.size()) return false;
    }
    const Field& field = fields[place];
    const std::string* bytes = is_plain(field) ? bytes_of(field, message) : nullptr;
    const auto number =
        bytes == nullptr ? std::nullopt : bfrt::from_byte_string(*bytes, field.width);
    const std::uint64_t bit = std::uint64_t{1} << place;
    if (!number || (given & bit) != 0) return false;
    given |= bit;
    row[first + place] = static_cast<std::uint64_t>(*number);
  }
  return true;
}

const std::string* key_bytes(const Field& field, const bfrt_proto::KeyField& message) {
  const bool exact = field.match == Field::Match::kExact && message.has_exact();
  return exact ? &message.exact().value() : nullptr;
}

const std::string* data_bytes(const Field&, const bfrt_proto::DataField& message) {
  return message.has_stream() ? &message.stream() : nullptr;
}

}  // namespace

std::optional<EntryRows::Kind> EntryRows::parse(Update::Type type,
                                                const bfrt_proto::TableEntry& entry,
                                                const bfrt::Table& table, Row& row) {
  constexpr std::size_t kMostFields = 64;
  const bool like = type == Update::INSERT || type == Update::MODIFY ||
                    type == Update::INSERT_OR_MODIFY || type == Update::DELETE;
  if (!like || entry.is_default_entry() || !entry.has_key() || table.keys.empty() ||
      table.keys.size() > kMostFields || entry.table_flags().reset_stats()) {
    return std::nullopt;
  }
  row.clear();
  if (!put_numbers(table.keys, entry.key().fields(), key_bytes, row)) return std::nullopt;
  if (type == Update::DELETE) return Kind{type, &table, nullptr};
  const bfrt::Action* action = table.action(entry.data().action_id());
  if (action == nullptr || action->data.size() > kMostFields ||
      !put_numbers(action->data, entry.data().fields(), data_bytes, row)) {
    return std::nullopt;
  }
  return Kind{type, &table, action};
}

void EntryRows::add(std::size_t number, std::span<const std::uint64_t> row) {
  numbers_of_updates_.push_back(number);
  values_.insert(values_.end(), row.begin(), row.end());
}

Json EntryRows::as_columns() const {
  Json update = {{"op", std::string(operation_of(kind_.type)) + "_columns"},
                 {"table", kind_.table->name}};
  put_pipes(kind_.pipes, update);
  const std::size_t width = values_.size() / size();
  std::size_t place = 0;
  std::vector<std::uint64_t> column(size());
  const auto put = [&](const char* member, const std::vector<Field>& fields) {
    Json& columns = update[member] = Json::object();
    for (const Field& field : fields) {
      for (std::size_t row = 0; row < size(); ++row) column[row] = values_[row * width + place];
      columns[field.name] = pack_numbers(column);
      ++place;
    }
  };
  put("key", kind_.table->keys);
  if (kind_.action == nullptr) return update;
  update["action"] = kind_.action->name;
  put("data", kind_.action->data);
  return update;
}

Json EntryRows::as_update(std::size_t row) const {
  const std::size_t width = values_.size() / size();
  const auto* value = values_.data() + row * width;
  Json update = {{"op", operation_of(kind_.type)}, {"table", kind_.table->name}};
  put_pipes(kind_.pipes, update);
  const auto put = [&](const char* member, const std::vector<Field>& fields) {
    Json& object = update[member] = Json::object();
    for (const Field& field : fields) object[field.name] = *value++;
  };
  put("key", kind_.table->keys);
  if (kind_.action == nullptr) return update;
  update["action"] = kind_.action->name;
  put("data", kind_.action->data);
  return update;
}

}  // namespace turntable::bfrt_server
