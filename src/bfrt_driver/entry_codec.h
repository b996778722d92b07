// Entries of tables: the updates and entries of the control protocol to and from BF Runtime's.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bfrt/bfruntime.pb.h"
#include "bfrt_driver/switch_schema.h"

namespace turntable::bfrt_driver {

// Adds one element of table_write's "updates" to `request`; columns become an update of
// each row. Throws CommandError bad_argument.
void add_update(const SwitchSchema& schema, const nlohmann::json& update,
                bfrt_proto::WriteRequest& request);
// Whether each of its rows is one, of an update that was added.
bool has_columns(const nlohmann::json& update);

// An update without key and data.
bfrt_proto::TableEntry& new_update(bfrt_proto::WriteRequest& request, const bfrt::Table& table,
                                   bfrt_proto::Update::Type type);

// {"key", ["priority"], ["action"], "data"}
nlohmann::json entry_of(const bfrt::Table& table, const bfrt_proto::TableEntry& entry);
nlohmann::json key_of(const bfrt::Table& table, const bfrt_proto::TableEntry& entry);
// The counts among the data, by BF Runtime's names.
nlohmann::json counts_of(const bfrt::Table& table, const bfrt_proto::TableEntry& entry);

// An exact key field of a table, by name.
void set_key(const bfrt::Table& table, const std::string& name, std::uint64_t value,
             bfrt_proto::TableEntry& entry);
// Of an entry read; throws std::runtime_error where the switch has left it out.
std::uint64_t exact_key(const bfrt::Table& table, const std::string& name,
                        const bfrt_proto::TableEntry& entry);

}  // namespace turntable::bfrt_driver
