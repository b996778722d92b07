#include "shadowfax/cluster/view.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace turntable::shadowfax {

using hybridlog::HashRange;

View View::equal(ServerNumber servers) {
  std::vector<Part> parts;
  for (ServerNumber i = 0; i < servers; ++i) {
    const auto first = ((__uint128_t{i} << 64U) + servers - 1) / servers;
    parts.push_back({static_cast<std::uint64_t>(first), i});
  }
  return {1, std::move(parts)};
}

View::View(std::uint64_t number, std::vector<Part> parts)
    : number_(number), parts_(std::move(parts)) {
  if (parts_.empty() || parts_.front().first != 0)
    throw std::invalid_argument("a view that does not begin at hash 0");
  for (std::size_t i = 1; i < parts_.size(); ++i) {
    if (parts_[i - 1].first >= parts_[i].first)
      throw std::invalid_argument("a view whose parts do not ascend: hash " +
                                  std::to_string(parts_[i].first));
  }
}

const View::Part& View::part_of(std::uint64_t hash) const noexcept {
  const auto behind =
      std::upper_bound(parts_.begin(), parts_.end(), hash,
                       [](std::uint64_t wanted, const Part& part) { return wanted < part.first; });
  return *std::prev(behind);
}

bool View::is_owner(ServerNumber server, HashRange range) const noexcept {
  return std::all_of(&part_of(range.first), &part_of(range.last) + 1,
                     [&](const Part& part) { return part.owner == server; });
}

std::vector<HashRange> View::ranges_of(ServerNumber server) const {
  std::vector<HashRange> ranges;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].owner != server) continue;
    const bool is_last = i + 1 == parts_.size();
    ranges.push_back({parts_[i].first, is_last ? UINT64_MAX : parts_[i + 1].first - 1});
  }
  return ranges;
}

std::optional<HashRange> View::share_of(ServerNumber server, double share) const {
  const std::vector<HashRange> ranges = ranges_of(server);
  if (ranges.empty()) return std::nullopt;
  const HashRange whole = ranges.front();
  if (share >= 1) return whole;
  const auto hashes = static_cast<double>(whole.last - whole.first) * share;
  return HashRange{whole.first, whole.first + static_cast<std::uint64_t>(hashes)};
}

View View::with_owner(HashRange range, ServerNumber to) const {
  std::vector<Part> cut;
  const auto add = [&](std::uint64_t first, ServerNumber owner) {
    if (!cut.empty() && cut.back().owner == owner) return;
    cut.push_back({first, owner});
  };
  for (const Part& part : parts_)
    if (part.first < range.first) add(part.first, part.owner);
  add(range.first, to);
  if (range.last != UINT64_MAX) {
    add(range.last + 1, owner_of(range.last + 1));
    for (const Part& part : parts_)
      if (part.first > range.last + 1) add(part.first, part.owner);
  }
  return {number_ + 1, std::move(cut)};
}

}  // namespace turntable::shadowfax
