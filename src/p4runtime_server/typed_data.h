// Values of the data plane whose types P4Info describes: cells of registers, digests.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "p4/v1/p4runtime.pb.h"
#include "p4runtime_server/bytestring.h"
#include "p4runtime_server/program_info.h"

namespace turntable::p4runtime_server {

// One value, or those of a struct or header in order.
std::vector<NumberType> types_of(const config::P4Info& info, const config::P4DataTypeSpec& spec);

// Of values as control commands have them: one, or an array of all of a struct.
p4::v1::P4Data data_of(const nlohmann::json& value, const std::vector<NumberType>& types);

// The other way. Throws Refusal, whose text begins with `what`.
nlohmann::json value_in(const p4::v1::P4Data& data, const std::vector<NumberType>& types,
                        const std::string& what);

// A digest from its fields by name.
p4::v1::P4Data digest_data(const config::P4Info& info, const config::P4DataTypeSpec& spec,
                           const nlohmann::json& fields);

}  // namespace turntable::p4runtime_server
