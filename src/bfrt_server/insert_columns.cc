#include "bfrt_server/insert_columns.h"

#include <cstdint>
#include <map>
#include <string>

#include "common/packed_numbers.h"

namespace turntable::bfrt_server {
namespace {

using Json = nlohmann::json;
using Column = std::vector<std::uint64_t>;

// The columns of "key" or of "data".
class Columns {
 public:
  // False: other fields than those before, or no plain numbers.
  bool add(const Json& fields, std::size_t row) {
    if (row > 0 && fields.size() != columns_.size()) return false;
    for (const auto& [name, value] : fields.items()) {
      if (!value.is_number_unsigned()) return false;
      Column& column = columns_[name];
      if (column.size() != row) return false;
      column.push_back(value.get<std::uint64_t>());
    }
    return true;
  }

  Json packed() const {
    Json all = Json::object();
    for (const auto& [name, column] : columns_) all[name] = pack_numbers(column);
    return all;
  }

 private:
  std::map<std::string, Column> columns_;
};

bool is_insertion_like(const Json& update, const Json& first) {
  return update.at("op") == "insert" && update.at("table") == first.at("table") &&
         !update.contains("priority") && update.contains("action") &&
         update.at("action") == first.at("action");
}

}  // namespace

std::optional<Json> as_columns(const std::vector<Json>& updates) {
  if (updates.empty() || !updates.front().contains("action")) return std::nullopt;
  const Json& first = updates.front();
  Columns keys;
  Columns data;
  for (std::size_t row = 0; row < updates.size(); ++row) {
    const Json& update = updates[row];
    if (!is_insertion_like(update, first) || !keys.add(update.at("key"), row) ||
        !data.add(update.at("data"), row)) {
      return std::nullopt;
    }
  }
  return Json{{"op", "insert_columns"},
              {"table", first.at("table")},
              {"action", first.at("action")},
              {"key", keys.packed()},
              {"data", data.packed()}};
}

}  // namespace turntable::bfrt_server
