#include "bfrt_server/entry_command.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace turntable::bfrt_server {
namespace {

using Json = nlohmann::json;

// Fewer are not worth the columns.
constexpr std::size_t kFewRows = 8;

constexpr std::size_t kUnknown = std::numeric_limits<std::size_t>::max();

}  // namespace

void EntryCommand::put(Json update, Place place) {
  if (ignores_not_found_ && update.at("op") == "delete") update["ignore_not_found"] = true;
  updates_.push_back(std::move(update));
  of_.push_back({place, 1});
  bytes_ = kUnknown;
}

void EntryCommand::add(std::size_t step, Json update) {
  put(std::move(update), {step, 0});
  ++entries_;
}

void EntryCommand::add(std::size_t step, const EntryRows& rows, Form form) {
  entries_ += rows.size();
  const bool each_alone = ignores_not_found_ && rows.kind().action == nullptr;  // deletes
  if (form == Form::kColumns && rows.size() >= kFewRows && !each_alone) {
    updates_.push_back(rows.as_columns());
    of_.push_back({{step, 0}, rows.size()});
    if (bytes_ != kUnknown) bytes_ += rows.bytes();
    has_columns_ = true;
    return;
  }
  for (std::size_t row = 0; row < rows.size(); ++row) put(rows.as_update(row), {step, row});
}

Json EntryCommand::take(bool continues) {
  Json args = {{"updates", std::move(updates_)}};
  if (continues) args["on_error"] = "continue";
  return args;
}

void EntryCommand::read_answer(const Json& answer, const OnError& on_error,
                               const OnReplaced& on_replaced) const {
  for (const Json& error : answer.at("errors")) {
    const Update& update = of_.at(error.at("index").get<std::size_t>());
    const CommandError thrown(error.at("code"), error.at("message"));
    if (const auto row = error.find("row"); row != error.end()) {
      on_error({update.first.step, row->get<std::size_t>()}, thrown);
      continue;
    }
    for (std::size_t row = 0; row < update.rows; ++row)
      on_error({update.first.step, update.first.row + row}, thrown);
  }
  for (const Json& place : answer.value("replaced", Json::array())) {
    if (place.is_number()) {
      on_replaced(of_.at(place.get<std::size_t>()).first);
      continue;
    }
    const Update& update = of_.at(place.at("index").get<std::size_t>());
    for (const Json& row : place.at("rows")) on_replaced({update.first.step, row});
  }
}

void EntryCommand::read_not_found(const Json& answer, const OnError& on_error) const {
  for (const Json& missing : answer.value("not_found", Json::array())) {
    const Update& update = of_.at(missing.at("index").get<std::size_t>());
    on_error(update.first, CommandError("not_found", missing.at("message")));
  }
}

EntryCommand::Place EntryCommand::place_in(const CommandError& error) const {
  constexpr std::string_view kBegin = "updates[";
  const std::string message = error.what();
  std::size_t index = 0;
  if (message.starts_with(kBegin)) {
    std::from_chars(message.data() + kBegin.size(), message.data() + message.size(), index);
  }
  return of_.at(std::min(index, of_.size() - 1)).first;
}

CommandError own_words(const CommandError& error) {
  const std::string message = error.what();
  const std::size_t begin = message.find("]: ");
  const std::size_t end = message.rfind(" (no update of this batch");
  if (!message.starts_with("updates[") || begin == std::string::npos) return error;
  return {error.code(),
          message.substr(begin + 3, end == std::string::npos ? end : end - begin - 3)};
}

}  // namespace turntable::bfrt_server
