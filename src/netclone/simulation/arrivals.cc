#include "netclone/simulation/arrivals.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "netclone/draws.h"

namespace turntable::netclone::simulation {

ReplayedArrivals::ReplayedArrivals(std::span<const Client> clients) : clients_(clients) {
  std::uint16_t last = 0;
  for (const Client& client : clients) last = std::max(last, client.index);
  position_.resize(last + std::size_t{1});
  for (std::uint32_t i = 0; i < clients.size(); ++i) {
    position_[clients[i].index] = i;
    if (clients[i].instants.empty()) continue;
    next_.push({clients[i].instants.front(), request_id(clients[i].index, 0)});
  }
}

bool ReplayedArrivals::advance(Arrival& arrival) {
  const auto& instants = clients_[position_[client_of(arrival.request)]].instants;
  const std::uint64_t number = number_of(++arrival.request);
  if (number >= instants.size()) return false;
  arrival.at_ns = instants[number];
  return true;
}

DrawnArrivals::DrawnArrivals(std::uint64_t seed, std::uint16_t clients, load::Arrivals gaps,
                             std::int64_t until_ns)
    : seed_(seed), gaps_(std::move(gaps)), until_ns_(until_ns) {
  for (std::uint16_t client = 0; client < clients; ++client) {
    const std::uint64_t request = request_id(client, 0);
    if (const std::int64_t at_ns = gap_ns(request); at_ns < until_ns) next_.push({at_ns, request});
  }
}

std::int64_t DrawnArrivals::gap_ns(std::uint64_t request) const noexcept {
  const double drawn = uniform(seed_, Stream::kGap, request);
  return std::llround(1e9 * gaps_.gap_s(number_of(request), drawn));
}

bool DrawnArrivals::advance(Arrival& arrival) {
  arrival.at_ns += gap_ns(++arrival.request);
  return arrival.at_ns < until_ns_;
}

}  // namespace turntable::netclone::simulation
