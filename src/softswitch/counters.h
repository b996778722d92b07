// What the switch counts per port.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>

namespace turntable::softswitch {

// Why a frame did not leave the switch. The first group is counted at the port where the frame came
// in, the second at the port where it should have gone out.
enum class DropReason : std::size_t {
  kRxQueueFull,    // the kernel's receive queue of the port was full
  kRxOversize,     // longer than kMaxFrame; typically a segmentation offload that was left on
  kIngressDrop,    // drop_ctl was set by ingress
  kNoDestination,  // ingress assigned no egress port, or only groups without members
  kUnknownPort,    // ingress assigned an egress port that this switch does not have
  kNoBuffer,       // no free frame was left for a copy (at the egress port for its mirror copies)
  kQueueLimit,     // the queue, or the buffer all queues share, was full
  kEgressDrop,     // drop_ctl was set by egress
  kTxQueueFull,    // the kernel would not take the frame, after retries
  kTxOversize,     // longer than the interface's MTU
  kTxLinkDown,     // the interface is down or has gone
  kTxFailed,       // any other error of the kernel
  kImpaired,       // a rule of `impair` at this port says so (either direction)
  kCount,
};

// As port_stats and traces name it: "ingress_drop".
const char* name_of(DropReason reason);

struct PortCounters {
  std::uint64_t rx_packets = 0;
  std::uint64_t rx_bytes = 0;
  std::uint64_t tx_packets = 0;
  std::uint64_t tx_bytes = 0;
  // Not drops: received frames whose transport checksum the sender left to a device that does not
  // exist. They are forwarded, and their receiver will discard them.
  std::uint64_t checksum_not_ready = 0;
  std::array<std::uint64_t, static_cast<std::size_t>(DropReason::kCount)> drops{};

  void drop(DropReason reason, std::uint64_t frames = 1) {
    drops[static_cast<std::size_t>(reason)] += frames;
  }
  bool operator==(const PortCounters&) const = default;
  std::uint64_t dropped(DropReason reason) const { return drops[static_cast<std::size_t>(reason)]; }
};

// {"rx_packets", ..., "drops": {"rx_queue_full", ...}} with every reason, also those that are 0.
nlohmann::json to_json(const PortCounters& counters);

}  // namespace turntable::softswitch
