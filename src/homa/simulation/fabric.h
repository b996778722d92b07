// Links and switches: every port has eight queues in strict order of priority, serves one frame
// after the other, and hands it on whole (store and forward). Hosts' uplinks are the hosts' own
// affair (uplink.h).
//
//   one switch:   host ──▶ port to the host
//   leaf and spine:  host ──▶ leaf ──▶ spine (each frame another one) ──▶ leaf ──▶ host
//
// Time is in picoseconds: a byte of 10 Gb/s is 800 of them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/ring.h"
#include "homa/packet.h"
#include "homa/simulation/events.h"
#include "workload/random.h"

namespace turntable::homa::simulation {

inline constexpr unsigned kQueues = 8;
inline constexpr double kPsPerSecond = 1e12;

struct FabricSettings {
  std::uint32_t hosts = 16;
  std::uint32_t hosts_per_leaf = 0;  // 0: one switch
  std::uint32_t spines = 0;
  double host_bits_per_s = 10e9;
  double core_bits_per_s = 40e9;  // between leaf and spine
  double link_delay_us = 0;       // of each link, hosts' included
  double switch_delay_us = 0.25;
  std::uint32_t buffer_bytes = 0;  // of each port; 0: no limit
};

struct Frame {
  Packet packet{};
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t wire_bytes = 0;
};

struct PortStatistics {
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;  // on the wire
  std::uint64_t dropped = 0;
  std::uint64_t max_queued_bytes = 0;
  std::int64_t waited_ps = 0;  // of all frames, from arrival to start
};

class Fabric {
 public:
  // `events` must outlive it. Throws bad_argument for what is no fabric.
  Fabric(const FabricSettings& settings, Events& events);

  // From a frame's arrival at a host until its node acts on it.
  void set_host_delay(std::int64_t ps) noexcept { host_ps_ = ps; }

  // A frame that has left its host's uplink at that time; the link to the switch is before it.
  void inject(const Frame& frame, std::int64_t left_at_ps);
  // One that arrives at the port to its receiver now: for tests of queueing.
  void inject_at_last_port(const Frame& frame) { enqueue(frame.to, frames_.add(frame)); }

  // kAtSwitch and kPortFree.
  void at_switch(std::uint32_t frame_index, std::uint32_t switch_index);
  void port_free(std::uint32_t port_index);

  // Of kAtHost.
  Frame take(std::uint32_t frame_index);

  const PortStatistics& last_port(std::uint32_t host) const { return ports_[host].statistics; }
  PortStatistics total() const;

 private:
  struct Waiting {
    std::uint32_t frame;
    std::int64_t since_ps;
  };
  struct Port {
    std::array<Ring<Waiting>, kQueues> queues;
    std::uint32_t not_empty = 0;  // a bit for each queue
    bool free_is_due = false;
    std::int64_t free_at_ps = 0;
    std::uint64_t queued_bytes = 0;
    double ps_per_byte = 0;
    EventKind next = EventKind::kAtHost;
    std::uint32_t next_index = 0;
    PortStatistics statistics;
  };
  struct Frames {
    std::vector<Frame> records;
    std::vector<std::uint32_t> free;

    std::uint32_t add(const Frame& frame);
  };

  std::uint32_t leaf_of(std::uint32_t host) const noexcept {
    return settings_.hosts_per_leaf == 0 ? 0 : host / settings_.hosts_per_leaf;
  }
  std::uint32_t port_at(std::uint32_t switch_index, std::uint32_t to);
  void add_port(double bits_per_s, EventKind next, std::uint32_t next_index);
  void enqueue(std::uint32_t port_index, std::uint32_t frame_index);
  void start(std::uint32_t port_index, Waiting waiting);

  const FabricSettings settings_;
  Events& events_;
  const std::uint32_t leaves_;
  const std::int64_t link_ps_;
  const std::int64_t switch_ps_;
  std::int64_t host_ps_ = 0;
  // Ports to the hosts, by host; leaves' ports to spines, by leaf; spines' ports to leaves.
  std::vector<Port> ports_;
  Frames frames_;
  workload::Random random_{1};
};

}  // namespace turntable::homa::simulation
