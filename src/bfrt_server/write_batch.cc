#include "bfrt_server/write_batch.h"

#include <algorithm>
#include <charconv>

#include "bfrt_server/insert_columns.h"

namespace turntable::bfrt_server {
namespace {

using Json = nlohmann::json;

// Packets wait while the switch runs one command; so many entries take it about a millisecond.
constexpr std::size_t kEntriesPerCommand = 1024;
// Fewer are not worth the columns.
constexpr std::size_t kFewEntries = 16;
// All of an atomic batch is one command, which has to end before the switch's own deadline.
constexpr std::size_t kMostAtomicEntries = 100'000;

// "updates[17]: …" of a table_write that applied nothing.
std::size_t number_in(const std::string& message) {
  constexpr std::string_view kBegin = "updates[";
  std::size_t number = 0;
  if (message.starts_with(kBegin)) {
    std::from_chars(message.data() + kBegin.size(), message.data() + message.size(), number);
  }
  return number;
}

// Without what table_write puts before and after it.
std::string reason_in(const std::string& message) {
  const std::size_t begin = message.find("]: ");
  const std::size_t end = message.rfind(" (no update of this batch");
  if (!message.starts_with("updates[") || begin == std::string::npos) return message;
  return message.substr(begin + 3, end == std::string::npos ? end : end - begin - 3);
}

bool is_lost(const CommandError& error) {
  return error.code() == "unavailable" || error.code() == "timeout";
}

}  // namespace

void WriteBatch::add(std::variant<Entry, Cells, Act> what, std::string context,
                     std::function<void()> done) {
  steps_.push_back({current_, std::move(what), std::move(context), std::move(done)});
}

void WriteBatch::run() {
  if (atomicity_ != Atomicity::kContinueOnError) return run_atomic();
  for (std::size_t first = 0; first < steps_.size();) {
    if (abandoned_())
      throw Failure(grpc::StatusCode::CANCELLED, "the client has gone; the rest is not done");
    if (std::holds_alternative<Entry>(steps_[first].what)) {
      first = run_entries(first);
    } else if (std::holds_alternative<Cells>(steps_[first].what)) {
      first = run_cells(first);
    } else {
      run_act(steps_[first++]);
    }
  }
}

// One table_write does all, or nothing, between two packets.
void WriteBatch::run_atomic() {
  if (steps_.empty()) return;
  const auto* front = std::get_if<Entry>(&steps_.front().what);
  const bool one_kind = std::all_of(steps_.begin(), steps_.end(), [&](const Step& step) {
    const auto* entry = std::get_if<Entry>(&step.what);
    return front != nullptr && entry != nullptr && entry->fixed == front->fixed;
  });
  if (!one_kind) {
    throw not_supported(
        "a batch that is all or nothing holds entries of the program's match-action tables only, "
        "or of $pre and $mirror only; send other updates with CONTINUE_ON_ERROR;");
  }
  if (steps_.size() > kMostAtomicEntries) {
    throw no_space("a batch that is all or nothing has at most " +
                   std::to_string(kMostAtomicEntries) + " updates, this one has " +
                   std::to_string(steps_.size()) + ";");
  }
  std::vector<Json> updates;
  for (Step& step : steps_) updates.push_back(std::move(std::get<Entry>(step.what).update));
  try {
    if (!insert_columns(updates)) link_.call("table_write", {{"updates", std::move(updates)}});
    for (Step& step : steps_) finish(step);
  } catch (const CommandError& error) {
    if (is_lost(error)) throw from_switch("table_write", error);
    Step& step = steps_.at(std::min(number_in(error.what()), steps_.size() - 1));
    refuse(step, CommandError(error.code(), reason_in(error.what())));
  }
}

// Whether all are insertions that could be done at once. Where one fails, none is done, and each
// has to be tried for itself.
bool WriteBatch::insert_columns(const std::vector<Json>& updates) {
  if (updates.size() < kFewEntries) return false;
  const auto columns = as_columns(updates);
  if (!columns) return false;
  try {
    link_.call("table_write", {{"updates", {*columns}}});
    return true;
  } catch (const CommandError& error) {
    if (is_lost(error)) throw;
    return false;
  }
}

std::size_t WriteBatch::run_entries(std::size_t first) {
  const bool fixed = std::get<Entry>(steps_[first].what).fixed;
  std::vector<Json> updates;
  std::size_t end = first;
  for (; end < steps_.size() && end - first < kEntriesPerCommand; ++end) {
    auto* entry = std::get_if<Entry>(&steps_[end].what);
    if (entry == nullptr || entry->fixed != fixed) break;
    updates.push_back(std::move(entry->update));
  }
  Json result;
  try {
    if (insert_columns(updates)) {
      for (std::size_t place = first; place < end; ++place) finish(steps_[place]);
      return end;
    }
    result = link_.call("table_write", {{"updates", std::move(updates)}, {"on_error", "continue"}});
  } catch (const CommandError& error) {
    if (is_lost(error)) throw from_switch("table_write", error);
    for (std::size_t place = first; place < end; ++place) refuse(steps_[place], error);
    return end;
  }
  for (const Json& error : result.at("errors")) {
    refuse(steps_.at(first + error.at("index").get<std::size_t>()),
           CommandError(error.at("code"), error.at("message")));
  }
  for (const Json& place : result.value("replaced", Json::array()))
    replaced_[steps_.at(first + place.get<std::size_t>()).number] = true;
  for (std::size_t place = first; place < end; ++place) {
    if (statuses_[steps_[place].number].ok()) finish(steps_[place]);
  }
  return end;
}

std::size_t WriteBatch::run_cells(std::size_t first) {
  const auto& front = std::get<Cells>(steps_[first].what);
  Json values = Json::array();
  std::size_t end = first;
  for (; end < steps_.size(); ++end) {
    auto* cells = std::get_if<Cells>(&steps_[end].what);
    const bool follows = cells != nullptr && cells->table == front.table &&
                         cells->first == front.first + values.size();
    if (!follows) break;
    for (Json& value : cells->values) values.push_back(std::move(value));
  }
  try {
    link_.call("register_write",
               {{"table", front.table}, {"first", front.first}, {"values", std::move(values)}});
    for (std::size_t place = first; place < end; ++place) finish(steps_[place]);
  } catch (const CommandError& error) {
    if (is_lost(error)) throw from_switch("register_write", error);
    for (std::size_t place = first; place < end; ++place) refuse(steps_[place], error);
  }
  return end;
}

void WriteBatch::run_act(Step& step) {
  try {
    std::get<Act>(step.what).run();
    finish(step);
  } catch (const Failure& failure) {
    fail(step.number, failure);
  } catch (const CommandError& error) {
    if (is_lost(error)) throw from_switch(step.context, error);
    refuse(step, error);
  }
}

void WriteBatch::finish(Step& step) {
  if (step.done) step.done();
}

void WriteBatch::refuse(const Step& step, const CommandError& error) {
  fail(step.number, from_switch(step.context, error.code(), std::string(error.what()) + ";"));
}

}  // namespace turntable::bfrt_server
