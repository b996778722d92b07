// The systems whose servers kvserver can be.
#pragma once

#include <cstdint>
#include <string>

#include "common/command_error.h"

namespace turntable::kv {

enum class Method : std::uint8_t { kNoCache, kFarReach, kNetCache };

// Throws bad_argument for another name than those of method_name().
inline Method method_from_name(const std::string& name) {
  if (name == "nocache") return Method::kNoCache;
  if (name == "farreach") return Method::kFarReach;
  if (name == "netcache") return Method::kNetCache;
  throw bad_argument("method is \"" + name +
                     "\"; expected \"nocache\", \"farreach\" or \"netcache\"");
}

inline const char* method_name(Method method) {
  switch (method) {
    case Method::kFarReach:
      return "farreach";
    case Method::kNetCache:
      return "netcache";
    default:
      return "nocache";
  }
}

// Whether the switch numbers writes and the store keeps the numbers (docs/kvcache.md §6).
inline bool has_numbers(Method method) {
  return method != Method::kNoCache;
}

}  // namespace turntable::kv
