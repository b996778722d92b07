#include "bfrt_driver/value_codec.h"

#include <nlohmann/json.hpp>

#include "bfrt/byte_string.h"
#include "common/command_error.h"
#include "dataplane/values.h"

namespace turntable::bfrt_driver {
namespace {

using Json = nlohmann::json;
using dataplane::format_value;
using dataplane::parse_value;
using dataplane::uint128;

std::string parse_bytes(const Json& value, int width, const std::string& what) {
  if (width > 128) {
    throw bad_argument(what + " has " + std::to_string(width) +
                       " bits; the control protocol has numbers of up to 128");
  }
  return bfrt::to_byte_string(parse_value(value, width, what), width);
}

// A switch may refuse bits of the value that the mask does not look at.
std::string masked(std::string bytes, const std::string& mask) {
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(bytes[i] & mask[i]);
  return bytes;
}

std::string prefix_mask(int prefix, int width) {
  uint128 mask = 0;
  for (int bit = 0; bit < prefix; ++bit) mask |= uint128{1} << (width - 1 - bit);
  return bfrt::to_byte_string(mask, width);
}

const Json& part(const Json& value, const char* name, const std::string& what, const char* form) {
  if (!value.is_object() || !value.contains(name))
    throw bad_argument(what + ": " + value.dump() + " lacks \"" + name + "\"; expected " + form);
  return value.at(name);
}

bool truth(const Json& value, const std::string& what) {
  if (value.is_boolean()) return value;
  return parse_value(value, 1, what) != 0;
}

void encode_list(const bfrt::Field& field, const Json& value, const std::string& what,
                 bfrt_proto::DataField& data) {
  if (!value.is_array()) throw bad_argument(what + " is " + value.dump() + "; expected a list");
  switch (field.kind) {
    case bfrt::Field::Kind::kBool:
      data.mutable_bool_arr_val();
      for (const Json& item : value) data.mutable_bool_arr_val()->add_val(truth(item, what));
      return;
    case bfrt::Field::Kind::kText:
      data.mutable_str_arr_val();
      for (const Json& item : value) data.mutable_str_arr_val()->add_val(item);
      return;
    case bfrt::Field::Kind::kContainer:
      throw bad_argument(what + " is a list of containers, which the driver does not send");
    default:
      data.mutable_int_arr_val();
      for (const Json& item : value) {
        data.mutable_int_arr_val()->add_val(
            static_cast<std::uint32_t>(parse_value(item, std::min(field.width, 32), what)));
      }
  }
}

template <class List>
Json to_list(const List& values) {
  Json list = Json::array();
  for (const auto& value : values) list.push_back(value);
  return list;
}

}  // namespace

uint128 to_number(const bfrt::Field& field, const std::string& bytes) {
  if (const auto number = bfrt::from_byte_string(bytes, field.width)) return *number;
  throw CommandError("internal", "field " + field.name + " of the switch: expected " +
                                     std::to_string(field.bytes()) + " bytes with " +
                                     std::to_string(field.width) + " bits, not " +
                                     std::to_string(bytes.size()) + " bytes");
}

bfrt_proto::DataField encode_data(const bfrt::Field& field, const Json& value,
                                  const std::string& what) {
  bfrt_proto::DataField data;
  data.set_field_id(field.id);
  if (field.repeated) {
    encode_list(field, value, what, data);
    return data;
  }
  switch (field.kind) {
    case bfrt::Field::Kind::kNumber:
      data.set_stream(parse_bytes(value, field.width, what));
      break;
    case bfrt::Field::Kind::kBool:
      data.set_bool_val(truth(value, what));
      break;
    case bfrt::Field::Kind::kText:
      if (!value.is_string())
        throw bad_argument(what + " is " + value.dump() + "; expected a text");
      data.set_str_val(value);
      break;
    case bfrt::Field::Kind::kFloat:
      if (!value.is_number())
        throw bad_argument(what + " is " + value.dump() + "; expected a number");
      data.set_float_val(value);
      break;
    case bfrt::Field::Kind::kContainer:
      break;  // repeated: above
  }
  return data;
}

Json decode_data(const bfrt::Field& field, const bfrt_proto::DataField& value, bool fixed) {
  switch (value.value_case()) {
    case bfrt_proto::DataField::kStream:
      return format_value(to_number(field, value.stream()));
    case bfrt_proto::DataField::kFloatVal:
      return value.float_val();
    case bfrt_proto::DataField::kStrVal:
      return value.str_val();
    case bfrt_proto::DataField::kBoolVal:
      return fixed ? Json(value.bool_val()) : Json(value.bool_val() ? 1U : 0U);
    case bfrt_proto::DataField::kIntArrVal:
      return to_list(value.int_arr_val().val());
    case bfrt_proto::DataField::kBoolArrVal:
      return to_list(value.bool_arr_val().val());
    case bfrt_proto::DataField::kStrArrVal:
      return to_list(value.str_arr_val().val());
    default:
      // An empty list may come without any value.
      return field.repeated ? Json::array() : Json();
  }
}

bfrt_proto::KeyField encode_key(const bfrt::Field& key, const Json& value,
                                const std::string& what) {
  bfrt_proto::KeyField field;
  field.set_field_id(key.id);
  switch (key.match) {
    case bfrt::Field::Match::kExact:
      if (key.kind == bfrt::Field::Kind::kText) {
        if (!value.is_string())
          throw bad_argument(what + " is " + value.dump() + "; expected a text");
        field.mutable_exact()->set_value(value.get<std::string>());
      } else {
        field.mutable_exact()->set_value(parse_bytes(value, key.width, what));
      }
      break;
    case bfrt::Field::Match::kLpm: {
      constexpr const char* kForm = R"({"value", "prefix_len"})";
      const std::string number = parse_bytes(part(value, "value", what, kForm), key.width, what);
      const Json& length = part(value, "prefix_len", what, kForm);
      if (!dataplane::is_natural(length) ||
          length.get<std::uint64_t>() > static_cast<unsigned>(key.width)) {
        throw bad_argument(what + ": prefix_len " + length.dump() + " is not from 0 to " +
                           std::to_string(key.width));
      }
      field.mutable_lpm()->set_value(masked(number, prefix_mask(length, key.width)));
      field.mutable_lpm()->set_prefix_len(length);
      break;
    }
    case bfrt::Field::Match::kTernary: {
      constexpr const char* kForm = R"({"value", "mask"})";
      const std::string mask =
          parse_bytes(part(value, "mask", what, kForm), key.width, what + " mask");
      field.mutable_ternary()->set_value(
          masked(parse_bytes(part(value, "value", what, kForm), key.width, what), mask));
      field.mutable_ternary()->set_mask(mask);
      break;
    }
    case bfrt::Field::Match::kOptional:
      field.mutable_optional()->set_value(parse_bytes(value, key.width, what));
      field.mutable_optional()->set_is_valid(true);
      break;
    case bfrt::Field::Match::kRange: {
      constexpr const char* kForm = R"({"low", "high"})";
      field.mutable_range()->set_low(
          parse_bytes(part(value, "low", what, kForm), key.width, what + " low"));
      field.mutable_range()->set_high(
          parse_bytes(part(value, "high", what, kForm), key.width, what + " high"));
      // Of equal length and big-endian, they are in the order of their bytes.
      if (field.range().low() > field.range().high())
        throw bad_argument(what + ": low is above high in " + value.dump());
      break;
    }
  }
  return field;
}

bfrt_proto::KeyField any_key(const bfrt::Field& key) {
  const std::string zero = bfrt::to_byte_string(0, key.width);
  const uint128 most = key.width >= 128 ? ~uint128{0} : (uint128{1} << key.width) - 1;
  bfrt_proto::KeyField field;
  field.set_field_id(key.id);
  switch (key.match) {
    case bfrt::Field::Match::kLpm:
      field.mutable_lpm()->set_value(zero);
      break;
    case bfrt::Field::Match::kTernary:
      field.mutable_ternary()->set_value(zero);
      field.mutable_ternary()->set_mask(zero);
      break;
    case bfrt::Field::Match::kRange:
      field.mutable_range()->set_low(zero);
      field.mutable_range()->set_high(bfrt::to_byte_string(most, key.width));
      break;
    case bfrt::Field::Match::kOptional:
      field.mutable_optional()->set_value(zero);
      field.mutable_optional()->set_is_valid(false);
      break;
    case bfrt::Field::Match::kExact:
      field.mutable_exact()->set_value(zero);
      break;
  }
  return field;
}

Json decode_key(const bfrt::Field& key, const bfrt_proto::KeyField& value) {
  switch (value.match_type_case()) {
    case bfrt_proto::KeyField::kExact:
      if (key.kind == bfrt::Field::Kind::kText) return value.exact().value();
      return format_value(to_number(key, value.exact().value()));
    case bfrt_proto::KeyField::kLpm:
      return {{"value", format_value(to_number(key, value.lpm().value()))},
              {"prefix_len", value.lpm().prefix_len()}};
    case bfrt_proto::KeyField::kTernary:
      return {{"value", format_value(to_number(key, value.ternary().value()))},
              {"mask", format_value(to_number(key, value.ternary().mask()))}};
    case bfrt_proto::KeyField::kRange:
      return {{"low", format_value(to_number(key, value.range().low()))},
              {"high", format_value(to_number(key, value.range().high()))}};
    case bfrt_proto::KeyField::kOptional:
      if (!value.optional().is_valid()) return nullptr;
      return format_value(to_number(key, value.optional().value()));
    default:
      return nullptr;
  }
}

}  // namespace turntable::bfrt_driver
