// Switch epochs (docs/kvcache.md §9): for how long what a switch holds may be taken for what it has
// acknowledged. Each `configure` of the agent begins one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "farreach/cache/messages.h"

namespace turntable::cache {

struct SwitchEpoch {
  std::uint32_t number = 0;  // no other epoch has it; 0: the agent has not been configured
  // SERVING, else EMPTY: what the switch before had, if there was one, has not been brought back.
  bool serves = false;

  bool operator==(const SwitchEpoch&) const = default;
};

// The number of an epoch that begins now: from the clock, in steps of a millisecond, so that an
// agent repeats none of the one before it. `last`: of the epoch before, if this agent had one.
std::uint32_t next_epoch(std::uint32_t last);

// The epoch that a request names, where its type has to name one; nothing if it is missing.
bool names_epoch(MessageType type);
std::optional<std::uint32_t> epoch_of(const Message& request);

// In an answer to CACHED_SET.
SwitchEpoch epoch_in(const Message& cached_set);

// What a switch in state EMPTY waits for.
std::string why_empty(const SwitchEpoch& epoch);

// Why a request may not be carried out in this epoch; empty: it may.
std::string refusal_of(const Message& request, const SwitchEpoch& epoch);

}  // namespace turntable::cache
