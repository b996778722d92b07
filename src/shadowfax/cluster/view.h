// Which server owns which hashes, and the number of that knowledge: a view (Shadowfax §3.2.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hybridlog/hash_range.h"

namespace turntable::shadowfax {

using ServerNumber = std::uint32_t;

class View {
 public:
  // Up to the next one's first.
  struct Part {
    std::uint64_t first;
    ServerNumber owner;

    bool operator==(const Part&) const = default;
  };

  // The first view: server i of n owns the hashes from ceil(i * 2^64 / n) up to that of i + 1.
  // (The original's ranges drift by one, and the last hashes may have no owner.)
  static View equal(ServerNumber servers);
  // parts: ascending, from hash 0 on. Throws std::invalid_argument for others.
  View(std::uint64_t number, std::vector<Part> parts);

  std::uint64_t number() const noexcept { return number_; }
  const std::vector<Part>& parts() const noexcept { return parts_; }

  ServerNumber owner_of(std::uint64_t hash) const noexcept { return part_of(hash).owner; }
  // Of all hashes of the range.
  bool is_owner(ServerNumber server, hybridlog::HashRange range) const noexcept;
  std::vector<hybridlog::HashRange> ranges_of(ServerNumber server) const;
  // The first hashes of the first range of a server: a share of it, above 0, at most 1. Nothing: it
  // owns nothing.
  std::optional<hybridlog::HashRange> share_of(ServerNumber server, double share) const;

  // The next view, in which `to` owns the range.
  View with_owner(hybridlog::HashRange range, ServerNumber to) const;

  bool operator==(const View&) const = default;

 private:
  const Part& part_of(std::uint64_t hash) const noexcept;

  std::uint64_t number_;
  std::vector<Part> parts_;
};

}  // namespace turntable::shadowfax
