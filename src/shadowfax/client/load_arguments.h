// Arguments of hlload-node's commands.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "node/arguments.h"
#include "shadowfax/client/fill.h"
#include "shadowfax/client/load_settings.h"

namespace turntable::shadowfax {

// All throw bad_argument. `where` begins the messages. directory: null where servers are named.
FillSettings fill_arguments(const std::string& where, const node::Arguments& arguments,
                            Directory* directory);
LoadSettings load_arguments(const std::string& where, const nlohmann::json& args,
                            Directory* directory);
// HOST:PORT of the metadata service; nothing: servers are named.
std::optional<std::string> metadata_argument(const nlohmann::json& args);

}  // namespace turntable::shadowfax
