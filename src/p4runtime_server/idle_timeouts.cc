#include "p4runtime_server/idle_timeouts.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "p4runtime_server/entry_values.h"

namespace turntable::p4runtime_server {

bool supports_idle_timeout(const config::Table& table) {
  return table.idle_timeout_behavior() != config::Table::NO_TIMEOUT;
}

std::map<std::string, IdleTime> idle_times(RunningProgram& program, const config::Table& table,
                                           std::int64_t least_ns) {
  const nlohmann::json result = program.link().call(
      "aging_read", {{"table", program.info().on_switch(table.preamble())}, {"idle_ns", least_ns}});
  const auto now_ns = result.at("now_ns").get<std::uint64_t>();
  std::map<std::string, IdleTime> times;
  for (const nlohmann::json& found : result.at("entries")) {
    const auto idle_ns = found.at("idle_ns").get<std::uint64_t>();
    times[place_on_switch(table, found).SerializeAsString()] = {static_cast<std::int64_t>(idle_ns),
                                                                now_ns - idle_ns};
  }
  return times;
}

bool RunOuts::add(const std::string& entry, const IdleTime& idle, std::int64_t timeout_ns) {
  const std::int64_t times = idle.ns / timeout_ns;
  if (times == 0) return false;
  now_[entry] = {idle.last_hit_ns, times};
  const auto before = before_.find(entry);
  return before == before_.end() || before->second.last_hit_ns != idle.last_hit_ns ||
         before->second.times < times;
}

void RunOuts::end_look() {
  before_ = std::move(now_);
  now_.clear();
}

std::vector<p4::v1::IdleTimeoutNotification> IdleTimeouts::run_out(RunningProgram& program) {
  std::vector<p4::v1::IdleTimeoutNotification> messages;
  const auto shortest = program.shortest_idle_timeout_ns();
  for (const config::Table& table : program.info().document().tables()) {
    if (!shortest || !supports_idle_timeout(table)) continue;
    p4::v1::IdleTimeoutNotification message;
    for (const auto& [name, idle] : idle_times(program, table, *shortest)) {
      const EntryNotes notes = program.notes(name);
      if (notes.idle_timeout_ns == 0 || !run_outs_.add(name, idle, notes.idle_timeout_ns)) continue;
      p4::v1::TableEntry& entry = *message.add_table_entry();
      entry.ParseFromString(name);
      put_notes(notes, entry);
    }
    if (message.table_entry_size() > 0) messages.push_back(std::move(message));
  }
  run_outs_.end_look();
  return messages;
}

}  // namespace turntable::p4runtime_server
