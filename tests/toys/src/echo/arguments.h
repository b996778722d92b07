// Arguments of control commands. What is missing or out of range is refused by name.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "common/command_error.h"

namespace turntable::echo {

inline double number(const nlohmann::json& args, const char* name, double low, double high) {
  const auto found = args.find(name);
  const bool is_number = found != args.end() && found->is_number();
  if (is_number && *found >= low && *found <= high) return found->get<double>();
  const std::string given = found == args.end() ? "is missing" : "is " + found->dump();
  throw bad_argument(std::string(name) + ' ' + given + "; expected a number from " +
                     nlohmann::json(low).dump() + " to " + nlohmann::json(high).dump());
}

inline std::int64_t integer(const nlohmann::json& args, const char* name, std::int64_t low,
                            std::int64_t high) {
  const auto found = args.find(name);
  const bool is_integer = found != args.end() && found->is_number_integer();
  if (is_integer && *found >= low && *found <= high) return found->get<std::int64_t>();
  const std::string given = found == args.end() ? "is missing" : "is " + found->dump();
  throw bad_argument(std::string(name) + ' ' + given + "; expected an integer from " +
                     std::to_string(low) + " to " + std::to_string(high));
}

inline std::string text(const nlohmann::json& args, const char* name) {
  const auto found = args.find(name);
  if (found != args.end() && found->is_string()) return found->get<std::string>();
  throw bad_argument(std::string(name) + ": expected a text");
}

}  // namespace turntable::echo
