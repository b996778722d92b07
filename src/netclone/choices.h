// Which servers a request goes to, by method: docs/netclone.md §4.
#pragma once

#include <cstdint>

#include "netclone/draws.h"

namespace turntable::netclone {

// Two different servers. The first one gets the request itself.
struct Pair {
  std::uint32_t first;
  std::uint32_t second;

  friend constexpr bool operator==(const Pair&, const Pair&) = default;
};

// noclone
constexpr std::uint32_t chosen_server(std::uint64_t seed, std::uint64_t request,
                                      std::uint32_t servers) noexcept {
  return index_of(uniform(seed, Stream::kServer, request), servers);
}

// cclone: the first is the one that noclone would choose. At least two servers.
constexpr Pair chosen_servers(std::uint64_t seed, std::uint64_t request,
                              std::uint32_t servers) noexcept {
  const std::uint32_t first = chosen_server(seed, request, servers);
  const std::uint32_t other = index_of(uniform(seed, Stream::kSecondServer, request), servers - 1);
  return {first, other + (other >= first ? 1 : 0)};
}

constexpr std::uint32_t group_count(std::uint32_t servers) noexcept {
  return servers * (servers - 1);
}

// netclone: a group's number, from 1 to group_count().
constexpr std::uint32_t chosen_group(std::uint64_t seed, std::uint64_t request,
                                     std::uint32_t servers) noexcept {
  return 1 + index_of(uniform(seed, Stream::kGroup, request), group_count(servers));
}

// Groups number the pairs i < j in lexicographic order: odd ones are (i, j), the even one behind is
// (j, i).
constexpr Pair pair_of_group(std::uint32_t group, std::uint32_t servers) noexcept {
  std::uint32_t pair = (group - 1) / 2;
  std::uint32_t low = 0;
  for (; pair >= servers - 1 - low; ++low) pair -= servers - 1 - low;
  const std::uint32_t high = low + 1 + pair;
  return group % 2 == 1 ? Pair{low, high} : Pair{high, low};
}

constexpr std::uint32_t chosen_table(std::uint64_t seed, std::uint64_t request) noexcept {
  return index_of(uniform(seed, Stream::kTable, request), 2);
}

}  // namespace turntable::netclone
