// The random numbers of NetClone's experiments: pure functions of (seed, stream, request, copy).
//
// Clients, servers, the coordinator and the simulation each compute what they need when they need
// it, so all of them see the same arrivals, choices and service times, in whatever order packets
// travel. The generator is splitmix64 (workload/random.h), chained over the arguments.
#pragma once

#include <cstdint>

#include "workload/random.h"

namespace turntable::netclone {

// What a number is drawn for. The values are part of the generator: do not reorder.
enum class Stream : std::uint32_t {
  kGap = 0,           // between a client's requests: before the request's own instant
  kServer = 1,        // noclone, cclone: the (first) server
  kSecondServer = 2,  // cclone: the other one
  kGroup = 3,         // netclone: the ordered pair of servers
  kTable = 4,         // netclone: the filter table
  kSid = 5,           // netclone: what the client writes to sid, which the switch overwrites
  kService = 6,       // service time of one copy
  kJitter = 7,        // whether one copy takes a multiple of that
  kOperation = 8,     // GET or SCAN
  kObject = 9,        // the object it begins at
  kCoordinator = 10,  // laedge: the server of one copy
};

constexpr std::uint64_t random_bits(std::uint64_t seed, Stream stream, std::uint64_t request,
                                    std::uint32_t copy = 0) noexcept {
  using workload::SplitMix64;
  const std::uint64_t purpose = std::uint64_t{static_cast<std::uint32_t>(stream)} << 32U | copy;
  const std::uint64_t keyed = SplitMix64(SplitMix64(seed).next() ^ purpose).next();
  return SplitMix64(keyed ^ request).next();
}

// In [0, 1), a multiple of 2^-53.
constexpr double uniform(std::uint64_t seed, Stream stream, std::uint64_t request,
                         std::uint32_t copy = 0) noexcept {
  return workload::unit_interval(random_bits(seed, stream, request, copy));
}

// One of 0 .. count - 1, all equally likely.
constexpr std::uint32_t index_of(double drawn, std::uint32_t count) noexcept {
  return static_cast<std::uint32_t>(drawn * count);
}

}  // namespace turntable::netclone
