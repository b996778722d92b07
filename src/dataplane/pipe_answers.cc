#include "dataplane/pipe_answers.h"

#include <algorithm>
#include <map>

namespace turntable::dataplane {
namespace {

using Json = nlohmann::json;
using Answers = std::vector<Json>;

bool is_state(const std::string& name) {
  return is_count(name) || name == "$ENTRY_HIT_STATE" || name == "$ENTRY_TTL";
}

std::string identity(const Json& entry) {
  const auto priority = entry.find("priority");
  return entry.at("key").dump() + (priority == entry.end() ? "" : priority->dump());
}

void join_state(Json& data, const std::string& name, const Json& other) {
  Json& value = data[name];
  if (is_count(name)) {
    value = value.get<std::uint64_t>() + other.get<std::uint64_t>();
  } else if (name == "$ENTRY_TTL") {
    value = std::max(value.get<std::uint64_t>(), other.get<std::uint64_t>());
  } else if (other == "ENTRY_ACTIVE") {
    value = other;
  }
}

// nullptr: the pipe does not have it. The first is there.
Json joined_entry(const std::vector<const Json*>& of_pipes) {
  const auto is_there = [](const Json* entry) { return entry != nullptr && !entry->is_null(); };
  const auto first = std::ranges::find_if(of_pipes, is_there);
  if (first == of_pipes.end()) return {};
  Json joined = **first;
  if (!joined.contains("data")) return joined;
  Json& data = joined["data"];
  const auto action_of = [](const Json& entry) { return entry.value("action", Json()); };
  bool differ = false;
  bool actions_differ = false;
  for (auto other = first + 1; other != of_pipes.end(); ++other) {
    if (!is_there(*other)) continue;
    actions_differ |= action_of(**other) != action_of(joined);
    for (const auto& [name, value] : (*other)->at("data").items()) {
      if (!data.contains(name)) {
        differ = true;
      } else if (is_state(name)) {
        join_state(data, name, value);
      } else {
        differ |= data[name] != value;
      }
    }
  }
  for (const Json* entry : of_pipes) {
    if (differ || actions_differ)
      joined["data_of_pipes"].push_back(is_there(entry) ? entry->at("data") : Json());
    if (actions_differ)
      joined["actions_of_pipes"].push_back(is_there(entry) ? action_of(*entry) : Json());
  }
  return joined;
}

// In the order of the first pipe, then what only later ones have.
Json joined_entries(const Answers& answers) {
  std::map<std::string, std::size_t> places;
  std::vector<std::vector<const Json*>> entries;
  for (std::size_t pipe = 0; pipe < answers.size(); ++pipe) {
    for (const Json& entry : answers[pipe].at("entries")) {
      const auto [place, is_new] = places.emplace(identity(entry), entries.size());
      if (is_new) entries.emplace_back(answers.size(), nullptr);
      entries[place->second][pipe] = &entry;
    }
  }
  Json joined = Json::array();
  for (const auto& of_pipes : entries) joined.push_back(joined_entry(of_pipes));
  return joined;
}

// Answers to a question for certain entries are in the order of the question.
Json joined_in_order(const Answers& answers) {
  Json joined = Json::array();
  for (std::size_t place = 0; place < answers.front().at("entries").size(); ++place) {
    std::vector<const Json*> of_pipes;
    for (const Json& answer : answers) of_pipes.push_back(&answer.at("entries").at(place));
    joined.push_back(joined_entry(of_pipes));
  }
  return joined;
}

bool have_same_keys(const Answers& answers) {
  const Json& first = answers.front().at("entries");
  return std::ranges::all_of(answers, [&](const Json& answer) {
    const Json& entries = answer.at("entries");
    return entries.size() == first.size() &&
           std::ranges::equal(entries, first, [](const Json& a, const Json& b) {
             return a.at("key") == b.at("key") &&
                    a.value("priority", Json()) == b.value("priority", Json());
           });
  });
}

}  // namespace

bool is_count(const std::string& name) {
  return name.starts_with("$COUNTER_SPEC_");
}

Json join_tables(const Answers& answers, bool are_in_order) {
  Json joined = answers.front();
  joined["entries"] =
      are_in_order || have_same_keys(answers) ? joined_in_order(answers) : joined_entries(answers);
  std::vector<const Json*> defaults;
  for (const Json& answer : answers) defaults.push_back(&answer.at("default"));
  joined["default"] = joined_entry(defaults);
  return joined;
}

// Usually all have the same in one order.
Json join_counters(const Answers& answers) {
  Json joined = answers.front();
  Json& counters = joined["counters"];
  const auto id = [](const Json& counter) {
    return counter.contains("key") ? counter.at("key").dump() : counter.at("index").dump();
  };
  const auto add = [](Json& sum, const Json& counter) {
    for (const auto& [name, value] : counter.items())
      if (is_count(name)) join_state(sum, name, value);
  };
  for (auto answer = answers.begin() + 1; answer != answers.end(); ++answer) {
    std::size_t likely = 0;
    for (const Json& counter : answer->at("counters")) {
      const auto is_same = [&](const Json& other) { return id(other) == id(counter); };
      auto same =
          counters.begin() + static_cast<std::ptrdiff_t>(std::min(likely++, counters.size()));
      if (same == counters.end() || !is_same(*same)) same = std::ranges::find_if(counters, is_same);
      if (same == counters.end()) {
        counters.push_back(counter);
      } else {
        add(*same, counter);
      }
    }
    if (joined.contains("default") && !joined["default"].is_null())
      add(joined["default"], answer->at("default"));
  }
  return joined;
}

}  // namespace turntable::dataplane
