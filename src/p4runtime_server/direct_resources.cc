#include "p4runtime_server/direct_resources.h"

#include <nlohmann/json.hpp>

#include "p4runtime_server/counter_data.h"
#include "p4runtime_server/entry_values.h"
#include "p4runtime_server/meter_data.h"
#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {

const config::DirectCounter& need_counter(const ProgramInfo& info, const config::Table& table) {
  const config::DirectCounter* counter = info.direct_counter(table);
  if (counter == nullptr) throw invalid(in(table) + " has no direct counter");
  return *counter;
}

const config::DirectMeter& need_meter(const ProgramInfo& info, const config::Table& table) {
  const config::DirectMeter* meter = info.direct_meter(table);
  if (meter == nullptr) throw invalid(in(table) + " has no direct meter");
  return *meter;
}

void put_direct(const ProgramInfo& info, const config::Table& table,
                const p4::v1::TableEntry& entry, nlohmann::json& update) {
  if (entry.has_counter_data())
    put_counter_data(need_counter(info, table).spec(), entry.counter_data(), update["data"]);
  if (entry.has_meter_config()) need_meter(info, table);
  if (const config::DirectMeter* meter = info.direct_meter(table)) {
    const auto* config = entry.has_meter_config() ? &entry.meter_config() : nullptr;
    update["data"].update(meter_fields(meter->spec(), config, in(table)));
  }
}

void put_found_direct(const ProgramInfo& info, const config::Table& table,
                      const p4::v1::TableEntry& wanted, const nlohmann::json& data,
                      p4::v1::TableEntry& entry) {
  const config::DirectCounter* counter = info.direct_counter(table);
  if (wanted.has_counter_data() && counter != nullptr)
    *entry.mutable_counter_data() = counter_data(counter->spec(), data);
  const config::DirectMeter* meter = info.direct_meter(table);
  if (!wanted.has_meter_config() || meter == nullptr) return;
  if (const auto limits = meter_config(meter->spec(), data))
    *entry.mutable_meter_config() = *limits;
}

}  // namespace turntable::p4runtime_server
