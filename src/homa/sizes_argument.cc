#include "homa/sizes_argument.h"

#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "node/arguments.h"

namespace turntable::homa {

MessageSizes sizes_argument(const std::string& where, const nlohmann::json& json) {
  const node::Arguments arguments(where, json, {"file", "table", "bytes", "cap", "divide"});
  const auto kinds = json.count("file") + json.count("table") + json.count("bytes");
  if (kinds != 1) throw bad_argument(where + ": expected one of \"file\", \"table\" and \"bytes\"");
  const auto bytes = [&](const char* name) {
    return static_cast<std::uint32_t>(arguments.number(name, 1, 1 << 30));
  };
  MessageSizes sizes = json.contains("bytes") ? MessageSizes::fixed(bytes("bytes"))
                       : json.contains("file")
                           ? MessageSizes::read(arguments.text("file"))
                           : MessageSizes::parse(arguments.text("table"), where);
  if (json.contains("divide")) sizes = sizes.divided(arguments.number("divide", 1, 1e6));
  if (json.contains("cap")) sizes = sizes.capped(bytes("cap"));
  return sizes;
}

}  // namespace turntable::homa
