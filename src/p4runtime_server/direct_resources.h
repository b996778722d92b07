// The counter and the meter that each entry of a table may have, as fields of the entry.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "p4/v1/p4runtime.pb.h"
#include "p4runtime_server/program_info.h"

namespace turntable::p4runtime_server {

// Throw Refusal INVALID_ARGUMENT where the table's entries have none.
const config::DirectCounter& need_counter(const ProgramInfo& info, const config::Table& table);
const config::DirectMeter& need_meter(const ProgramInfo& info, const config::Table& table);

// What a written entry says of them, into the "data" of an update for softswitch. A counter of
// which nothing is said stays as it is; a meter then has no limits. Throws Refusal
// INVALID_ARGUMENT.
void put_direct(const ProgramInfo& info, const config::Table& table,
                const p4::v1::TableEntry& entry, nlohmann::json& update);

// As far as `wanted` asks for them, from the data of an entry that softswitch has.
void put_found_direct(const ProgramInfo& info, const config::Table& table,
                      const p4::v1::TableEntry& wanted, const nlohmann::json& data,
                      p4::v1::TableEntry& entry);

}  // namespace turntable::p4runtime_server
