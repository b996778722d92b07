// What memcached's `stats` says about the items that it holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "mcload/protocol.h"

namespace turntable::mcload {

struct ItemStats {
  std::uint64_t items = 0;  // that it holds now: curr_items
  std::uint64_t evictions = 0;
};

// Reads one reply, from bytes that may be cut anywhere.
class ItemStatsReader {
 public:
  // What asks for it.
  static std::string_view request(Protocol protocol) noexcept;

  explicit ItemStatsReader(Protocol protocol) noexcept : protocol_(protocol) {}

  // True: the reply is complete.
  bool feed(std::string_view bytes);
  // After that. Nothing: the server does not count them, and is no memcached.
  std::optional<ItemStats> stats() const noexcept;

 private:
  bool take_line();
  bool take_packet();
  void note(std::string_view name, std::string_view value) noexcept;

  Protocol protocol_;
  bool is_complete_ = false;
  std::string held_;
  std::optional<std::uint64_t> items_, evictions_;
};

}  // namespace turntable::mcload
