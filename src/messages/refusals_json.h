// Connections that were refused, as `stats` tells them.
#pragma once

#include <nlohmann/json.hpp>

#include "messages/session_listener.h"

namespace turntable::messages {

inline nlohmann::json as_json(const SessionListener::Refusals& refusals) {
  return {{"unproven", refusals.unproven}, {"silent", refusals.silent}, {"older", refusals.older}};
}

}  // namespace turntable::messages
