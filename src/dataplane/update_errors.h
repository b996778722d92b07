// Updates that fail: of a batch that is all or nothing, and of a table_write that goes on
// ("on_error": "continue").
#pragma once

#include <charconv>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "common/command_error.h"
#include "dataplane/table_batch.h"

namespace turntable::dataplane {

// What the batch is refused with because of this update.
inline CommandError refusal_of_batch(std::size_t index, const CommandError& error) {
  return {error.code(), "updates[" + std::to_string(index) + "]: " + error.what() +
                            " (no update of this batch was applied)"};
}

// The same of a part of a batch ("updates[3]: …"), with the number that the update has in the
// whole.
inline CommandError renumbered(const CommandError& error, std::span<const std::size_t> places) {
  constexpr std::string_view kBegin = "updates[";
  const std::string message = error.what();
  std::size_t index = 0;
  if (!message.starts_with(kBegin)) return error;
  const char* end = message.data() + message.size();
  const auto parsed = std::from_chars(message.data() + kBegin.size(), end, index);
  if (parsed.ec != std::errc() || index >= places.size()) return error;
  return {error.code(), std::string(kBegin) + std::to_string(places[index]) + parsed.ptr};
}

// Whether the batch goes on where this update finds no entry.
inline bool may_find_nothing(const nlohmann::json& update, const CommandError& error) {
  return error.code() == "not_found" && update.is_object() &&
         update.value("ignore_not_found", nlohmann::json(false)) == true;
}

// Throws bad_argument for anything but "stop" (nothing is applied, the default) and "continue".
inline bool continues_on_error(const nlohmann::json& args) {
  const auto given = args.find("on_error");
  if (given == args.end() || *given == "stop") return false;
  if (*given == "continue") return true;
  throw bad_argument("table_write: \"on_error\" is " + given->dump() +
                     "; expected \"stop\" or \"continue\"");
}

// Rows of columns are told beside the number of their update.
class UpdateErrors final : private RowOutcomes {
 public:
  // The update now tried found an entry in its place ("upsert").
  void replaced() { replaced_.push_back(index_); }

  // `apply` is given what the rows of columns are told to.
  template <typename Apply>
  void attempt(std::size_t index, const Apply& apply) {
    index_ = index;
    replaced_rows_ = nlohmann::json::array();
    ++tried_;
    try {
      apply(static_cast<RowOutcomes*>(this));
    } catch (const CommandError& error) {
      errors_.push_back({{"index", index}, {"code", error.code()}, {"message", error.what()}});
    }
    if (!replaced_rows_.empty())
      replaced_.push_back({{"index", index}, {"rows", std::move(replaced_rows_)}});
  }

  nlohmann::json answer() {
    return {{"applied", tried_ - errors_.size()},
            {"errors", std::move(errors_)},
            {"replaced", std::move(replaced_)}};
  }

 private:
  void begin(std::size_t rows) override { tried_ += rows - 1; }
  void failed(std::size_t row, const CommandError& error) override {
    errors_.push_back(
        {{"index", index_}, {"row", row}, {"code", error.code()}, {"message", error.what()}});
  }
  void replaced(std::size_t row) override { replaced_rows_.push_back(row); }

  std::size_t index_ = 0;
  std::size_t tried_ = 0;  // updates, of columns each row
  nlohmann::json errors_ = nlohmann::json::array();
  nlohmann::json replaced_ = nlohmann::json::array();
  nlohmann::json replaced_rows_;
};

}  // namespace turntable::dataplane
