#include "p4runtime_server/idle_timeouts.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "p4runtime_server/entry_values.h"

namespace turntable::p4runtime_server {

bool supports_idle_timeout(const config::Table& table) {
  return table.idle_timeout_behavior() != config::Table::NO_TIMEOUT;
}

std::map<std::string, std::int64_t> idle_times_ns(RunningProgram& program,
                                                  const config::Table& table,
                                                  std::int64_t least_ns) {
  const nlohmann::json result = program.link().call(
      "aging_read", {{"table", program.info().on_switch(table.preamble())}, {"idle_ns", least_ns}});
  std::map<std::string, std::int64_t> times;
  for (const nlohmann::json& found : result.at("entries"))
    times[place_on_switch(table, found).SerializeAsString()] = found.at("idle_ns");
  return times;
}

std::vector<p4::v1::IdleTimeoutNotification> IdleTimeouts::run_out(RunningProgram& program) {
  std::vector<p4::v1::IdleTimeoutNotification> messages;
  std::map<std::string, std::int64_t> times;
  const auto shortest = program.shortest_idle_timeout_ns();
  if (!shortest) {
    times_.clear();
    return messages;
  }
  for (const config::Table& table : program.info().document().tables()) {
    if (!supports_idle_timeout(table)) continue;
    p4::v1::IdleTimeoutNotification message;
    for (const auto& [name, idle_ns] : idle_times_ns(program, table, *shortest)) {
      const EntryNotes notes = program.notes(name);
      if (notes.idle_timeout_ns == 0 || idle_ns < notes.idle_timeout_ns) continue;
      times[name] = idle_ns / notes.idle_timeout_ns;
      const auto before = times_.find(name);
      if (before != times_.end() && before->second >= times[name]) continue;
      p4::v1::TableEntry& entry = *message.add_table_entry();
      entry.ParseFromString(name);
      put_notes(notes, entry);
    }
    if (message.table_entry_size() > 0) messages.push_back(std::move(message));
  }
  times_ = std::move(times);
  return messages;
}

}  // namespace turntable::p4runtime_server
