#include "dataplane/register_codec.h"

#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "common/packed_numbers.h"
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
  const auto packed = args.find("packed");
  if (packed != args.end() && !packed->is_boolean()) {
    fail("packed is " + packed->dump() + "; expected true or false");
  }
  if (packed != args.end() && packed->get<bool>()) {
    std::vector<std::uint64_t> numbers;
    numbers.reserve(std::size_t{count} * static_cast<std::size_t>(cells_.fields()));
    for (std::uint32_t index = first; index < first + count; ++index) {
      for (int field = 0; field < cells_.fields(); ++field) {
        numbers.push_back(cells_.raw(index, field));
      }
    }
    return {{"table", schema_.name}, {"first", first}, {"values", pack_numbers(numbers)}};
  }
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

std::uint64_t RegisterCodec::parse_field(const nlohmann::json& value, std::size_t index,
                                         int field) const {
  const int width = schema_.register_widths.at(static_cast<std::size_t>(field));
  if (value.is_number_unsigned() && width < 64) {  // without making up the text of an error
    const auto number = value.get<std::uint64_t>();
    if (number >> width == 0) return number;
  }
  const std::string where = "register " + schema_.name + ", values[" + std::to_string(index) + "]";
  return static_cast<std::uint64_t>(parse_value(value, width, where));
}

// The fields of all cells, one after the other.
std::vector<std::uint64_t> RegisterCodec::parse(const nlohmann::json& values) const {
  std::vector<std::uint64_t> numbers;
  numbers.reserve(values.size() * static_cast<std::size_t>(cells_.fields()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (cells_.fields() == 1) {
      numbers.push_back(parse_field(values[i], i, 0));
      continue;
    }
    if (!values[i].is_array() || values[i].size() != 2) {
      fail("values[" + std::to_string(i) + "] is " + values[i].dump() +
           "; expected a pair [first, second]");
    }
    numbers.push_back(parse_field(values[i][0], i, 0));
    numbers.push_back(parse_field(values[i][1], i, 1));
  }
  return numbers;
}

std::vector<std::uint64_t> RegisterCodec::unpack(const nlohmann::json& values) const {
  std::vector<std::uint64_t> numbers =
      unpack_numbers(values, "register " + schema_.name + ", values");
  const auto fields = static_cast<std::size_t>(cells_.fields());
  if (numbers.size() % fields != 0) {
    fail("values are " + std::to_string(numbers.size()) + " numbers; expected pairs");
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const int width = schema_.register_widths.at(i % fields);
    if (width == 64 || numbers[i] >> width == 0) continue;
    fail("values[" + std::to_string(i / fields) + "]: " + std::to_string(numbers[i]) +
         " is too wide; the field is bit<" + std::to_string(width) + ">");
  }
  return numbers;
}

nlohmann::json RegisterCodec::write(const nlohmann::json& args) {
  const auto values = args.find("values");
  if (values == args.end() || !values->is_structured()) {
    fail(
        "\"values\" is missing; expected an array, one value per cell from \"first\" on, or "
        "packed numbers");
  }
  const std::vector<std::uint64_t> numbers = values->is_array() ? parse(*values) : unpack(*values);
  const auto fields = static_cast<std::size_t>(cells_.fields());
  const auto [first, count] = range(
      {{"first", args.value("first", nlohmann::json(0))}, {"count", numbers.size() / fields}});
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    cells_.set_raw(first + static_cast<std::uint32_t>(i / fields), static_cast<int>(i % fields),
                   numbers[i]);
  }
  return {{"table", schema_.name}, {"written", count}};
}

nlohmann::json RegisterCodec::clear(const nlohmann::json& args) {
  const auto [first, count] = range(args);
  for (std::uint32_t index = first; index < first + count; ++index) cells_.reset(index);
  return {{"table", schema_.name}, {"cleared", count}};
}

}  // namespace turntable::dataplane
