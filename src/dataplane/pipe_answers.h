// Answers of several pipes to one question, made one.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace turntable::dataplane {

// Whether a datum of an entry is a count ("$COUNTER_SPEC_PKTS", "$COUNTER_SPEC_BYTES").
bool is_count(const std::string& name);

// Of table_read; entries of the same key are one. Counts are added up, an entry is active that is
// active in one pipe, and has the longest time to live of any. Where other data differ, they are
// those of the first pipe, and the entry has "data_of_pipes", null where a pipe does not have it.
// `are_in_order`: entries have the places of a question that named each.
nlohmann::json join_tables(const std::vector<nlohmann::json>& answers, bool are_in_order);

// Of counter_read: counts are added up.
nlohmann::json join_counters(const std::vector<nlohmann::json>& answers);

}  // namespace turntable::dataplane
