// A meter's limits: of P4Runtime's messages, and of the fields of softswitch's commands.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "p4/v1/p4runtime.pb.h"
#include "p4runtime_server/program_info.h"

namespace turntable::p4runtime_server {

// Of the data of an entry or a cell. Nothing: the meter has no limits, every packet is green.
std::optional<p4::v1::MeterConfig> meter_config(const config::MeterSpec& spec,
                                                const nlohmann::json& data);

// The fields of a meter with `config`; nullptr: without limits. Throws Refusal INVALID_ARGUMENT,
// whose text begins with `what`, for a negative number and an excess burst.
nlohmann::json meter_fields(const config::MeterSpec& spec, const p4::v1::MeterConfig* config,
                            const std::string& what);

// `given`: whether a read or a write has counters of a meter's colours. Throws Refusal
// UNIMPLEMENTED.
void refuse_color_counters(bool given);

}  // namespace turntable::p4runtime_server
