// Which priorities messages have: the rule of the measured transport, and the paper's own settings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "homa/message_sizes.h"

namespace turntable::homa {

struct PriorityAllocation {
  std::uint32_t levels = 1;
  std::uint32_t unscheduled_levels = 1;
  std::vector<std::uint32_t> cutoffs;  // Settings::cutoffs
};

// As many levels for unscheduled bytes as is their share of all, at least one for each kind; each
// of them carries equally many bytes.
PriorityAllocation allocate_priorities(const MessageSizes& sizes, std::uint32_t rtt_bytes,
                                       std::uint32_t levels);

// The sizes at which the next lower one of `unscheduled_levels` begins. Fewer, where a single size
// has more than a level's bytes.
std::vector<std::uint32_t> equal_byte_cutoffs(const MessageSizes& sizes, std::uint32_t rtt_bytes,
                                              std::uint32_t unscheduled_levels);

struct PaperSettings {
  PriorityAllocation priorities;
  std::uint32_t degree = 1;
};

// Those of the artifact for "W1" to "W8" with 1, 2, 4 or 8 levels. Throws bad_argument for others.
PaperSettings paper_settings(const std::string& workload, std::uint32_t levels);

}  // namespace turntable::homa
