// Connections that were refused, as `stats` tells them.
#pragma once

#include <nlohmann/json.hpp>

#include "farreach/cache/message_listener.h"

namespace turntable::cache {

inline nlohmann::json as_json(const MessageListener::Refusals& refusals) {
  return {{"unproven", refusals.unproven}, {"silent", refusals.silent}, {"older", refusals.older}};
}

}  // namespace turntable::cache
