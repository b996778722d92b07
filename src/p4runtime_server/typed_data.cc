#include "p4runtime_server/typed_data.h"

#include <nlohmann/json.hpp>

#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {
namespace {

using Json = nlohmann::json;

NumberType width_of(const config::P4BitstringLikeTypeSpec& bits) {
  return bits.has_int_() ? NumberType{bits.int_().bitwidth(), true}
                         : NumberType{bits.bit().bitwidth()};
}

// What stands behind a new type.
const config::P4DataTypeSpec& original(const config::P4Info& info,
                                       const config::P4DataTypeSpec& type) {
  if (!type.has_new_type()) return type;
  return original(info, info.type_info().new_types().at(type.new_type().name()).original_type());
}

NumberType number_type(const config::P4Info& info, const config::P4DataTypeSpec& given) {
  const config::P4DataTypeSpec& type = original(info, given);
  if (type.has_bitstring()) return width_of(type.bitstring());
  if (type.has_serializable_enum()) {
    const auto& described =
        info.type_info().serializable_enums().at(type.serializable_enum().name());
    return {described.underlying_type().bitwidth()};
  }
  return {1};  // a bool
}

p4::v1::P4Data one_value(const config::P4Info& info, const config::P4DataTypeSpec& given,
                         const Json& value) {
  const config::P4DataTypeSpec& type = original(info, given);
  const std::string bytes = bytestring_of(value, number_type(info, type));
  p4::v1::P4Data data;
  if (type.has_bool_()) {
    data.set_bool_(bytes != std::string(1, '\0'));
  } else if (type.has_serializable_enum()) {
    data.set_enum_value(bytes);
  } else {
    data.set_bitstring(bytes);
  }
  return data;
}

}  // namespace

std::vector<NumberType> types_of(const config::P4Info& info, const config::P4DataTypeSpec& spec) {
  if (!spec.has_struct_()) return {number_type(info, spec)};
  std::vector<NumberType> types;
  for (const auto& member : info.type_info().structs().at(spec.struct_().name()).members())
    types.push_back(number_type(info, member.type_spec()));
  return types;
}

p4::v1::P4Data data_of(const Json& value, const std::vector<NumberType>& types) {
  p4::v1::P4Data data;
  if (types.size() == 1) {
    data.set_bitstring(bytestring_of(value, types[0]));
    return data;
  }
  for (std::size_t i = 0; i < types.size(); ++i)
    data.mutable_struct_()->add_members()->set_bitstring(bytestring_of(value.at(i), types[i]));
  return data;
}

Json value_in(const p4::v1::P4Data& data, const std::vector<NumberType>& types,
              const std::string& what) {
  if (types.size() == 1) {
    if (!data.has_bitstring()) throw invalid(what + ": expected a bitstring");
    return value_of(data.bitstring(), types[0], what);
  }
  if (!data.has_struct_() || data.struct_().members_size() != static_cast<int>(types.size()))
    throw invalid(what + ": expected a struct of " + std::to_string(types.size()));
  Json values = Json::array();
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::string& bytes = data.struct_().members(static_cast<int>(i)).bitstring();
    values.push_back(value_of(bytes, types[i], what));
  }
  return values;
}

// Padding has no value.
p4::v1::P4Data digest_data(const config::P4Info& info, const config::P4DataTypeSpec& spec,
                           const Json& fields) {
  p4::v1::P4Data data;
  if (spec.has_header()) {
    data.mutable_header()->set_is_valid(true);
    for (const auto& member : info.type_info().headers().at(spec.header().name()).members()) {
      const Json value = fields.value(member.name(), Json(0));
      data.mutable_header()->add_bitstrings(bytestring_of(value, width_of(member.type_spec())));
    }
    return data;
  }
  for (const auto& member : info.type_info().structs().at(spec.struct_().name()).members()) {
    const Json value = fields.value(member.name(), Json(0));
    *data.mutable_struct_()->add_members() = one_value(info, member.type_spec(), value);
  }
  return data;
}

}  // namespace turntable::p4runtime_server
