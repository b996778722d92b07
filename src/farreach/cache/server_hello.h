// What a server says first (HELLO, src/farreach/cache/messages.h) and what it is answered.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "farreach/cache/admission.h"
#include "farreach/cache/messages.h"
#include "farreach/cache/set_digest.h"

namespace turntable::cache {

struct ServerHello {
  struct Served {
    unsigned partition = 0;
    std::uint32_t store = 0;  // its incarnation

    bool operator==(const Served&) const = default;
  };
  unsigned scale = 1;
  bool holds_writes = false;  // until it knows which keys are cached
  std::vector<Served> served;

  bool operator==(const ServerHello&) const = default;
};

struct CachedKey {
  Key key;
  Admission admission;

  bool operator==(const CachedKey&) const = default;
};

Message message_of(const ServerHello& hello);

// Nothing if it is of another version or scale, or has a partition that does not exist.
std::optional<ServerHello> read_hello(const Message& message, unsigned scale);

// Keys with their admissions: `numbers` has the ids, behind `first` others, and the records have
// the keys and the admissions' numbers.
void append_cached(const std::vector<CachedKey>& keys, Message& message);
std::vector<CachedKey> read_cached(const Message& message, std::size_t first = 0);

}  // namespace turntable::cache
