#include "p4runtime_server/running_program.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace turntable::p4runtime_server {
namespace {

using Json = nlohmann::json;

// What the names of the program's tables begin with.
std::string pipe_of(const Json& schema) {
  const Json& tables = schema.at("tables");
  if (tables.empty()) return "pipe";
  const auto name = tables.front().at("name").get<std::string>();
  return name.substr(0, name.find('.'));
}

// By profile, the selector that depends on it.
std::map<std::string, std::string> selectors_of(const Json& schema) {
  std::map<std::uint32_t, std::string> names;
  for (const Json& table : schema.at("tables")) names[table.at("id")] = table.at("name");
  std::map<std::string, std::string> selectors;
  for (const Json& table : schema.at("tables")) {
    if (table.at("table_type") != "Selector") continue;
    for (const Json& profile : table.at("depends_on"))
      selectors[names.at(profile)] = table.at("name");
  }
  return selectors;
}

ProgramInfo info_of(bfrt_server::SwitchLink& link) {
  const Json schema = link.call("schema", Json::object());
  const Json p4info = link.call("p4info", Json::object());
  return {p4info.at("p4info").get<std::string>(), pipe_of(schema), selectors_of(schema)};
}

}  // namespace

void put_notes(const EntryNotes& notes, p4::v1::TableEntry& entry) {
  entry.set_metadata(notes.metadata);
  entry.set_controller_metadata(notes.controller_metadata);
  entry.set_idle_timeout_ns(notes.idle_timeout_ns);
}

RunningProgram::RunningProgram(const SwitchAddress& address)
    : link_(address.directory, address.name), facts_(link_.bind_program()), info_(info_of(link_)) {}

void RunningProgram::note(const std::string& entry, EntryNotes notes) {
  const std::lock_guard lock(mutex_);
  const auto before = notes_.find(entry);
  if (before != notes_.end() && before->second.idle_timeout_ns != 0)
    idle_timeouts_.erase(idle_timeouts_.find(before->second.idle_timeout_ns));
  if (notes.idle_timeout_ns != 0) idle_timeouts_.insert(notes.idle_timeout_ns);
  if (notes.empty()) {
    notes_.erase(entry);
  } else {
    notes_[entry] = std::move(notes);
  }
}

std::optional<std::int64_t> RunningProgram::shortest_idle_timeout_ns() const {
  const std::lock_guard lock(mutex_);
  return idle_timeouts_.empty() ? std::nullopt : std::optional(*idle_timeouts_.begin());
}

void RunningProgram::forget_all() {
  one_shots().clear();
  watched_.clear();
  digests_.clear();
  const std::lock_guard lock(mutex_);
  notes_.clear();
  idle_timeouts_.clear();
}

void RunningProgram::take_over(RunningProgram& before) {
  one_shots_ = std::exchange(before.one_shots_, std::nullopt);
  watched_ = std::exchange(before.watched_, {});
  digests_.take_over(before.digests_);
  const std::scoped_lock lock(mutex_, before.mutex_);
  notes_ = std::exchange(before.notes_, {});
  idle_timeouts_ = std::exchange(before.idle_timeouts_, {});
}

std::set<std::uint32_t> RunningProgram::tables_with_idle_timeouts() const {
  const std::lock_guard lock(mutex_);
  std::set<std::uint32_t> tables;
  for (const auto& [entry, notes] : notes_) {
    p4::v1::TableEntry place;
    if (notes.idle_timeout_ns != 0 && place.ParseFromString(entry)) tables.insert(place.table_id());
  }
  return tables;
}

ActionSets& RunningProgram::one_shots() {
  if (!one_shots_) one_shots_.emplace(info_, link_);
  return *one_shots_;
}

void RunningProgram::watch(const GroupName& name, WatchedGroup group) {
  const bool watches = std::any_of(group.members.begin(), group.members.end(),
                                   [](const GroupMember& member) { return member.port; });
  if (watches) {
    watched_[name] = std::move(group);
  } else {
    watched_.erase(name);
  }
}

WatchedGroup RunningProgram::watched(const GroupName& name) const {
  const auto found = watched_.find(name);
  return found == watched_.end() ? WatchedGroup{} : found->second;
}

EntryNotes RunningProgram::notes(const std::string& entry) const {
  const std::lock_guard lock(mutex_);
  const auto found = notes_.find(entry);
  return found == notes_.end() ? EntryNotes{} : found->second;
}

void RunningProgram::set_cookie(std::optional<std::uint64_t> cookie) {
  const std::lock_guard lock(mutex_);
  cookie_ = cookie;
}

std::optional<std::uint64_t> RunningProgram::cookie() const {
  const std::lock_guard lock(mutex_);
  return cookie_;
}

void RunningProgram::set_source(std::string source) {
  const std::lock_guard lock(mutex_);
  source_ = std::move(source);
}

std::string RunningProgram::source() const {
  const std::lock_guard lock(mutex_);
  return source_;
}

}  // namespace turntable::p4runtime_server
