#include "dataplane/register_codec.h"

#include "common/command_error.h"
#include "dataplane/values.h"

namespace turntable::dataplane {

void RegisterCodec::fail(const std::string& message) const {
  throw bad_argument("register " + schema_.name + ": " + message);
}

std::uint32_t RegisterCodec::natural(const nlohmann::json& args, const char* name,
                                     std::uint32_t missing) const {
  if (!args.contains(name)) return missing;
  return static_cast<std::uint32_t>(
      parse_value(args.at(name), 32, "register " + schema_.name + ", " + name));
}

RegisterCodec::Range RegisterCodec::range(const nlohmann::json& args) const {
  const std::uint32_t first = natural(args, "first", 0);
  if (first >= cells_.size()) {
    fail("first is " + std::to_string(first) + ", not below its size " +
         std::to_string(cells_.size()));
  }
  const std::uint32_t count = natural(args, "count", cells_.size() - first);
  if (count > cells_.size() - first) {
    fail("first " + std::to_string(first) + " and count " + std::to_string(count) +
         " go beyond its size " + std::to_string(cells_.size()));
  }
  return {first, count};
}

nlohmann::json RegisterCodec::read(const nlohmann::json& args) const {
  const auto [first, count] = range(args);
  nlohmann::json values = nlohmann::json::array();
  for (std::uint32_t index = first; index < first + count; ++index) {
    if (cells_.fields() == 1) {
      values.push_back(cells_.raw(index, 0));
    } else {
      values.push_back({cells_.raw(index, 0), cells_.raw(index, 1)});
    }
  }
  return {{"table", schema_.name}, {"first", first}, {"values", values}};
}

std::vector<std::uint64_t> RegisterCodec::parse(const nlohmann::json& value,
                                                const std::string& what) const {
  const std::string where = "register " + schema_.name + ", " + what;
  const auto width = [&](int field) { return schema_.register_widths.at(std::size_t(field)); };
  const auto number = [&](const nlohmann::json& text, int field) {
    return static_cast<std::uint64_t>(parse_value(text, width(field), where));
  };
  if (cells_.fields() == 1) return {number(value, 0)};
  if (!value.is_array() || value.size() != 2) {
    throw bad_argument(where + " is " + value.dump() + "; expected a pair [first, second]");
  }
  return {number(value[0], 0), number(value[1], 1)};
}

nlohmann::json RegisterCodec::write(const nlohmann::json& args) {
  if (!args.contains("values") || !args.at("values").is_array()) {
    fail("\"values\" is missing; expected an array, one value per cell from \"first\" on");
  }
  const auto& values = args.at("values");
  nlohmann::json wanted = args;
  wanted["count"] = values.size();
  const auto [first, count] = range(wanted);
  std::vector<std::vector<std::uint64_t>> cells;
  for (std::size_t i = 0; i < count; ++i)
    cells.push_back(parse(values[i], "values[" + std::to_string(i) + "]"));
  for (std::uint32_t i = 0; i < count; ++i) {
    for (int field = 0; field < cells_.fields(); ++field)
      cells_.set_raw(first + i, field, cells[i][static_cast<std::size_t>(field)]);
  }
  return {{"table", schema_.name}, {"written", count}};
}

nlohmann::json RegisterCodec::clear(const nlohmann::json& args) {
  const auto [first, count] = range(args);
  for (std::uint32_t index = first; index < first + count; ++index) cells_.reset(index);
  return {{"table", schema_.name}, {"cleared", count}};
}

}  // namespace turntable::dataplane
