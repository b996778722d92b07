#include "p4runtime_server/program_info.h"

#include <google/protobuf/text_format.h>

#include <stdexcept>

#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {
namespace {

template <typename Objects, typename Map>
void put_ids(const Objects& objects, Map& map) {
  for (const auto& object : objects) map[object.preamble().id()] = &object;
}

template <typename Objects, typename Map>
void put_tables(const Objects& objects, Map& map) {
  for (const auto& object : objects) map[object.direct_table_id()] = &object;
}

template <typename Map>
auto find_or_null(const Map& map, std::uint32_t id) {
  const auto found = map.find(id);
  return found == map.end() ? nullptr : found->second;
}

template <typename Map>
const auto& find(const Map& map, std::uint32_t id, const char* kind) {
  const auto* found = find_or_null(map, id);
  if (found == nullptr)
    throw not_found(std::string("the program has no ") + kind + " with id " + std::to_string(id));
  return *found;
}

}  // namespace

ProgramInfo::ProgramInfo(const std::string& text, std::string pipe,
                         std::map<std::string, std::string> selectors)
    : pipe_(std::move(pipe)), selectors_(std::move(selectors)) {
  if (!google::protobuf::TextFormat::ParseFromString(text, &document_))
    throw std::runtime_error("the program's P4Info cannot be read");
  put_ids(document_.tables(), tables_);
  put_ids(document_.actions(), actions_);
  put_ids(document_.action_profiles(), profiles_);
  put_ids(document_.counters(), counters_);
  put_ids(document_.meters(), meters_);
  put_ids(document_.registers(), registers_);
  put_ids(document_.value_sets(), value_sets_);
  put_ids(document_.digests(), digests_);
  for (const config::Digest& digest : document_.digests())
    digests_by_name_[on_switch(digest.preamble())] = &digest;
  put_tables(document_.direct_counters(), direct_counters_);
  put_tables(document_.direct_meters(), direct_meters_);
  for (const config::Action& action : document_.actions())
    actions_by_name_[action.preamble().name()] = &action;
}

const config::Table& ProgramInfo::table(std::uint32_t id) const {
  return find(tables_, id, "table");
}

const config::Action& ProgramInfo::action(std::uint32_t id) const {
  return find(actions_, id, "action");
}

const config::ActionProfile& ProgramInfo::profile(std::uint32_t id) const {
  return find(profiles_, id, "action profile");
}

const config::Counter& ProgramInfo::counter(std::uint32_t id) const {
  return find(counters_, id, "counter");
}

const config::Meter& ProgramInfo::meter(std::uint32_t id) const {
  return find(meters_, id, "meter");
}

const config::Register& ProgramInfo::register_of(std::uint32_t id) const {
  return find(registers_, id, "register");
}

const config::ValueSet& ProgramInfo::value_set(std::uint32_t id) const {
  return find(value_sets_, id, "value set");
}

const config::Action& ProgramInfo::action(const std::string& name) const {
  const auto found = actions_by_name_.find(name);
  if (found == actions_by_name_.end())
    throw not_found("the program has no action \"" + name + "\"");
  return *found->second;
}

const config::Digest& ProgramInfo::digest(std::uint32_t id) const {
  return find(digests_, id, "digest");
}

const config::Digest* ProgramInfo::digest(const std::string& on_switch) const {
  const auto found = digests_by_name_.find(on_switch);
  return found == digests_by_name_.end() ? nullptr : found->second;
}

const config::DirectCounter* ProgramInfo::direct_counter(const config::Table& table) const {
  return find_or_null(direct_counters_, table.preamble().id());
}

const config::DirectMeter* ProgramInfo::direct_meter(const config::Table& table) const {
  return find_or_null(direct_meters_, table.preamble().id());
}

const std::string& ProgramInfo::selector_of(const config::ActionProfile& profile) const {
  static const std::string none;
  const auto found = selectors_.find(on_switch(profile.preamble()));
  return found == selectors_.end() ? none : found->second;
}

}  // namespace turntable::p4runtime_server
