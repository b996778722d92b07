#include "workload/write_through.h"

#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <utility>

namespace turntable::workload {
namespace {

// What a client waits for an answer of the switch, in units of 1/c: it must be above 0, for a
// client whose requests all hit to get on. Servers do not notice: their queues hold the other
// clients.
constexpr double kHitTime = 0.25;

}  // namespace

WriteThroughModel::WriteThroughModel(std::vector<KeyId> cached) : cached_(std::move(cached)) {
  std::sort(cached_.begin(), cached_.end());
}

void WriteThroughModel::add(unsigned client, const std::vector<Operation>& trace) {
  traces_.resize(std::max<std::size_t>(traces_.size(), client + 1));
  std::vector<Request>& requests = traces_[client];
  requests.reserve(trace.size());
  for (const Operation& operation : trace) {
    const auto found = std::lower_bound(cached_.begin(), cached_.end(), operation.key);
    const bool cached = found != cached_.end() && *found == operation.key;
    requests.push_back({cached ? static_cast<std::uint32_t>(found - cached_.begin()) : kUncached,
                        operation.slot, operation.type != OperationType::kGet});
  }
}

std::vector<PlacementRates> WriteThroughModel::rotate(unsigned scale, unsigned bottleneck,
                                                      double update_round_trip,
                                                      const Window& window) const {
  std::vector<PlacementRates> rates = {
      place(scale, bottleneck, bottleneck, update_round_trip, window)};
  for (unsigned other = 0; other < scale; ++other) {
    if (other == bottleneck) continue;
    rates.push_back(place(scale, bottleneck, other, update_round_trip, window));
  }
  return rates;
}

PlacementRates WriteThroughModel::place(unsigned scale, unsigned bottleneck, unsigned rotated,
                                        double update_round_trip, const Window& window) const {
  const unsigned width = kSlots / scale;
  const auto runs = [&](const Request& request) {
    const unsigned partition = request.slot / width;
    return partition == bottleneck || partition == rotated;
  };
  using Arrival = std::pair<double, std::size_t>;  // time, client
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals;
  for (std::size_t client = 0; client < traces_.size(); ++client) {
    // A client whose trace touches neither partition sends nothing.
    if (std::ranges::any_of(traces_[client], runs)) arrivals.emplace(0.0, client);
  }
  std::vector<std::size_t> next(traces_.size(), 0);
  std::vector<double> acknowledged(cached_.size(), 0.0);
  std::array<double, 2> idle_from = {};                       // by server
  std::array<std::array<std::uint64_t, 2>, 2> answered = {};  // by server, by whether it hit
  while (!arrivals.empty() && arrivals.top().first < window.warmup + window.length) {
    const auto [now, client] = arrivals.top();
    arrivals.pop();
    const std::vector<Request>& trace = traces_[client];
    std::size_t& position = next[client];
    while (!runs(trace[position])) position = (position + 1) % trace.size();
    const Request& request = trace[position];
    position = (position + 1) % trace.size();

    const std::size_t server = request.slot / width == bottleneck ? 0 : 1;
    const bool cached = request.key != kUncached;
    const bool hit = cached && !request.write && acknowledged[request.key] <= now;
    double answer = now + kHitTime;
    if (!hit) {
      answer = std::max(now, idle_from[server]);
      if (cached && request.write) answer = std::max(answer, acknowledged[request.key]);
      answer += 1;
      idle_from[server] = answer;
      if (cached && request.write) acknowledged[request.key] = answer + update_round_trip;
    }
    if (answer >= window.warmup && answer < window.warmup + window.length) {
      ++answered[server][hit ? 1 : 0];
    }
    arrivals.emplace(answer, client);
  }
  const auto rate = [&](std::size_t server, bool hit) {
    return static_cast<double>(answered[server][hit ? 1 : 0]) / window.length;
  };
  return {rate(0, true), rate(0, false), rate(1, true), rate(1, false)};
}

}  // namespace turntable::workload
