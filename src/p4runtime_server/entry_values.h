// The parts of entries: keys and actions as P4Runtime says them, and as softswitch's commands do.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bfrt_server/switch_link.h"
#include "p4/v1/p4runtime.pb.h"
#include "p4runtime_server/program_info.h"

namespace turntable::p4runtime_server {

using MatchFields = google::protobuf::RepeatedPtrField<config::MatchField>;
using FieldMatches = google::protobuf::RepeatedPtrField<p4::v1::FieldMatch>;

// How texts of errors name a table.
std::string in(const config::Table& table);

// Whether entries have a priority: where a field may match more than one value in more ways than a
// prefix.
bool has_priority(const config::Table& table);

// P4Runtime: the highest number first, from 1 on. BfRt, and softswitch: the lowest, of 24 bits.
// Throws Refusal INVALID_ARGUMENT.
std::uint32_t switch_priority(const config::Table& table, std::int32_t priority);
std::int32_t client_priority(std::uint32_t priority);

// The key of an entry by the names of its fields. Throws Refusal: INVALID_ARGUMENT a field that is
// missing, not there, given twice or not canonical; OUT_OF_RANGE a number that is too large.
nlohmann::json key_of(const config::Table& table, const p4::v1::TableEntry& entry);
// The same of anything that is matched; `owner` names it in errors.
nlohmann::json key_of(const MatchFields& fields, const FieldMatches& given,
                      const std::string& owner);
// The same with what matches everything for the fields that are not given.
nlohmann::json full_key(const config::Table& table, nlohmann::json key);
// Fields that match everything are left out.
void put_key(const config::Table& table, const nlohmann::json& key, p4::v1::TableEntry& entry);

// Where an entry is: {"table", "key", ["priority"]}. Throws Refusal INVALID_ARGUMENT, as key_of().
nlohmann::json place_of(const ProgramInfo& info, const config::Table& table,
                        const p4::v1::TableEntry& entry);
// What softswitch has there, or null. `place`: as place_of() has it; more does no harm. Throws
// CommandError.
nlohmann::json entry_at(bfrt_server::SwitchLink& link, const nlohmann::json& place);
// Of an entry with is_default_action. Throws Refusal INVALID_ARGUMENT where it has a key or a
// priority.
void check_default_place(const config::Table& table, const p4::v1::TableEntry& entry);

// The same of what softswitch says of an entry: {"key", ["priority"]}.
p4::v1::TableEntry place_on_switch(const config::Table& table, const nlohmann::json& found);

// What an action of `parameters` is given. Throws Refusal INVALID_ARGUMENT.
nlohmann::json data_of(const config::Action& action, const p4::v1::Action& given);
void put_action(const config::Action& action, const nlohmann::json& data, p4::v1::Action& put);

}  // namespace turntable::p4runtime_server
