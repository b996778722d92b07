#include "homa/simulation/simulation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "common/command_error.h"
#include "homa/simulation/packet_trace.h"

namespace turntable::homa::simulation {
namespace {

constexpr double kPsPerUs = 1e6;
constexpr std::int64_t kHighestNs = 100'000'000'000;
constexpr std::int64_t kHighestSlowdown = 100'000'000;  // thousandths

std::int64_t ps_of_us(double us) {
  return std::llround(us * kPsPerUs);
}

class Simulation {
 public:
  Simulation(const Settings& settings, const MessageSizes& sizes,
             const std::map<std::pair<std::uint32_t, bool>, double>& idle_ns)
      : settings_(settings),
        sizes_(sizes),
        idle_ns_(idle_ns),
        fabric_(settings.fabric, events_),
        clients_(settings.fabric.hosts / 2),
        ps_per_byte_(8 * kPsPerSecond / settings.fabric.host_bits_per_s),
        queue_ahead_ps_(
            std::max(ps_of_us(settings.queue_ahead_us),
                     static_cast<std::int64_t>(
                         2 * ps_per_byte_ *
                         wire_bytes(kDataHeaderBytes + settings.transport.payload_bytes)))),
        host_delay_ps_(ps_of_us(settings.host_delay_us)),
        begin_ps_(std::llround(settings.warmup_s * kPsPerSecond)),
        end_ps_(begin_ps_ + std::llround(settings.measure_s * kPsPerSecond)) {
    for (std::uint32_t host = 0; host < settings_.fabric.hosts; ++host)
      hosts_.push_back(std::make_unique<Host>(*this, host));
  }

  Result run();
  double round_trip_ns(std::uint32_t bytes, bool far);

 private:
  struct Call {
    std::int64_t at_ps = 0;
    std::uint32_t bytes = 0;
    std::uint32_t percentile = 0;
    std::uint32_t server = 0;  // host
    bool counts = false;
  };

  class Host final : public Application {
   public:
    Host(Simulation& simulation, std::uint32_t self)
        : endpoint(simulation.settings_.transport, self, *this),
          simulation_(simulation),
          self_(self) {}

    void request(RpcId id, Peer, Content content) override {
      if (simulation_.settings_.response_bytes > 0)
        content.size = simulation_.settings_.response_bytes;
      endpoint.reply(id, std::move(content));
    }
    void response(std::uint64_t tag, Content) override { simulation_.answered(self_, tag); }
    void aborted(std::uint64_t tag, AbortReason) override { simulation_.aborted(self_, tag); }

    Endpoint endpoint;
    std::int64_t uplink_free_ps = 0;
    bool uplink_is_due = false;
    std::unique_ptr<Traffic> traffic;  // clients
    Arrival next{};
    Ring<Call> waiting;

   private:
    Simulation& simulation_;
    const std::uint32_t self_;
  };

  std::uint32_t wire_bytes(std::size_t datagram_bytes) const noexcept {
    return std::max(settings_.min_wire_bytes,
                    static_cast<std::uint32_t>(datagram_bytes) + settings_.frame_overhead_bytes);
  }
  bool is_far(std::uint32_t from, std::uint32_t to) const noexcept {
    const std::uint32_t leaf = settings_.fabric.hosts_per_leaf;
    return leaf > 0 && from / leaf != to / leaf;
  }
  void step(const Event& event);
  void arrive(std::uint32_t client);
  void begin(std::uint32_t client, const Call& call);
  void answered(std::uint32_t client, std::uint64_t tag);
  void aborted(std::uint32_t client, std::uint64_t tag);
  Call end(std::uint32_t client, std::uint64_t tag);
  void use_uplink(std::uint32_t host);

  const Settings settings_;
  const MessageSizes& sizes_;
  const std::map<std::pair<std::uint32_t, bool>, double>& idle_ns_;
  Events events_;
  Fabric fabric_;
  const std::uint32_t clients_;
  const double ps_per_byte_;
  const std::int64_t queue_ahead_ps_;
  const std::int64_t host_delay_ps_;
  const std::int64_t begin_ps_;
  const std::int64_t end_ps_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<Call> calls_;  // by tag
  std::vector<std::uint64_t> free_tags_;
  std::uint64_t open_ = 0;  // calls that count and have no answer
  double offered_bytes_ = 0;
  double open_bytes_ = 0;
  double late_bytes_ = 0;  // of those that have none when the window ends
  std::uint64_t delivered_bytes_ = 0;
  std::ostream* packets_ = nullptr;  // of the run; not of the idle network
  Result result_;
};

void Simulation::use_uplink(std::uint32_t index) {
  Host& host = *hosts_[index];
  const std::int64_t now = events_.now_ps();
  Endpoint::Outgoing outgoing;
  while (host.uplink_free_ps - now <= queue_ahead_ps_) {
    if (!host.endpoint.next(outgoing)) return;
    Frame frame{outgoing.packet, index, outgoing.to, wire_bytes(packet_bytes(outgoing.packet))};
    frame.packet.payload = {};
    host.uplink_free_ps =
        std::max(now, host.uplink_free_ps) + std::llround(ps_per_byte_ * frame.wire_bytes);
    fabric_.inject(frame, host.uplink_free_ps);
    if (packets_ != nullptr)
      write(*packets_,
            {host.uplink_free_ps, index, frame.to, frame.packet.priority, frame.wire_bytes});
    ++result_.frames;
  }
  if (std::exchange(host.uplink_is_due, true)) return;
  events_.at(host.uplink_free_ps - queue_ahead_ps_, EventKind::kUplinkFree, index);
}

void Simulation::begin(std::uint32_t client, const Call& call) {
  std::uint64_t tag = calls_.size();
  if (free_tags_.empty()) {
    calls_.push_back(call);
  } else {
    tag = free_tags_.back();
    free_tags_.pop_back();
    calls_[tag] = call;
  }
  hosts_[client]->endpoint.call(call.server, {call.bytes, {}}, tag);
}

void Simulation::arrive(std::uint32_t client) {
  Host& host = *hosts_[client];
  const Arrival arrival = host.next;
  Call call{arrival.at_ps, arrival.bytes, arrival.percentile, clients_ + arrival.server};
  call.counts = arrival.at_ps >= begin_ps_ && arrival.at_ps < end_ps_;
  if (call.counts) {
    ++open_;
    ++result_.offered;
    offered_bytes_ += call.bytes;
    open_bytes_ += call.bytes;
  }
  if (host.endpoint.outstanding_calls() < settings_.outstanding) {
    begin(client, call);
  } else {
    host.waiting.push(call);
  }
  host.next = host.traffic->next();
  if (host.next.at_ps < end_ps_) events_.at(host.next.at_ps, EventKind::kArrival, client);
  use_uplink(client);
}

Simulation::Call Simulation::end(std::uint32_t client, std::uint64_t tag) {
  const Call call = calls_[tag];
  free_tags_.push_back(tag);
  if (call.counts) {
    --open_;
    open_bytes_ -= call.bytes;
  }
  Host& host = *hosts_[client];
  if (!host.waiting.empty() && host.endpoint.outstanding_calls() < settings_.outstanding)
    begin(client, host.waiting.pop());
  return call;
}

void Simulation::answered(std::uint32_t client, std::uint64_t tag) {
  const std::int64_t now = events_.now_ps();
  const Call call = end(client, tag);
  if (now >= begin_ps_ && now < end_ps_) delivered_bytes_ += call.bytes;
  if (call.counts && now >= end_ps_) late_bytes_ += call.bytes;
  if (!call.counts) return;
  ++result_.answered;
  const double ns = static_cast<double>(now - call.at_ps) / 1000;
  Percentile& percentile = result_.percentiles[call.percentile];
  percentile.rtt_ns.record(std::llround(ns));
  const double idle = idle_ns_.at({call.bytes, is_far(client, call.server)});
  percentile.slowdown_1000.record(std::llround(1000 * ns / idle));
}

void Simulation::aborted(std::uint32_t client, std::uint64_t tag) {
  if (end(client, tag).counts) ++result_.aborted;
}

void Simulation::step(const Event& event) {
  switch (event.kind) {
    case EventKind::kAtSwitch:
      return fabric_.at_switch(event.frame, event.index);
    case EventKind::kPortFree:
      return fabric_.port_free(event.index);
    case EventKind::kAtHost: {
      const Frame frame = fabric_.take(event.frame);
      hosts_[frame.to]->endpoint.receive(frame.from, frame.packet);
      return use_uplink(frame.to);
    }
    case EventKind::kUplinkFree:
      hosts_[event.index]->uplink_is_due = false;
      return use_uplink(event.index);
    case EventKind::kArrival:
      return arrive(event.index);
    case EventKind::kTick:
      for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
        hosts_[host]->endpoint.tick();
        use_uplink(host);
      }
      events_.at(event.at_ps + ps_of_us(settings_.tick_us), EventKind::kTick, 0);
      return;
  }
}

Result Simulation::run() {
  result_.percentiles.resize(100);
  packets_ = settings_.packets;
  fabric_.set_host_delay(host_delay_ps_);
  const double calls_per_s = settings_.payload_bits_per_s / 8 / sizes_.mean();
  for (std::uint32_t client = 0; client < clients_; ++client) {
    Host& host = *hosts_[client];
    host.traffic = std::make_unique<Traffic>(sizes_, settings_.process, calls_per_s,
                                             settings_.fabric.hosts - clients_, settings_.seed,
                                             client, settings_.fan_out);
    host.next = host.traffic->next();
    events_.at(host.next.at_ps, EventKind::kArrival, client);
  }
  events_.at(ps_of_us(settings_.tick_us), EventKind::kTick, 0);
  const std::int64_t last = end_ps_ + std::llround(settings_.drain_s * kPsPerSecond);
  while (events_.now_ps() < last && (events_.now_ps() < end_ps_ || open_ > 0)) step(events_.take());

  result_.delivered_bits_per_s =
      static_cast<double>(delivered_bytes_) * 8 / settings_.measure_s / clients_;
  result_.offered_bits_per_s = offered_bytes_ * 8 / settings_.measure_s / clients_;
  result_.unanswered_share = offered_bytes_ > 0 ? (late_bytes_ + open_bytes_) / offered_bytes_ : 0;
  for (const auto& host : hosts_) result_.transport += host->endpoint.statistics();
  result_.switches = fabric_.total();
  result_.events = events_.count();
  return std::move(result_);
}

double Simulation::round_trip_ns(std::uint32_t bytes, bool far) {
  fabric_.set_host_delay(host_delay_ps_);
  const std::uint32_t leaf = settings_.fabric.hosts_per_leaf;
  begin(0, {.bytes = bytes, .server = far ? leaf : 1U});
  use_uplink(0);
  while (hosts_[0]->endpoint.outstanding_calls() > 0) step(events_.take());
  return static_cast<double>(events_.now_ps()) / 1000;
}

void check(const Settings& settings, const MessageSizes& sizes) {
  if (settings.fabric.hosts % 2 != 0)
    throw bad_argument(std::to_string(settings.fabric.hosts) +
                       " hosts; expected an even number: half of them are clients");
  if (!(settings.payload_bits_per_s > 0))
    throw bad_argument("no load; expected a payload rate above 0");
  const std::uint32_t largest = sizes.points().back().bytes;
  if (largest > settings.transport.max_message_bytes) {
    throw bad_argument("sizes reach " + std::to_string(largest) + " bytes; the transport has " +
                       std::to_string(settings.transport.max_message_bytes) +
                       " at most. Cap them, or divide them");
  }
}

}  // namespace

Percentile::Percentile() : rtt_ns(kHighestNs), slowdown_1000(kHighestSlowdown) {}

double idle_rtt_ns(const Settings& settings, std::uint32_t bytes, bool far) {
  const MessageSizes sizes = MessageSizes::fixed(bytes);
  const std::map<std::pair<std::uint32_t, bool>, double> any{{{bytes, far}, 1.0}};
  return Simulation(settings, sizes, any).round_trip_ns(bytes, far);
}

double payload_at_load(const Settings& settings, const MessageSizes& sizes, double load) {
  const auto wire = [&](std::size_t datagram) {
    return std::max<double>(settings.min_wire_bytes,
                            static_cast<double>(datagram) + settings.frame_overhead_bytes);
  };
  const std::uint32_t packet = settings.transport.payload_bytes;
  const auto data_bytes = [&](std::uint32_t message) {
    const std::uint32_t full = message / packet;
    const std::uint32_t rest = message % packet;
    double bytes = full * wire(kDataHeaderBytes + packet);
    if (rest > 0) bytes += wire((full == 0 ? kAllDataHeaderBytes : kDataHeaderBytes) + rest);
    return bytes;
  };
  const auto grant_bytes = [&](std::uint32_t message) {
    const std::uint32_t unscheduled = std::min(message, settings.transport.rtt_bytes);
    return std::ceil((message - unscheduled) / static_cast<double>(packet)) * wire(kGrantBytes);
  };
  double sent_bytes = 0;
  double received_bytes = 0;
  for (const auto& point : sizes.points()) {
    const std::uint32_t response =
        settings.response_bytes == 0 ? point.bytes : settings.response_bytes;
    sent_bytes += (data_bytes(point.bytes) + grant_bytes(response)) * point.probability;
    received_bytes += (data_bytes(response) + grant_bytes(point.bytes)) * point.probability;
  }
  return load * settings.fabric.host_bits_per_s * sizes.mean() /
         std::max(sent_bytes, received_bytes);
}

Result simulate(const Settings& settings, const MessageSizes& sizes) {
  check(settings, sizes);
  std::map<std::pair<std::uint32_t, bool>, double> idle_ns;
  for (const auto& point : sizes.points()) {
    idle_ns[{point.bytes, false}] = idle_rtt_ns(settings, point.bytes, false);
    if (settings.fabric.hosts_per_leaf > 0)
      idle_ns[{point.bytes, true}] = idle_rtt_ns(settings, point.bytes, true);
  }
  Result result = Simulation(settings, sizes, idle_ns).run();
  for (const auto& point : sizes.points())
    result.idle_ns[point.bytes] = idle_ns.at({point.bytes, false});
  return result;
}

}  // namespace turntable::homa::simulation
