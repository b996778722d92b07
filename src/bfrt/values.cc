#include "bfrt/values.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bfrt/byte_string.h"
#include "common/command_error.h"
#include "dataplane/values.h"

namespace turntable::bfrt {
namespace {

using Json = nlohmann::json;

[[noreturn]] void fail(const Field& field, const std::string& what) {
  throw ValueError("field " + field.name + " (id " + std::to_string(field.id) + "): " + what);
}

Json number(const Field& field, const std::string& bytes, const char* part = "") {
  if (field.width > kMaxWidth) {
    fail(field, "has " + std::to_string(field.width) + " bits; up to " + std::to_string(kMaxWidth) +
                    " are possible here");
  }
  const auto value = from_byte_string(bytes, field.width);
  if (value) return dataplane::format_value(*value);
  if (bytes.size() == field.bytes()) {
    fail(field, part + std::string("has bits above the field's ") + std::to_string(field.width));
  }
  fail(field, part + std::string("has ") + std::to_string(bytes.size()) + " bytes; expected " +
                  std::to_string(field.bytes()) + " for " + std::to_string(field.width) + " bits");
}

std::string byte_string(const Field& field, const Json& value) {
  if (value.is_number_unsigned() && field.width >= 64)
    return to_byte_string(value.get<std::uint64_t>(), field.width);
  try {
    return to_byte_string(dataplane::parse_value(value, field.width, "value"), field.width);
  } catch (const CommandError& error) {
    fail(field, error.what());
  }
}

void check_choice(const Field& field, const std::string& text) {
  if (field.choices.empty()) return;
  if (std::find(field.choices.begin(), field.choices.end(), text) != field.choices.end()) return;
  std::string known;
  for (const std::string& choice : field.choices) known += (known.empty() ? "" : ", ") + choice;
  fail(field, "\"" + text + "\" is none of " + known);
}

std::uint32_t array_number(const Field& field, std::uint32_t value) {
  if (field.width < 32 && value >> field.width != 0)
    fail(field,
         std::to_string(value) + " needs more than " + std::to_string(field.width) + " bits");
  return value;
}

Json list(const Field& field, const bfrt_proto::DataField& message) {
  Json values = Json::array();
  switch (field.kind) {
    case Field::Kind::kBool:
      if (!message.has_bool_arr_val()) fail(field, "expected a list of bools");
      for (const bool value : message.bool_arr_val().val()) values.push_back(value);
      return values;
    case Field::Kind::kText:
      if (!message.has_str_arr_val()) fail(field, "expected a list of texts");
      for (const std::string& value : message.str_arr_val().val()) values.push_back(value);
      return values;
    default:
      if (!message.has_int_arr_val()) fail(field, "expected a list of integers");
      for (const std::uint32_t value : message.int_arr_val().val())
        values.push_back(array_number(field, value));
      return values;
  }
}

void set_list(const Field& field, const Json& values, bfrt_proto::DataField& message) {
  if (!values.is_array()) fail(field, values.dump() + " is no list");
  switch (field.kind) {
    case Field::Kind::kBool: {
      auto* array = message.mutable_bool_arr_val();
      for (const Json& value : values) array->add_val(value.get<bool>());
      return;
    }
    case Field::Kind::kText: {
      auto* array = message.mutable_str_arr_val();
      for (const Json& value : values) array->add_val(value.get<std::string>());
      return;
    }
    default: {
      auto* array = message.mutable_int_arr_val();
      for (const Json& value : values) array->add_val(value.get<std::uint32_t>());
    }
  }
}

Json containers(const Field& field, const bfrt_proto::DataField& message) {
  if (!message.has_container_arr_val()) fail(field, "expected a list of containers");
  Json list = Json::array();
  for (const auto& container : message.container_arr_val().container()) {
    Json values = Json::object();
    for (const bfrt_proto::DataField& part : container.val()) {
      const auto found =
          std::find_if(field.container.begin(), field.container.end(),
                       [&](const Field& each) { return each.id == part.field_id(); });
      if (found == field.container.end())
        fail(field, "a container has no field of id " + std::to_string(part.field_id()));
      if (values.contains(found->name)) fail(field, found->name + " is given twice");
      values[found->name] = datum(*found, part);
    }
    for (const Field& each : field.container)
      if (each.mandatory && !values.contains(each.name)) fail(field, each.name + " is missing");
    list.push_back(std::move(values));
  }
  return list;
}

void set_containers(const Field& field, const Json& list, bfrt_proto::DataField& message) {
  if (!list.is_array()) fail(field, list.dump() + " is no list");
  auto* containers = message.mutable_container_arr_val();
  for (const Json& values : list) {
    auto* container = containers->add_container();
    for (const Field& each : field.container)
      if (values.contains(each.name)) set_datum(each, values.at(each.name), *container->add_val());
  }
}

}  // namespace

Json datum(const Field& field, const bfrt_proto::DataField& message) {
  if (field.kind == Field::Kind::kContainer) return containers(field, message);
  const bool is_list =
      message.has_int_arr_val() || message.has_bool_arr_val() || message.has_str_arr_val();
  if (field.repeated && (is_list || !message.has_stream())) return list(field, message);
  switch (field.kind) {
    case Field::Kind::kBool:
      if (!message.has_bool_val()) fail(field, "expected a bool");
      return message.bool_val();
    case Field::Kind::kText:
      if (!message.has_str_val()) fail(field, "expected a text");
      check_choice(field, message.str_val());
      return message.str_val();
    case Field::Kind::kFloat:
      if (!message.has_float_val()) fail(field, "expected a float");
      return message.float_val();
    case Field::Kind::kNumber:
      if (!message.has_stream()) fail(field, "expected bytes");
      return number(field, message.stream());
    case Field::Kind::kContainer:
      break;  // above
  }
  return nullptr;
}

void set_datum(const Field& field, const Json& value, bfrt_proto::DataField& message) {
  message.set_field_id(field.id);
  if (field.kind == Field::Kind::kContainer) return set_containers(field, value, message);
  if (value.is_array()) return set_list(field, value, message);
  try {
    switch (field.kind) {
      case Field::Kind::kBool:
        return message.set_bool_val(value.is_boolean() ? value.get<bool>() : value != 0);
      case Field::Kind::kText:
        return message.set_str_val(value.get<std::string>());
      case Field::Kind::kFloat:
        return message.set_float_val(value.get<float>());
      case Field::Kind::kNumber:
        return message.set_stream(byte_string(field, value));
      case Field::Kind::kContainer:
        return;  // above
    }
  } catch (const Json::exception& error) {
    fail(field, value.dump() + ": " + error.what());
  }
}

Json key(const Field& field, const bfrt_proto::KeyField& message) {
  const auto expect = [&](bool given, const char* kind) {
    if (!given) fail(field, std::string("expected an ") + kind + " match");
  };
  switch (field.match) {
    case Field::Match::kExact:
      expect(message.has_exact(), "exact");
      if (field.kind == Field::Kind::kText) return message.exact().value();
      return number(field, message.exact().value());
    case Field::Match::kTernary:
      expect(message.has_ternary(), "ternary");
      return {{"value", number(field, message.ternary().value(), "value ")},
              {"mask", number(field, message.ternary().mask(), "mask ")}};
    case Field::Match::kLpm:
      expect(message.has_lpm(), "lpm");
      if (message.lpm().prefix_len() < 0 || message.lpm().prefix_len() > field.width) {
        fail(field, "prefix length " + std::to_string(message.lpm().prefix_len()) +
                        "; expected 0 to " + std::to_string(field.width));
      }
      return {{"value", number(field, message.lpm().value())},
              {"prefix_len", static_cast<unsigned>(message.lpm().prefix_len())}};
    case Field::Match::kRange:
      expect(message.has_range(), "range");
      return {{"low", number(field, message.range().low(), "low ")},
              {"high", number(field, message.range().high(), "high ")}};
    case Field::Match::kOptional:
      fail(field, "matches of kind Optional do not exist here");
  }
  return nullptr;
}

void set_key(const Field& field, const Json& value, bfrt_proto::KeyField& message) {
  message.set_field_id(field.id);
  try {
    switch (field.match) {
      case Field::Match::kExact:
        message.mutable_exact()->set_value(field.kind == Field::Kind::kText
                                               ? value.get<std::string>()
                                               : byte_string(field, value));
        return;
      case Field::Match::kTernary:
        message.mutable_ternary()->set_value(byte_string(field, value.at("value")));
        message.mutable_ternary()->set_mask(byte_string(field, value.at("mask")));
        return;
      case Field::Match::kLpm:
        message.mutable_lpm()->set_value(byte_string(field, value.at("value")));
        message.mutable_lpm()->set_prefix_len(value.at("prefix_len").get<int>());
        return;
      case Field::Match::kRange:
        message.mutable_range()->set_low(byte_string(field, value.at("low")));
        message.mutable_range()->set_high(byte_string(field, value.at("high")));
        return;
      case Field::Match::kOptional:
        fail(field, "matches of kind Optional do not exist here");
    }
  } catch (const Json::exception& error) {
    fail(field, value.dump() + ": " + error.what());
  }
}

}  // namespace turntable::bfrt
