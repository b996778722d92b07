// Arguments of hlload-node's commands.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "node/arguments.h"
#include "shadowfax/client/fill.h"
#include "shadowfax/client/load_settings.h"

namespace turntable::shadowfax {

// Both throw bad_argument. `where` begins the messages. A directory is for the caller to open.
FillSettings fill_arguments(const std::string& where, const node::Arguments& arguments);
LoadSettings load_arguments(const std::string& where, const nlohmann::json& args);

}  // namespace turntable::shadowfax
