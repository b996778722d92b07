#include "dataplane/operation.h"

#include <nlohmann/json.hpp>

namespace turntable::dataplane {

std::string operation_of(const nlohmann::json& update, const std::string& expected) {
  const auto operation = update.find("op");
  if (operation == update.end()) throw bad_argument("\"op\" is missing; expected " + expected);
  if (!operation->is_string())
    throw bad_argument("\"op\" is " + operation->dump() + ", no text; expected " + expected);
  return *operation;
}

CommandError unknown_operation(const std::string& operation, const std::string& expected) {
  return bad_argument("op \"" + operation + "\" is not known; expected " + expected);
}

}  // namespace turntable::dataplane
