// How long GET and SCAN take on an idle redis-server: the service times of emulated Redis servers.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "netclone/server/redis_connection.h"

namespace turntable::netclone {

struct RedisSamples {
  std::int64_t gets = 20'000;
  std::int64_t scans = 5'000;
};

// {"GET": {"distribution": "histogram", "bins": [[us, count], ...]}, "SCAN": ...}: round trips over
// its socket, one at a time, of uniformly drawn objects. Bins are 1/64 of their size wide.
nlohmann::json calibrated_service(RedisConnection& redis, std::uint32_t objects,
                                  const RedisSamples& samples);

}  // namespace turntable::netclone
