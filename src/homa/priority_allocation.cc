#include "homa/priority_allocation.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "common/command_error.h"

namespace turntable::homa {
namespace {

struct Row {
  std::uint32_t degree;
  std::vector<std::uint32_t> cutoffs_of_4;
  std::vector<std::uint32_t> cutoffs_of_8;
};

const std::map<std::string, Row>& paper() {
  static const std::map<std::string, Row> rows = {
      {"W1", {1, {11, 126}, {11, 126, 279, 484, 820, 1543}}},
      {"W2", {3, {269, 366}, {269, 366, 512, 2156}}},
      {"W3", {4, {469}, {469, 5521, 15267}}},
      {"W4", {7, {}, {}}},
      {"W5", {7, {}, {}}},
      {"W6", {4, {3436}, {3436, 11175, 21047}}},
      {"W7", {7, {}, {}}},
      {"W8", {6, {18024}, {18024}}},
  };
  return rows;
}

}  // namespace

std::vector<std::uint32_t> equal_byte_cutoffs(const MessageSizes& sizes, std::uint32_t rtt_bytes,
                                              std::uint32_t unscheduled_levels) {
  const double all = sizes.mean() * sizes.unscheduled_share(rtt_bytes);
  std::vector<std::uint32_t> cutoffs;
  double below = 0;
  for (const auto& point : sizes.points()) {
    const double level = all / unscheduled_levels;
    const auto level_before = static_cast<std::uint32_t>(below / level);
    below += std::min(point.bytes, rtt_bytes) * point.probability;
    // The size that is more than a level has room for begins the next one.
    const auto level_after = static_cast<std::uint32_t>(below / level + 1e-9);
    const bool is_first = point.bytes == sizes.points().front().bytes;
    if (level_after > level_before && level_after < unscheduled_levels && !is_first)
      cutoffs.push_back(point.bytes);
  }
  return cutoffs;
}

PriorityAllocation allocate_priorities(const MessageSizes& sizes, std::uint32_t rtt_bytes,
                                       std::uint32_t levels) {
  const double share = sizes.unscheduled_share(rtt_bytes);
  const auto rounded = static_cast<std::uint32_t>(std::floor(levels * share + 0.5));
  const std::uint32_t unscheduled = std::clamp(rounded, 1U, std::max(levels, 2U) - 1);
  const auto cutoffs = equal_byte_cutoffs(sizes, rtt_bytes, unscheduled);
  return {levels, static_cast<std::uint32_t>(cutoffs.size()) + 1, cutoffs};
}

PaperSettings paper_settings(const std::string& workload, std::uint32_t levels) {
  const auto row = paper().find(workload);
  if (row == paper().end())
    throw bad_argument("workload \"" + workload + "\" is none of the paper's; expected W1 to W8");
  PaperSettings settings{{levels, 1, {}}, row->second.degree};
  if (levels == 4) settings.priorities.cutoffs = row->second.cutoffs_of_4;
  if (levels == 8) settings.priorities.cutoffs = row->second.cutoffs_of_8;
  if (levels != 1 && levels != 2 && levels != 4 && levels != 8)
    throw bad_argument("the paper has no settings for " + std::to_string(levels) +
                       " levels; expected 1, 2, 4 or 8");
  settings.priorities.unscheduled_levels =
      static_cast<std::uint32_t>(settings.priorities.cutoffs.size()) + 1;
  return settings;
}

}  // namespace turntable::homa
