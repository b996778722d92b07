// What mcload prints: mutilate's table, and everything as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "mcload/generator.h"

namespace turntable::mcload {

// Rows read, update and op_q in mutilate's columns; latencies in us.
std::string table_header();
std::string table_rows(const Measured& measured, bool from_send);
// Total QPS, misses, skipped requests, traffic, and what mutilate does not know.
std::string table_footer(const Measured& measured, bool from_send, bool is_closed_loop);

// For --scan: a header and a line per rate.
std::string scan_header();
std::string scan_row(const Measured& measured, bool from_send, double rate_per_s);

// A line per bucket, "from_us to_us count share": the distribution of GETs and SETs together.
std::string distribution(const Measured& measured, bool from_send);

// What standard error has to say; empty: nothing. How many requests of a measurement have no
// answer, and what must not happen in any: connections that were closed or silent, errors.
std::string unanswered_note(const Measured& measured);
std::string fault_note(const KeyValueStatistics& all);

// Percentiles in us, beside raw_statistics().
nlohmann::json summary(const Measured& measured);

}  // namespace turntable::mcload
