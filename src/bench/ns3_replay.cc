// ns3-replay: ns-3 forwards the packets that homa-sim wrote (packet_replay.h), through
// point-to-point links whose devices have eight queues in strict order of priority. No transport,
// no IP: a switch looks its packet's receiver up and sends it on, which is less than any model of
// ns-3's does.
#include <ns3/drop-tail-queue.h>
#include <ns3/node.h>
#include <ns3/point-to-point-channel.h>
#include <ns3/point-to-point-net-device.h>
#include <ns3/simulator.h>

#include <random>

#include "bench/packet_replay.h"

namespace turntable::bench {
namespace {

using ns3::Packet;
using ns3::Ptr;
using Device = Ptr<ns3::PointToPointNetDevice>;

constexpr std::uint32_t kPppBytes = 2;        // which the devices add to each packet
constexpr std::uint16_t kProtocol = 0x0800;   // the devices know IP's two alone
constexpr std::uint32_t kNoLimit = 1U << 30;  // packets in a queue

// A packet's place among those that were made, which ns-3 keeps wherever it goes.
using Packets = std::vector<TracedPacket>;
const TracedPacket& record_of(const Packets& packets, const Packet& packet) {
  return packets[packet.GetUid()];
}

class PriorityQueue final : public ns3::Queue<Packet> {
 public:
  explicit PriorityQueue(const Packets& packets) : packets_(packets) {
    for (auto& queue : queues_) {
      queue = ns3::CreateObject<ns3::DropTailQueue<Packet>>();
      queue->SetMaxSize({ns3::QueueSizeUnit::PACKETS, kNoLimit});
    }
  }

  bool Enqueue(Ptr<Packet> packet) override {
    return queues_[record_of(packets_, *packet).priority]->Enqueue(packet);
  }
  Ptr<Packet> Dequeue() override {
    const auto queue = first();
    return queue ? queue->Dequeue() : nullptr;
  }
  Ptr<Packet> Remove() override {
    const auto queue = first();
    return queue ? queue->Remove() : nullptr;
  }
  Ptr<const Packet> Peek() const override {
    const auto queue = first();
    return queue ? queue->Peek() : nullptr;
  }

 private:
  Ptr<ns3::DropTailQueue<Packet>> first() const {
    for (std::size_t priority = kQueues; priority-- > 0;)
      if (!queues_[priority]->IsEmpty()) return queues_[priority];
    return nullptr;
  }

  const Packets& packets_;
  std::array<Ptr<ns3::DropTailQueue<Packet>>, kQueues> queues_;
};

class Network {
 public:
  Network(const FabricSettings& settings, const Packets& packets, Delays& delays);

  void run();

 private:
  std::uint32_t leaf_of(std::uint32_t host) const {
    return settings_.hosts_per_leaf == 0 ? 0 : host / settings_.hosts_per_leaf;
  }
  ns3::Time start_of(std::size_t index) const {
    const TracedPacket& packet = packets_[index];
    const double ps = packet.wire_bytes * 8e12 / settings_.host_bits_per_s;
    return ns3::PicoSeconds(packet.left_at_ps - std::llround(ps));
  }

  // Both ends of a link; `at_b` is told what arrives at the second one.
  template <typename AtA, typename AtB>
  std::array<Device, 2> connect(double bits_per_s, Ptr<ns3::Node> a, AtA at_a, Ptr<ns3::Node> b,
                                AtB at_b);
  template <typename Arrive>
  Device add_device(Ptr<ns3::Node> node, double bits_per_s, Arrive arrive);
  void send_next();
  void at_leaf(std::uint32_t leaf, const Ptr<const Packet>& packet);
  void at_spine(std::uint32_t spine, const Ptr<const Packet>& packet);
  void at_host(const Ptr<const Packet>& packet);

  const FabricSettings& settings_;
  const Packets& packets_;
  Delays& delays_;
  std::vector<Device> uplinks_;                // of hosts
  std::vector<Device> to_hosts_;               // leaves' ports
  std::vector<std::vector<Device>> to_spine_;  // [leaf][spine]
  std::vector<std::vector<Device>> to_leaf_;   // [spine][leaf]
  std::size_t next_ = 0;
  std::minstd_rand random_{1};
};

void send(const Device& device, const Ptr<Packet>& packet) {
  device->Send(packet, device->GetBroadcast(), kProtocol);
}

Network::Network(const FabricSettings& settings, const Packets& packets, Delays& delays)
    : settings_(settings), packets_(packets), delays_(delays) {
  const std::uint32_t leaves = leaf_of(settings.hosts - 1) + 1;
  std::vector<Ptr<ns3::Node>> switches;
  for (std::uint32_t i = 0; i < leaves + settings.spines; ++i)
    switches.push_back(ns3::CreateObject<ns3::Node>());
  for (std::uint32_t host = 0; host < settings.hosts; ++host) {
    const std::uint32_t leaf = leaf_of(host);
    const auto ends = connect(
        settings.host_bits_per_s, ns3::CreateObject<ns3::Node>(),
        [this](const auto& packet) { at_host(packet); }, switches[leaf],
        [this, leaf](const auto& packet) { at_leaf(leaf, packet); });
    uplinks_.push_back(ends[0]);
    to_hosts_.push_back(ends[1]);
  }
  to_spine_.assign(leaves, std::vector<Device>(settings.spines));
  to_leaf_.assign(settings.spines, std::vector<Device>(leaves));
  for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) {
    for (std::uint32_t spine = 0; spine < settings.spines; ++spine) {
      const auto ends = connect(
          settings.core_bits_per_s, switches[leaf],
          [this, leaf](const auto& packet) { at_leaf(leaf, packet); }, switches[leaves + spine],
          [this, spine](const auto& packet) { at_spine(spine, packet); });
      to_spine_[leaf][spine] = ends[0];
      to_leaf_[spine][leaf] = ends[1];
    }
  }
}

template <typename AtA, typename AtB>
std::array<Device, 2> Network::connect(double bits_per_s, Ptr<ns3::Node> a, AtA at_a,
                                       Ptr<ns3::Node> b, AtB at_b) {
  const auto channel = ns3::CreateObject<ns3::PointToPointChannel>();
  const auto delay_ps = std::llround(settings_.link_delay_us * 1e6);
  channel->SetAttribute("Delay", ns3::TimeValue(ns3::PicoSeconds(delay_ps)));
  std::array<Device, 2> ends{add_device(a, bits_per_s, at_a), add_device(b, bits_per_s, at_b)};
  for (const Device& end : ends) end->Attach(channel);
  return ends;
}

template <typename Arrive>
Device Network::add_device(Ptr<ns3::Node> node, double bits_per_s, Arrive arrive) {
  const Device device = ns3::CreateObject<ns3::PointToPointNetDevice>();
  device->SetAddress(ns3::Mac48Address::Allocate());
  device->SetDataRate(ns3::DataRate(static_cast<std::uint64_t>(bits_per_s)));
  device->SetQueue(ns3::CreateObject<PriorityQueue>(packets_));
  node->AddDevice(device);
  device->SetReceiveCallback(ns3::NetDevice::ReceiveCallback(
      [arrive](const Ptr<ns3::NetDevice>&, const Ptr<const Packet>& packet, std::uint16_t,
               const ns3::Address&) {
        arrive(packet);
        return true;
      }));
  return device;
}

void Network::run() {
  ns3::Simulator::Schedule(start_of(0), &Network::send_next, this);
  ns3::Simulator::Run();
  ns3::Simulator::Destroy();
}

void Network::send_next() {
  const TracedPacket& packet = packets_[next_++];
  send(uplinks_[packet.from], ns3::Create<Packet>(packet.wire_bytes - kPppBytes));
  if (next_ < packets_.size())
    ns3::Simulator::Schedule(start_of(next_) - ns3::Simulator::Now(), &Network::send_next, this);
}

void Network::at_leaf(std::uint32_t leaf, const Ptr<const Packet>& packet) {
  const std::uint32_t to = record_of(packets_, *packet).to;
  const Device& port =
      leaf_of(to) == leaf ? to_hosts_[to] : to_spine_[leaf][random_() % settings_.spines];
  send(port, packet->Copy());
}

void Network::at_spine(std::uint32_t spine, const Ptr<const Packet>& packet) {
  send(to_leaf_[spine][leaf_of(record_of(packets_, *packet).to)], packet->Copy());
}

void Network::at_host(const Ptr<const Packet>& packet) {
  delays_.add(record_of(packets_, *packet), ns3::Simulator::Now().GetPicoSeconds());
}

void forward(const FabricSettings& settings, const Packets& packets, Delays& delays) {
  ns3::Time::SetResolution(ns3::Time::PS);
  Packets by_start = packets;
  std::ranges::stable_sort(by_start, {}, [&](const TracedPacket& packet) {
    return packet.left_at_ps - std::llround(packet.wire_bytes * 8e12 / settings.host_bits_per_s);
  });
  Network(settings, by_start, delays).run();
}

}  // namespace
}  // namespace turntable::bench

int main(int argc, char** argv) {
  return turntable::bench::replay("ns3-replay", "Forwards packets through ns-3's links and queues",
                                  argc, argv, turntable::bench::forward);
}
