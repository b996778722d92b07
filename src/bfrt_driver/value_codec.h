// Values of keys and data: JSON of the control protocol to and from BF Runtime's messages, where a
// number is its bytes in big-endian order, exactly as many as its bits need.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bfrt/bfruntime.pb.h"
#include "bfrt/schema.h"
#include "dataplane/bits.h"

namespace turntable::bfrt_driver {

// A number that the switch has given for a field. Throws CommandError internal where it has not the
// length of the field.
dataplane::uint128 to_number(const bfrt::Field& field, const std::string& bytes);

// Throws CommandError bad_argument that begins with `what`. An address or "0x..." is a number too.
bfrt_proto::DataField encode_data(const bfrt::Field& field, const nlohmann::json& value,
                                  const std::string& what);
// Of a fixed table, a bool is true or false; of the program's, 0 or 1, as every value of one bit.
nlohmann::json decode_data(const bfrt::Field& field, const bfrt_proto::DataField& value,
                           bool fixed);

// `value` as its match type has it: 5, {"value", "prefix_len"}, {"value", "mask"}, {"low", "high"}.
bfrt_proto::KeyField encode_key(const bfrt::Field& key, const nlohmann::json& value,
                                const std::string& what);
// What matches anything, for an lpm, ternary or range key.
bfrt_proto::KeyField any_key(const bfrt::Field& key);
nlohmann::json decode_key(const bfrt::Field& key, const bfrt_proto::KeyField& value);

}  // namespace turntable::bfrt_driver
