// A table_write that goes on after an update that fails ("on_error": "continue").
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/command_error.h"

namespace turntable::dataplane {

// Throws bad_argument for anything but "stop" (nothing is applied, the default) and "continue".
inline bool continues_on_error(const nlohmann::json& args) {
  const auto given = args.find("on_error");
  if (given == args.end() || *given == "stop") return false;
  if (*given == "continue") return true;
  throw bad_argument("table_write: \"on_error\" is " + given->dump() +
                     "; expected \"stop\" or \"continue\"");
}

class UpdateErrors {
 public:
  // Update `index` found an entry in its place ("upsert").
  void replaced(std::size_t index) { replaced_.push_back(index); }

  template <typename Apply>
  void attempt(std::size_t index, const Apply& apply) {
    try {
      apply();
    } catch (const CommandError& error) {
      errors_.push_back({{"index", index}, {"code", error.code()}, {"message", error.what()}});
    }
  }

  nlohmann::json answer(std::size_t updates) {
    return {{"applied", updates - errors_.size()},
            {"errors", std::move(errors_)},
            {"replaced", std::move(replaced_)}};
  }

 private:
  nlohmann::json errors_ = nlohmann::json::array();
  nlohmann::json replaced_ = nlohmann::json::array();
};

}  // namespace turntable::dataplane
