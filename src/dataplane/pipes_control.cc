#include "dataplane/pipes_control.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "common/command_error.h"
#include "dataplane/pipe_answers.h"
#include "dataplane/update_errors.h"
#include "dataplane/values.h"

namespace turntable::dataplane {
namespace {

using Json = nlohmann::json;

// Between the seeds of two pipes: far from what a program adds to it for its instances.
constexpr unsigned kSeedShift = 32;

std::uint64_t seed_of_pipe(std::uint64_t seed, std::uint32_t pipe) {
  return seed + (std::uint64_t{pipe} << kSeedShift);
}

bool is_list_of_updates(const Json& args) {
  const auto updates = args.find("updates");
  return updates != args.end() && updates->is_array();
}

// The arguments of table_write with these of its updates only.
Json part_of(const Json& args, std::size_t first, std::size_t end) {
  Json part = {{"updates", Json::array()}};
  if (args.contains("on_error")) part["on_error"] = args.at("on_error");
  for (std::size_t i = first; i < end; ++i) part["updates"].push_back(args.at("updates")[i]);
  return part;
}

bool has_counts(const Json& update) {
  const auto data = update.find("data");
  return data != update.end() && data->is_object() &&
         std::ranges::any_of(data->items(),
                             [](const auto& datum) { return is_count(datum.key()); });
}

// Counts are added up over the pipes of a scope, so one pipe has what is written of them.
void put_zero_counts(Json& update) {
  for (const auto& [name, value] : update["data"].items())
    if (is_count(name)) value = 0;
}

// A place in "errors" or "replaced" of a part that begins with update `first`.
Json moved(Json place, std::size_t first) {
  if (place.is_number()) return place.get<std::size_t>() + first;
  place["index"] = place["index"].get<std::size_t>() + first;
  return place;
}

void add_answer(const Json& part, std::size_t first, Json& answer) {
  answer["applied"] =
      answer.at("applied").get<std::size_t>() + part.at("applied").get<std::size_t>();
  for (const char* list : {"errors", "replaced"})
    for (const Json& place : part.at(list)) answer[list].push_back(moved(place, first));
}

}  // namespace

class PipesControl::Writes {
 public:
  Writes() = default;
  Writes(Writes&&) = default;
  Writes& operator=(Writes&&) = delete;
  // The last is taken back first.
  ~Writes() {
    while (!writes_.empty()) writes_.pop_back();
  }

  void add(std::unique_ptr<TableWrite> write) { writes_.push_back(std::move(write)); }
  void commit() noexcept {
    for (const auto& write : writes_) write->commit();
  }
  const Json& answer() const { return writes_.front()->answer(); }
  bool have_same_answers() const {
    return std::ranges::all_of(writes_,
                               [&](const auto& write) { return write->answer() == answer(); });
  }
  // Of updates that found no entry in any of them.
  Json not_found() const {
    std::map<std::size_t, std::size_t> pipes;  // that did not find it, by the update's number
    const Json none = Json::array();
    for (const auto& write : writes_)
      for (const Json& place : write->answer().value("not_found", none)) ++pipes[place.at("index")];
    Json in_all = none;
    for (const Json& place : answer().value("not_found", none))
      if (pipes.at(place.at("index")) == writes_.size()) in_all.push_back(place);
    return in_all;
  }
  // Of an update that went wrong in one of them. Nothing: it did in none.
  std::optional<Json> first_error() const {
    for (const auto& write : writes_) {
      const Json& errors = write->answer().at("errors");
      if (!errors.empty()) return errors.front();
    }
    return std::nullopt;
  }

 private:
  std::vector<std::unique_ptr<TableWrite>> writes_;
};

PipesControl::PipesControl(std::vector<ControlPlane*> pipes)
    : pipes_(std::move(pipes)), scopes_(static_cast<std::uint32_t>(pipes_.size())) {
  // The first has the numbers of a program that is alone.
  for (std::uint32_t pipe = 1; pipe < pipes_.size(); ++pipe)
    pipes_[pipe]->execute("random_seed", {{"seed", seed_of_pipe(0, pipe)}});
}

const std::map<std::string, PipesControl::Handler, std::less<>>& PipesControl::handlers() {
  static const std::map<std::string, Handler, std::less<>> table = {
      {"table_write", &PipesControl::table_write},
      {"table_read", &PipesControl::table_read},
      {"table_info", &PipesControl::table_info},
      {"counter_read", &PipesControl::counter_read},
      {"counter_write", &PipesControl::counter_write},
      {"counter_clear", &PipesControl::in_each},
      {"register_read", &PipesControl::register_read},
      {"register_write", &PipesControl::in_each},
      {"register_clear", &PipesControl::in_each},
      {"meter_write", &PipesControl::in_each},
      {"meter_clear", &PipesControl::in_each},
      {"meter_byte_count_adjust", &PipesControl::in_each},
      {"filter_write", &PipesControl::in_each},
      {"hash_write", &PipesControl::in_each},
      {"hash_reset", &PipesControl::in_each},
      {"settings_reset", &PipesControl::in_each},
      {"aging_update", &PipesControl::aging_update},
      {"aging_events", &PipesControl::aging_events},
      {"aging_read", &PipesControl::aging_read},
      {"digest_read", &PipesControl::digest_read},
      {"random_seed", &PipesControl::random_seed},
      {"scope_write", &PipesControl::scope_write},
      {"scope_read", &PipesControl::scope_read},
  };
  return table;
}

std::vector<std::string> PipesControl::commands() const {
  std::vector<std::string> names = pipes_.front()->commands();
  names.insert(names.end(), {"scope_write", "scope_read"});
  return names;
}

void PipesControl::at(std::uint64_t now_ns) {
  for (ControlPlane* pipe : pipes_) pipe->at(now_ns);
}

// What is not in the table says the same in every pipe: the schema, limits of meters.
Json PipesControl::execute(std::string_view command, const Json& args) {
  const auto handler = handlers().find(command);
  if (handler == handlers().end() || !args.is_object()) return in_first(std::string(command), args);
  return (this->*handler->second)(handler->first, args);
}

std::size_t PipesControl::digests_waiting() const {
  return std::accumulate(
      pipes_.begin(), pipes_.end(), std::size_t{0},
      [](std::size_t sum, const ControlPlane* pipe) { return sum + pipe->digests_waiting(); });
}

Json PipesControl::read_state() {
  Json pipes = Json::array();
  for (ControlPlane* pipe : pipes_) pipes.push_back(pipe->read_state());
  return {{"pipes", std::move(pipes)}, {"scopes", scopes_.of_all()}};
}

// Scopes of a table that is not there any more go with it: its entries are refused.
void PipesControl::take_state(const Json& state) {
  for (std::size_t pipe = 0; pipe < pipes_.size(); ++pipe)
    pipes_[pipe]->take_state(state.at("pipes").at(pipe));
  const Json schema = pipes_.front()->execute("schema", Json::object());
  for (const Json& table : schema.at("tables")) {
    const std::string name = table.at("name");
    if (const auto scopes = state.at("scopes").find(name); scopes != state.at("scopes").end())
      scopes_.set(name, scopes_.parse(*scopes));
  }
}

Json PipesControl::in_first(const std::string& command, const Json& args) {
  const std::uint32_t pipe = args.is_object() ? scopes_.pipes_in(args).front() : 0;
  return pipes_[pipe]->execute(command, args);
}

// A command of this kind is refused for its arguments alone, so by all pipes or by none.
Json PipesControl::in_each(const std::string& command, const Json& args) {
  return ask(scopes_.pipes_in(args), command, args).front();
}

std::vector<Json> PipesControl::ask(const Pipes& pipes, const std::string& command,
                                    const Json& args) {
  std::vector<Json> answers;
  for (const std::uint32_t pipe : pipes) answers.push_back(pipes_[pipe]->execute(command, args));
  return answers;
}

const PipesControl::KnownTable& PipesControl::known(const Json& args) {
  const auto name = args.find("table");
  const bool is_text = name != args.end() && name->is_string();
  if (is_text) {
    const auto found = known_.find(name->get_ref<const std::string&>());
    if (found != known_.end()) return found->second;
  }
  const Json question = is_text ? Json{{"table", *name}} : Json::object();
  const Json info = pipes_.front()->execute("table_info", question);
  const std::string type = info.at("type");
  return known_[*name] = {info.at("table"),
                          type == "Register" || type == "Counter" || type == "Meter"};
}

// A cell of a register, counter or meter may be written in any pipe.
Pipes PipesControl::pipes_to_write(const Json& update) {
  if (!update.is_object()) return scopes_.all();
  Pipes pipes = scopes_.pipes_in(update);
  if (pipes == scopes_.all() && scopes_.are_all_one() && !has_counts(update)) return pipes;
  const KnownTable& table = known(update);
  if (table.has_cells) return pipes;
  return scopes_.to_write(table.name, pipes);
}

std::vector<PipesControl::Run> PipesControl::runs_of(const Json& updates, Json* errors) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < updates.size(); ++i) {
    Pipes pipes;
    try {
      pipes = pipes_to_write(updates[i]);
    } catch (const CommandError& error) {
      if (errors == nullptr) throw refusal_of_batch(i, error);
      errors->push_back({{"index", i}, {"code", error.code()}, {"message", error.what()}});
      continue;
    }
    if (runs.empty() || runs.back().end != i || runs.back().pipes != pipes)
      runs.push_back({i, i, std::move(pipes)});
    runs.back().end = i + 1;
  }
  return runs;
}

PipesControl::Writes PipesControl::write(const Json& args, const Run& run) {
  Writes writes;
  const Json& updates = args.at("updates");
  const bool is_all = run.first == 0 && run.end == updates.size();
  const Json part = is_all ? Json() : part_of(args, run.first, run.end);
  const bool with_counts =
      std::any_of(updates.begin() + static_cast<std::ptrdiff_t>(run.first),
                  updates.begin() + static_cast<std::ptrdiff_t>(run.end), has_counts);
  for (const std::uint32_t pipe : run.pipes) {
    if (!with_counts) {
      writes.add(pipes_[pipe]->write_tables(is_all ? args : part));
      continue;
    }
    Json of_pipe = part_of(args, run.first, run.end);
    for (Json& update : of_pipe["updates"])
      if (has_counts(update) && !counts_in(pipe, run.pipes, update)) put_zero_counts(update);
    writes.add(pipes_[pipe]->write_tables(of_pipe));
  }
  return writes;
}

// Of the pipes that are written together the lowest of each scope counts what is written.
bool PipesControl::counts_in(std::uint32_t pipe, const Pipes& written, const Json& args) {
  for (const Pipes& scope : scopes_.of(known(args).name)) {
    if (!std::ranges::binary_search(scope, pipe)) continue;
    const auto first = std::ranges::find_if(
        scope, [&](std::uint32_t each) { return std::ranges::binary_search(written, each); });
    return *first == pipe;
  }
  return true;
}

Json PipesControl::counter_write(const std::string& command, const Json& args) {
  const Pipes pipes = scopes_.pipes_in(args);
  if (!has_counts(args)) return in_each(command, args);
  Json zero = args;
  put_zero_counts(zero);
  for (const std::uint32_t pipe : pipes)
    pipes_[pipe]->execute(command, counts_in(pipe, pipes, args) ? args : zero);
  return Json::object();
}

Json PipesControl::table_write(const std::string& command, const Json& args) {
  if (!is_list_of_updates(args)) return in_first(command, args);  // which says so
  const Json& updates = args.at("updates");
  if (!continues_on_error(args)) return write_all(args, runs_of(updates, nullptr));
  Json answer = {{"applied", 0}, {"errors", Json::array()}, {"replaced", Json::array()}};
  Json& errors = answer["errors"];
  for (const Run& run : runs_of(updates, &errors)) write_run(args, run, answer);
  std::ranges::stable_sort(errors.get_ref<Json::array_t&>(), {},
                           [](const Json& error) { return error.at("index").get<std::size_t>(); });
  return answer;
}

// In all pipes, or in none.
Json PipesControl::write_all(const Json& args, std::span<const Run> runs) {
  std::vector<Writes> done;
  done.reserve(runs.size());
  Json not_found = Json::array();
  try {
    for (const Run& run : runs) {
      std::vector<std::size_t> places(run.end - run.first);
      std::iota(places.begin(), places.end(), run.first);
      try {
        done.push_back(write(args, run));
        for (const Json& place : done.back().not_found())
          not_found.push_back(moved(place, run.first));
      } catch (const CommandError& error) {
        throw renumbered(error, places);
      }
    }
  } catch (...) {
    while (!done.empty()) done.pop_back();
    throw;
  }
  for (Writes& writes : done) writes.commit();
  Json answer = {{"applied", args.at("updates").size() - not_found.size()}};
  if (!not_found.empty()) answer["not_found"] = std::move(not_found);
  return answer;
}

// Pipes of one scope have the same entries, and so the same errors; others may differ.
void PipesControl::write_run(const Json& args, const Run& run, Json& answer) {
  {
    Writes writes = write(args, run);
    if (writes.have_same_answers()) {
      writes.commit();
      return add_answer(writes.answer(), run.first, answer);
    }
  }
  write_one_by_one(args, run, answer);
}

// Each update in all pipes, or in none.
void PipesControl::write_one_by_one(const Json& args, const Run& run, Json& answer) {
  for (std::size_t i = run.first; i < run.end; ++i) {
    Writes writes = write(args, {i, i + 1, run.pipes});
    if (const std::optional<Json> error = writes.first_error()) {
      answer["errors"].push_back(
          {{"index", i}, {"code", error->at("code")}, {"message", error->at("message")}});
    } else {
      writes.commit();
      add_answer(writes.answer(), i, answer);
    }
  }
}

// Of each scope: what one of its pipes has hit, all have.
void PipesControl::share_hits(const std::string& table) {
  for (const Pipes& scope : scopes_.of(table)) {
    ControlPlane& first = *pipes_[scope.front()];
    const auto with_first = [&](std::size_t end) {
      for (std::size_t i = 1; i < end; ++i) first.share_hits(table, *pipes_[scope[i]]);
    };
    with_first(scope.size());
    with_first(scope.size() - 1);  // they have heard of earlier ones only; the last of all
  }
}

// Entries of two scopes may have the same handle.
void PipesControl::check_handles(const std::string& table, const Pipes& pipes) const {
  const auto& scopes = scopes_.of(table);
  if (std::ranges::any_of(scopes,
                          [&](const Pipes& scope) { return std::ranges::includes(scope, pipes); }))
    return;
  throw bad_argument("table_read: entries of table " + table + " have other handles in each of " +
                     Json(scopes).dump() + "; ask for pipes of one of these with \"pipes\"");
}

Json PipesControl::table_read(const std::string& command, const Json& args) {
  const Pipes pipes = scopes_.pipes_in(args);
  const std::string& table = known(args).name;
  if (args.contains("handles") || args.value("with_handles", Json()) == true)
    check_handles(table, pipes);
  share_hits(table);
  const bool are_in_order = args.contains("entries") || args.contains("handles");
  return join_tables(ask(pipes, command, args), are_in_order);
}

// The fullest pipe says how many entries there are.
Json PipesControl::table_info(const std::string& command, const Json& args) {
  std::vector<Json> answers = ask(scopes_.pipes_in(args), command, args);
  const auto entries = [](const Json& answer) { return answer.value("entries", std::size_t{0}); };
  return *std::ranges::max_element(answers, {}, entries);
}

Json PipesControl::counter_read(const std::string& command, const Json& args) {
  return join_counters(ask(scopes_.pipes_in(args), command, args));
}

// Nothing is the value of a register in several pipes: each has its own.
Json PipesControl::register_read(const std::string& command, const Json& args) {
  const Pipes pipes = scopes_.pipes_in(args);
  std::vector<Json> answers = ask(pipes, command, args);
  if (args.contains("pipes") && pipes.size() == 1) return answers.front();
  Json answer = answers.front();
  answer.erase("values");
  answer["pipes"] = Json::array();
  for (std::size_t i = 0; i < pipes.size(); ++i)
    answer["pipes"].push_back({{"pipe", pipes[i]}, {"values", std::move(answers[i]["values"])}});
  return answer;
}

Json PipesControl::aging_update(const std::string& command, const Json& args) {
  share_hits(known(args).name);
  return in_each(command, args);
}

// One of each scope, as its pipes say the same; with its lowest pipe, unless it is of all.
Json PipesControl::aging_events(const std::string& command, const Json& args) {
  const std::string table = known(args).name;
  share_hits(table);
  std::vector<Json> answers = ask(scopes_.all(), command, args);
  Json joined = {{"table", table}, {"events", Json::array()}};
  for (const Pipes& scope : scopes_.of(table)) {
    for (Json& event : answers[scope.front()].at("events")) {
      if (scope != scopes_.all()) event["pipe"] = scope.front();
      joined["events"].push_back(std::move(event));
    }
  }
  return joined;
}

Json PipesControl::aging_read(const std::string& command, const Json& args) {
  const std::string table = known(args).name;
  share_hits(table);
  Json joined = {{"table", table}, {"entries", Json::array()}};
  for (const Pipes& scope : scopes_.of(table)) {
    Json answer = pipes_[scope.front()]->execute(command, args);
    joined["now_ns"] = answer.at("now_ns");  // the same in all
    for (Json& entry : answer.at("entries")) {
      if (scope != scopes_.all()) entry["pipe"] = scope.front();
      joined["entries"].push_back(std::move(entry));
    }
  }
  return joined;
}

// From pipe to pipe, each as many as are left to read; the next call begins with the next pipe.
Json PipesControl::digest_read(const std::string& command, const Json& args) {
  Json joined = {{"digests", Json::array()}, {"waiting", 0U}, {"lost", 0U}};
  Json& digests = joined["digests"];
  Json left = args;
  for (std::size_t i = 0; i < pipes_.size(); ++i) {
    if (args.contains("max")) {
      const auto most = static_cast<std::uint64_t>(parse_value(args.at("max"), 32, "max"));
      left["max"] = most - digests.size();
    }
    Json answer = pipes_[(next_digests_ + i) % pipes_.size()]->execute(command, left);
    for (Json& digest : answer.at("digests")) digests.push_back(std::move(digest));
    for (const char* count : {"waiting", "lost"})
      joined[count] = joined[count].get<std::uint64_t>() + answer.at(count).get<std::uint64_t>();
  }
  next_digests_ = (next_digests_ + 1) % pipes_.size();
  return joined;
}

// Every pipe has numbers of its own.
Json PipesControl::random_seed(const std::string& command, const Json& args) {
  if (!args.contains("seed")) return in_first(command, args);  // which says so
  const auto seed =
      static_cast<std::uint64_t>(parse_value(args.at("seed"), 64, "random_seed, seed"));
  for (const std::uint32_t pipe : scopes_.pipes_in(args))
    pipes_[pipe]->execute(command, {{"seed", seed_of_pipe(seed, pipe)}});
  return Json::object();
}

std::size_t PipesControl::entries_of(const Json& args) {
  return table_info("table_info", {{"table", args.at("table")}}).value("entries", std::size_t{0});
}

// Entries that are there would be in the wrong pipes; a register's cells are in all of them.
Json PipesControl::scope_write(const std::string&, const Json& args) {
  const std::string table = known(args).name;
  std::vector<Pipes> scopes = scopes_.parse(args.value("scopes", Json()));
  if (scopes == scopes_.of(table)) return Json::object();
  if (const std::size_t entries = entries_of(args); entries != 0) {
    throw CommandError("wrong_state", "table " + table + " has " + std::to_string(entries) +
                                          " entries; delete them before its scopes change");
  }
  // A default entry of some pipes only would be left over.
  const Json reset = {{"updates", {{{"op", "reset_default"}, {"table", table}}}},
                      {"on_error", "continue"}};
  for (ControlPlane* pipe : pipes_) pipe->write_tables(reset)->commit();
  scopes_.set(table, std::move(scopes));
  return Json::object();
}

Json PipesControl::scope_read(const std::string&, const Json& args) {
  const std::string table = known(args).name;
  return {{"table", table}, {"scopes", scopes_.of(table)}};
}

}  // namespace turntable::dataplane
