#include "shadowfax/cluster/cluster_state.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace turntable::shadowfax {
namespace {

using Json = nlohmann::json;

constexpr int kFormat = 1;

std::string text_of(hybridlog::HashRange range) {
  return std::to_string(range.first) + " to " + std::to_string(range.last);
}

std::string of(std::uint64_t id) {
  return "migration " + std::to_string(id);
}

}  // namespace

void ClusterState::enrol(ServerNumber server, Member member, const std::string& replaces) {
  const std::string noted = incarnation_of(server);
  if (!noted.empty() && noted == member.incarnation) return;
  if (noted != replaces) {
    throw Refusal("server " + std::to_string(server) + " was begun again: incarnation " +
                  (noted.empty() ? "none" : noted) + " is noted of it; expected " +
                  (replaces.empty() ? "none" : replaces));
  }
  members[server] = std::move(member);
  if (migration && migration->source == server && migration->phase == Migration::Phase::kPrepared)
    migration.reset();
}

std::string ClusterState::incarnation_of(ServerNumber server) const {
  const auto found = members.find(server);
  return found == members.end() ? std::string() : found->second.incarnation;
}

// What was asked for by a process that has died may be wrong by now: what it has recovered the next
// one says itself.
void ClusterState::require_enrolled(const Asker& asker) const {
  const std::string noted = incarnation_of(asker.server);
  if (asker.incarnation == noted) return;
  throw Refusal("server " + std::to_string(asker.server) + " was begun again: incarnation " +
                asker.incarnation + " asks; expected " + noted);
}

void ClusterState::begin(Migration asked, const std::string& incarnation) {
  asked.phase = Migration::Phase::kPrepared;
  if (migration) {
    if (migration == asked) return;
    throw Refusal(of(migration->id) + " is under way; expected one at a time");
  }
  require_next(asked.id);
  if (asked.range.first > asked.range.last)
    throw Refusal("hashes " + text_of(asked.range) + "; expected the first one first");
  if (asked.source == asked.target)
    throw Refusal("from server " + std::to_string(asked.source) + " to itself");
  for (const ServerNumber server : {asked.source, asked.target}) {
    if (!members.contains(server))
      throw Refusal("server " + std::to_string(server) + " has never been there");
  }
  require_enrolled({asked.source, incarnation});
  if (!view.is_owner(asked.source, asked.range)) {
    throw Refusal("server " + std::to_string(asked.source) + " does not own all hashes " +
                  text_of(asked.range));
  }
  last_migration = asked.id;
  migration = asked;
}

void ClusterState::require_next(std::uint64_t id) const {
  if (id == next_id()) return;
  throw Refusal(of(id) + " is not the next one, which is " + std::to_string(next_id()) +
                ": another one was begun meanwhile; try again");
}

void ClusterState::require_ids(std::uint64_t id) const {
  if (id == 0 || id > last_migration) throw Refusal(of(id) + " never was");
}

void ClusterState::own(std::uint64_t id, const std::string& incarnation) {
  require_ids(id);
  if (!migration || migration->id != id) throw Refusal(of(id) + " is not under way any more");
  if (migration->phase == Migration::Phase::kOwned) return;
  require_enrolled({migration->source, incarnation});
  // Nobody points to what points on.
  if (has_unresolved(migration->source, migration->range)) {
    throw Refusal("server " + std::to_string(migration->source) +
                  " has not resolved what it points to of hashes " + text_of(migration->range));
  }
  view = view.with_owner(migration->range, migration->target);
  migration->phase = Migration::Phase::kOwned;
}

void ClusterState::complete(std::uint64_t id, const std::string& incarnation,
                            const std::optional<SourceLog>& rest) {
  require_ids(id);
  if (!migration || migration->id != id) return;  // it is, and was told so
  if (migration->phase != Migration::Phase::kOwned)
    throw Refusal(of(id) + " is not owned by its target");
  require_enrolled({migration->target, incarnation});
  if (rest) {
    unresolved.push_back({.id = id,
                          .range = migration->range,
                          .source = migration->source,
                          .target = migration->target,
                          .receives_from = migration->receives_from,
                          .log = *rest});
  }
  migration.reset();
}

void ClusterState::resolved(std::uint64_t id, const std::string& incarnation) {
  require_ids(id);
  if (migration && migration->id == id) throw Refusal(of(id) + " is not complete");
  const auto found = std::ranges::find(unresolved, id, &Unresolved::id);
  if (found == unresolved.end()) return;
  require_enrolled({found->target, incarnation});
  unresolved.erase(found);
}

bool ClusterState::has_unresolved(ServerNumber target, hybridlog::HashRange range) const noexcept {
  return std::ranges::any_of(unresolved, [&](const Unresolved& each) {
    return each.target == target && each.range.first <= range.last &&
           range.first <= each.range.last;
  });
}

void ClusterState::cancel(std::uint64_t id, const std::optional<Asker>& source) {
  if (source) require_enrolled(*source);
  if (id == next_id()) last_migration = id;
  require_ids(id);
  if (!migration || migration->id != id) return;
  if (source && migration->source != source->server) return;
  if (migration->phase == Migration::Phase::kOwned) {
    throw Refusal(of(id) + " is owned by its target: it goes on, and the range may be moved back");
  }
  migration.reset();
}

std::optional<SourceLog> rest_of(const Json& args) {
  if (!args.contains("until")) return std::nullopt;
  return SourceLog{.begin = args.at("begin").get<std::uint64_t>(),
                   .until = args.at("until").get<std::uint64_t>()};
}

Json to_json(const ClusterState& state) {
  Json parts = Json::array();
  for (const View::Part& part : state.view.parts()) parts.push_back({part.first, part.owner});
  Json members = Json::array();
  for (const auto& [server, member] : state.members) {
    members.push_back({{"server", server},
                       {"address", member.address},
                       {"ports", member.ports},
                       {"peer_port", member.peer_port},
                       {"incarnation", member.incarnation}});
  }
  Json migration;
  if (state.migration) {
    const Migration& each = *state.migration;
    migration = {{"id", each.id},
                 {"first", each.range.first},
                 {"last", each.range.last},
                 {"source", each.source},
                 {"target", each.target},
                 {"receives_from", each.receives_from},
                 {"phase", each.phase == Migration::Phase::kOwned ? "owned" : "prepared"},
                 {"indirection", each.indirection}};
  }
  Json unresolved = Json::array();
  for (const Unresolved& each : state.unresolved) {
    unresolved.push_back({{"id", each.id},
                          {"first", each.range.first},
                          {"last", each.range.last},
                          {"source", each.source},
                          {"target", each.target},
                          {"receives_from", each.receives_from},
                          {"begin", each.log.begin},
                          {"until", each.log.until}});
  }
  return {{"format", kFormat},        {"view", {{"number", state.view.number()}, {"parts", parts}}},
          {"members", members},       {"migration", migration},
          {"unresolved", unresolved}, {"last_migration", state.last_migration}};
}

ClusterState state_of(const Json& json) {
  if (json.at("format") != kFormat) {
    throw std::invalid_argument("cluster state of format " + json.at("format").dump() +
                                "; expected " + std::to_string(kFormat));
  }
  ClusterState state;
  std::vector<View::Part> parts;
  for (const Json& part : json.at("view").at("parts"))
    parts.push_back({part.at(0).get<std::uint64_t>(), part.at(1).get<ServerNumber>()});
  state.view = View(json.at("view").at("number").get<std::uint64_t>(), std::move(parts));
  for (const Json& each : json.at("members")) {
    state.members[each.at("server").get<ServerNumber>()] = {
        .address = each.at("address").get<std::string>(),
        .ports = each.at("ports").get<std::vector<std::uint16_t>>(),
        .peer_port = each.at("peer_port").get<std::uint16_t>(),
        .incarnation = each.value("incarnation", "")};  // an older state has none
  }
  if (const Json& each = json.at("migration"); !each.is_null()) {
    state.migration = Migration{
        .id = each.at("id").get<std::uint64_t>(),
        .range = {each.at("first").get<std::uint64_t>(), each.at("last").get<std::uint64_t>()},
        .source = each.at("source").get<ServerNumber>(),
        .target = each.at("target").get<ServerNumber>(),
        .receives_from = each.at("receives_from").get<std::uint64_t>(),
        .phase =
            each.at("phase") == "owned" ? Migration::Phase::kOwned : Migration::Phase::kPrepared,
        .indirection = each.value("indirection", false)};
  }
  for (const Json& each : json.value("unresolved", Json::array())) {  // an older state has none
    state.unresolved.push_back(
        {.id = each.at("id").get<std::uint64_t>(),
         .range = {each.at("first").get<std::uint64_t>(), each.at("last").get<std::uint64_t>()},
         .source = each.at("source").get<ServerNumber>(),
         .target = each.at("target").get<ServerNumber>(),
         .receives_from = each.at("receives_from").get<std::uint64_t>(),
         .log = {.begin = each.at("begin").get<std::uint64_t>(),
                 .until = each.at("until").get<std::uint64_t>()}});
  }
  json.at("last_migration").get_to(state.last_migration);
  return state;
}

}  // namespace turntable::shadowfax
