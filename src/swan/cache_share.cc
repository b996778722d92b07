#include "swan/cache_share.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "common/command_error.h"
#include "swan/cgroup_tree.h"

namespace turntable::swan {
namespace {

namespace fs = std::filesystem;

std::int64_t number_in(const fs::path& file) {
  return std::strtoll(read_control(file).c_str(), nullptr, 10);
}

// "32768K", "32M"
std::int64_t kib_in(const fs::path& file) {
  return number_in(file) * (read_control(file).ends_with('M') ? 1024 : 1);
}

}  // namespace

CacheShare cache_share(int level, std::int64_t kib, int cpu, const fs::path& sys) {
  const fs::path caches = sys / "devices/system/cpu" / ("cpu" + std::to_string(cpu)) / "cache";
  std::error_code none;
  for (const auto& cache : fs::directory_iterator(caches, none)) {
    const fs::path& directory = cache.path();
    if (number_in(directory / "level") != level) continue;
    if (read_control(directory / "type") == "Instruction") continue;
    CacheShare share{.level = level,
                     .all_ways = number_in(directory / "ways_of_associativity"),
                     .all_kib = kib_in(directory / "size")};
    if (share.all_ways < 1 || share.all_kib < 1) break;
    share.ways = std::clamp<std::int64_t>(kib * share.all_ways / share.all_kib, 1, share.all_ways);
    share.kib = share.all_kib * share.ways / share.all_ways;
    return share;
  }
  throw CommandError("unsupported", "cannot hold the job to " + std::to_string(kib) +
                                        " KiB of a cache: " + caches.native() +
                                        " does not say the size and the ways of one of level " +
                                        std::to_string(level) + "; leave this job out");
}

nlohmann::json to_json(const CacheShare& share) {
  return {{"level", share.level},
          {"ways", share.ways},
          {"kib", share.kib},
          {"all_ways", share.all_ways},
          {"all_kib", share.all_kib}};
}

}  // namespace turntable::swan
