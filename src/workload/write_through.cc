#include "workload/write_through.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <queue>
#include <stdexcept>
#include <utility>

namespace turntable::workload {
namespace {

// What a client waits for an answer of the switch, in units of 1/c: it must be above 0, for a
// client whose requests all hit to get on. Servers do not notice: their queues hold the other
// clients.
constexpr double kHitTime = 0.25;

// Of a sample, by Welford's method; 0 of less than two.
class Deviation {
 public:
  void add(double value) {
    ++count_;
    const double from_old = value - mean_;
    mean_ += from_old / count_;
    squares_ += from_old * (value - mean_);
  }
  double value() const { return count_ < 2 ? 0 : std::sqrt(squares_ / (count_ - 1)); }

 private:
  double count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

}  // namespace

WriteThroughModel::WriteThroughModel(std::vector<KeyId> cached) : cached_(std::move(cached)) {
  std::sort(cached_.begin(), cached_.end());
}

WriteThroughModel::WriteThroughModel(std::vector<KeyId> cached, unsigned sharing)
    : WriteThroughModel(std::move(cached)) {
  sharing_ = sharing;
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

std::vector<std::vector<PlacementRates>> WriteThroughModel::rotate(
    unsigned scale, unsigned bottleneck, std::span<const double> update_round_trips,
    const Window& window) const {
  if (bottleneck >= scale) throw std::invalid_argument("bottleneck: expected one below scale");
  std::vector<unsigned> others = {bottleneck};  // alone
  for (unsigned other = 0; other < scale; ++other) {
    if (other != bottleneck) others.push_back(other);
  }
  std::vector<std::vector<PlacementRates>> rates(update_round_trips.size());
  for (std::size_t placement = 0; placement < others.size(); ++placement) {
    const std::vector<Client> clients = clients_of(scale, bottleneck, others[placement]);
    const double begin = window.pieces == 1
                             ? 0
                             : static_cast<double>(placement) / static_cast<double>(others.size());
    for (std::size_t i = 0; i < update_round_trips.size(); ++i) {
      PlacementRates& replayed = rates[i].emplace_back();
      replayed = replay(clients, begin, update_round_trips[i], window);
      if (window.pieces > 1) deviate(replayed, clients, update_round_trips[i], window);
    }
  }
  return rates;
}

// A client whose trace touches neither partition sends nothing.
std::vector<WriteThroughModel::Client> WriteThroughModel::clients_of(unsigned scale,
                                                                     unsigned bottleneck,
                                                                     unsigned rotated) const {
  std::vector<Client> clients;
  for (std::size_t number = 0; number < traces_.size(); ++number) {
    Client client{.number = number, .requests = {}};
    for (const Request& request : traces_[number]) {
      const unsigned partition = partition_of(request.slot, scale);
      if (partition != bottleneck && partition != rotated) continue;
      client.requests.push_back(request);
      client.requests.back().slot = partition == bottleneck ? 0 : 1;
    }
    if (!client.requests.empty()) clients.push_back(std::move(client));
  }
  return clients;
}

void WriteThroughModel::deviate(PlacementRates& rates, const std::vector<Client>& clients,
                                double update_round_trip, const Window& window) const {
  Deviation hit_share, rotated_share;
  Window otherwise = window;
  otherwise.ramp = window.ramp > 0 ? 0 : window.warmup / 2;
  for (std::uint64_t piece = 0; piece < window.pieces; ++piece) {
    const double begin = static_cast<double>(piece) / static_cast<double>(window.pieces);
    const PlacementRates other =
        replay(clients, begin, update_round_trip, piece % 2 == 0 ? window : otherwise);
    const double hits = other.bottleneck_switch + other.rotated_switch;
    const double served = other.bottleneck_server + other.rotated_server;
    if (hits + served > 0) hit_share.add(hits / (hits + served));
    if (served > 0) rotated_share.add(other.rotated_server / served);
  }
  rates.hit_share_deviation = hit_share.value();
  rates.rotated_share_deviation = rotated_share.value();
}

PlacementRates WriteThroughModel::replay(const std::vector<Client>& clients, double begin,
                                         double update_round_trip, const Window& window) const {
  using Arrival = std::pair<double, std::size_t>;  // time, client
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals;
  std::vector<std::size_t> next;
  const std::size_t sharing = std::max(1U, sharing_);
  const double apart = window.ramp / static_cast<double>(traces_.size() * sharing);
  for (std::size_t client = 0; client < clients.size(); ++client) {
    const auto& [number, requests] = clients[client];
    for (std::size_t i = 0; i < sharing; ++i)
      arrivals.emplace(apart * static_cast<double>(number * sharing + i), client);
    next.push_back(static_cast<std::size_t>(begin * static_cast<double>(requests.size())));
  }
  std::vector<double> acknowledged(cached_.size(), 0.0);
  std::array<double, 2> idle_from = {};                       // by server
  std::array<std::array<std::uint64_t, 2>, 2> answered = {};  // by server, by whether it hit
  while (!arrivals.empty() && arrivals.top().first < window.warmup + window.length) {
    const auto [now, client] = arrivals.top();
    arrivals.pop();
    const std::vector<Request>& requests = clients[client].requests;
    const Request& request = requests[next[client]];
    next[client] = next[client] + 1 == requests.size() ? 0 : next[client] + 1;

    const std::size_t server = request.slot;
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
  return {.bottleneck_switch = rate(0, true),
          .bottleneck_server = rate(0, false),
          .rotated_switch = rate(1, true),
          .rotated_server = rate(1, false)};
}

}  // namespace turntable::workload
