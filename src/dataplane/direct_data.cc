#include "dataplane/direct_data.h"

#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "dataplane/filter_codec.h"
#include "dataplane/meter_codec.h"
#include "dataplane/values.h"

namespace turntable::dataplane {
namespace {

constexpr const char* kCounterPrefix = "$COUNTER_SPEC_";
constexpr const char* kPackets = "$COUNTER_SPEC_PKTS";
constexpr const char* kBytes = "$COUNTER_SPEC_BYTES";
constexpr const char* kTtl = "$ENTRY_TTL";
constexpr const char* kHitState = "$ENTRY_HIT_STATE";
constexpr const char* kIdle = "ENTRY_IDLE";
constexpr const char* kActive = "ENTRY_ACTIVE";

}  // namespace

bool DirectData::has(const std::string& field) const {
  return (table_.has_counter() && field.starts_with(kCounterPrefix)) ||
         (table_.meter_unit() && field.starts_with(kMeterPrefix)) ||
         (table_.filter_kind() && is_filter_field(*table_.filter_kind(), field)) ||
         (table_.ages() && (field == kTtl || field == kHitState)) ||
         schema_.cell_field(field) != nullptr;
}

void DirectData::put(const nlohmann::json& data, Table::Words& words) const {
  bool has_limits = false;
  for (const auto& [field, value] : data.items()) {
    if (!has(field)) continue;
    if (field.starts_with(kCounterPrefix)) {
      put_count(field, value, words);
    } else if (table_.filter_kind() && is_filter_field(*table_.filter_kind(), field)) {
      put_filter_field(*table_.filter_kind(), field, value, "table " + schema_.name,
                       words.data() + table_.filter_start());
    } else if (field == kTtl || field == kHitState) {
      put_age(field, value, words);
    } else if (schema_.cell_field(field) != nullptr) {
      put_cell(*schema_.cell_field(field), value, words);
    } else {
      has_limits = true;
    }
  }
  if (has_limits) put_limits(data, words);
}

void DirectData::put_count(const std::string& field, const nlohmann::json& value,
                           Table::Words& words) const {
  words[field == kPackets ? 1 : 2] =
      static_cast<std::uint64_t>(parse_value(value, 64, "table " + schema_.name + ", " + field));
}

void DirectData::put_age(const std::string& field, const nlohmann::json& value,
                         Table::Words& words) const {
  Aging aging(words.data() + table_.aging_start());
  const std::string what = "table " + schema_.name + ", " + field;
  if (field == kTtl) {
    aging.set_ttl_ms(static_cast<std::uint64_t>(parse_value(value, 32, what)));
  } else if (value == kIdle || value == kActive) {
    aging.set_active(value == kActive);
  } else {
    throw bad_argument(what + " is " + value.dump() + "; expected \"" + kIdle + "\" or \"" +
                       kActive + "\"");
  }
}

void DirectData::put_cell(const DataSchema& field, const nlohmann::json& value,
                          Table::Words& words) const {
  const std::string what = "table " + schema_.name + ", " + field.name;
  words[table_.cell_start() + static_cast<std::size_t>(field.word)] =
      static_cast<std::uint64_t>(parse_value(value, field.width, what));
}

void DirectData::put_limits(const nlohmann::json& data, Table::Words& words) const {
  nlohmann::json limits = nlohmann::json::object();
  for (const auto& [field, value] : data.items()) {
    if (field.starts_with(kMeterPrefix)) limits[field] = value;
  }
  const auto read = read_limits(*table_.meter_unit(), limits, "table " + schema_.name);
  table_.put_meter(read ? MeterCell::limited_to(*read) : MeterCell{}, words);
}

nlohmann::json DirectData::counts(std::uint32_t entry) const {
  const auto words = table_.words(entry);
  nlohmann::json result = nlohmann::json::object();
  if (schema_.counts_packets) result[kPackets] = words[1];
  if (schema_.counts_bytes) result[kBytes] = words[2];
  return result;
}

nlohmann::json DirectData::all(std::uint32_t entry) const {
  nlohmann::json result = table_.has_counter() ? counts(entry) : nlohmann::json::object();
  if (table_.meter_unit()) {
    const MeterCell cell = table_.meter(entry);
    result.update(written_limits(*table_.meter_unit(),
                                 cell.is_limited != 0 ? std::optional(cell.limits) : std::nullopt));
  }
  if (table_.filter_kind()) {
    const auto* cell = table_.words(entry).data() + table_.filter_start();
    result.update(filter_fields(*table_.filter_kind(), cell));
  }
  if (table_.ages() && entry != kNoEntry) {
    const auto words = table_.words(entry);
    Table::Words copied(words.begin(), words.end());
    const Aging aging(copied.data() + table_.aging_start());
    result[kTtl] = aging.left_ms(table_.now_ns());
    result[kHitState] = aging.is_active() ? kActive : kIdle;
  }
  for (const DataSchema& field : schema_.cell) {
    result[field.name] =
        table_.words(entry)[table_.cell_start() + static_cast<std::size_t>(field.word)];
  }
  return result;
}

}  // namespace turntable::dataplane
