// Replies of a test server in memcached's protocols.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "mcload/delay_line/request_reader.h"

namespace turntable::mcload {

void append_reply(std::string& out, const ServerRequest& request, std::string_view key, bool is_hit,
                  std::string_view value);
// STAT lines of the members.
void append_log_reply(std::string& out, const nlohmann::json& log);

}  // namespace turntable::mcload
