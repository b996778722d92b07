// Which of the connections that have yet to prove themselves goes where there are too many.
#pragma once

#include <algorithm>
#include <functional>

namespace turntable::net {

// Of the address that has most of them the oldest that has said nothing, else the oldest. So a
// flood from one address pushes out nobody of another one; nor, as long as it says nothing,
// somebody of its own address who has begun to prove himself.
// openings: not empty, the oldest first. from(opening): its address; has_spoken(opening): anything
// has come from it, whether it was read or not. Returns an iterator.
template <typename Openings, typename From, typename HasSpoken>
auto who_makes_room(const Openings& openings, const From& from, const HasSpoken& has_spoken) {
  const auto of_its_address = [&](const auto& opening) {
    return std::ranges::count(openings, std::invoke(from, opening), from);
  };
  const auto address = std::invoke(from, *std::ranges::max_element(openings, {}, of_its_address));
  const auto silent = std::ranges::find_if(openings, [&](const auto& opening) {
    return std::invoke(from, opening) == address && !has_spoken(opening);
  });
  return silent != openings.end() ? silent : std::ranges::find(openings, address, from);
}

}  // namespace turntable::net
