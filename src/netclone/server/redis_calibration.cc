#include "netclone/server/redis_calibration.h"

#include <algorithm>
#include <bit>
#include <map>
#include <nlohmann/json.hpp>

#include "common/clock.h"
#include "common/command_error.h"
#include "netclone/draws.h"

namespace turntable::netclone {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kSeed = 1;
constexpr int kBinBits = 6;

// The middle of the bin: only the leading bits count.
std::int64_t rounded(std::int64_t ns) {
  const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(ns)));
  const int dropped = std::max(0, bits - kBinBits - 1);
  return (ns >> dropped << dropped) + (std::int64_t{1} << dropped >> 1);
}

std::int64_t duration_of(RedisConnection& redis, Operation operation, std::uint32_t object) {
  const std::int64_t begin = monotonic_ns();
  const std::uint64_t ticket = redis.next_ticket();
  redis.send(operation, object);
  if (!redis.wait_for(ticket)) {
    throw CommandError("unavailable", "redis-server did not answer within 1 s; the host is busy");
  }
  return monotonic_ns() - begin;
}

Json histogram_of(RedisConnection& redis, Operation operation, std::uint32_t objects,
                  std::int64_t samples) {
  std::map<std::int64_t, std::int64_t> counts;
  for (std::int64_t i = 0; i < samples; ++i) {
    const double drawn = uniform(kSeed, Stream::kObject, static_cast<std::uint64_t>(i));
    ++counts[rounded(duration_of(redis, operation, index_of(drawn, objects)))];
  }
  Json bins = Json::array();
  for (const auto& [ns, count] : counts) {
    bins.push_back(Json::array({static_cast<double>(ns) / 1000, count}));
  }
  return {{"distribution", "histogram"}, {"bins", std::move(bins)}};
}

}  // namespace

Json calibrated_service(RedisConnection& redis, std::uint32_t objects,
                        const RedisSamples& samples) {
  Json service = {{"GET", histogram_of(redis, Operation::kGet, objects, samples.gets)},
                  {"SCAN", histogram_of(redis, Operation::kScan, objects, samples.scans)}};
  if (redis.take_wrong() > 0) {
    throw CommandError("unavailable", "redis-server answered with other objects than were stored");
  }
  return service;
}

}  // namespace turntable::netclone
