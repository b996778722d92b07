// Arguments of control commands, checked: wrong ones are CommandErrors that name them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>

#include "common/command_error.h"
#include "softswitch/port.h"

namespace turntable::softswitch {

// An integer from `least` to `most`.
inline std::uint64_t integer_argument(const std::string& what, const nlohmann::json& value,
                                      std::uint64_t least, std::uint64_t most) {
  const bool fits = value.is_number_integer() && value >= least && value <= most;
  if (fits) return value.get<std::uint64_t>();
  throw bad_argument(what + " is " + value.dump() + "; expected an integer from " +
                     std::to_string(least) + " to " + std::to_string(most));
}

[[noreturn]] inline void refuse_name(const std::string& what, const std::string& name,
                                     const std::string& known) {
  throw bad_argument(what + ": no \"" + name + "\"; there are " + known);
}

// Every member of `args` has one of these names.
inline void expect_names(const std::string& what, const nlohmann::json& args,
                         std::initializer_list<const char*> names) {
  if (!args.is_object()) throw bad_argument(what + " is " + args.dump() + "; expected an object");
  std::string known;
  for (const char* name : names) known += (known.empty() ? "" : ", ") + std::string(name);
  for (const auto& [name, unused] : args.items()) {
    if (std::find(names.begin(), names.end(), name) == names.end()) refuse_name(what, name, known);
  }
}

// args["port"], a port of this switch.
inline Port& port_argument(const std::string& what, const nlohmann::json& args,
                           const PortTable& ports) {
  if (!args.contains("port")) throw bad_argument(what + ": \"port\" is missing");
  const std::uint64_t number =
      integer_argument(what + ": \"port\"", args.at("port"), 0, kMaxPorts - 1);
  Port* const port = ports.find(static_cast<std::uint16_t>(number));
  if (port != nullptr) return *port;
  throw CommandError("not_found", what + ": the switch has no port " + std::to_string(number) +
                                      "; `info` lists them");
}

}  // namespace turntable::softswitch
