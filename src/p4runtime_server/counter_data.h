// Packets and bytes: of P4Runtime's messages, and of the fields of softswitch's commands.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "p4/v1/p4runtime.pb.h"
#include "p4runtime_server/program_info.h"

namespace turntable::p4runtime_server {

p4::v1::CounterData counter_data(const config::CounterSpec& spec, const nlohmann::json& fields);

// Throws Refusal INVALID_ARGUMENT for a negative number, and for what the counter does not count.
void put_counter_data(const config::CounterSpec& spec, const p4::v1::CounterData& data,
                      nlohmann::json& fields);

}  // namespace turntable::p4runtime_server
