// A part of a cache, by its ways: what a job that would use the whole cache is held to. A virtual
// machine may say that it has the cache of the whole host.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace turntable::swan {

struct CacheShare {
  int level = 0;
  std::int64_t ways = 0, kib = 0;          // of the part
  std::int64_t all_ways = 0, all_kib = 0;  // of the cache, as the kernel says it
};

// The most ways that together hold at most `kib`, one at least, of the processor's cache for data.
// `sys`: another directory in tests. Throws CommandError "unsupported" where the kernel does not
// say what the cache has.
CacheShare cache_share(int level, std::int64_t kib, int cpu,
                       const std::filesystem::path& sys = "/sys");

// {"level", "ways", "kib", "all_ways", "all_kib"}
nlohmann::json to_json(const CacheShare& share);

}  // namespace turntable::swan
