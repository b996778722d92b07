// Values of keys and data: BF Runtime's messages to and from those of control commands
// (docs/p4soft.md): numbers up to 64 bits as integers, wider ones as "0x…", texts, true and false,
// lists of these; containers as a list of objects.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>

#include "bfrt/bfruntime.pb.h"
#include "bfrt/schema.h"

namespace turntable::bfrt {

// A value that its field cannot have; the message names the field.
class ValueError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throw ValueError.
nlohmann::json datum(const Field& field, const bfrt_proto::DataField& message);
void set_datum(const Field& field, const nlohmann::json& value, bfrt_proto::DataField& message);

// By match kind: a value, {"value", "mask"}, {"value", "prefix_len"} or {"low", "high"}.
nlohmann::json key(const Field& field, const bfrt_proto::KeyField& message);
void set_key(const Field& field, const nlohmann::json& value, bfrt_proto::KeyField& message);

}  // namespace turntable::bfrt
