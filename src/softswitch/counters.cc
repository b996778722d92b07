#include "softswitch/counters.h"

#include <nlohmann/json.hpp>

namespace turntable::softswitch {
namespace {

// In the order of DropReason.
constexpr std::array<const char*, static_cast<std::size_t>(DropReason::kCount)> kReasonNames = {
    "rx_queue_full", "rx_oversize", "ingress_drop", "no_destination", "unknown_port",
    "no_buffer",     "queue_limit", "egress_drop",  "tx_queue_full",  "tx_oversize",
    "tx_link_down",  "tx_failed",   "impaired"};
static_assert(kReasonNames.back() != nullptr, "one name per reason");

}  // namespace

const char* name_of(DropReason reason) {
  return kReasonNames[static_cast<std::size_t>(reason)];
}

nlohmann::json to_json(const PortCounters& counters) {
  nlohmann::json drops = nlohmann::json::object();
  for (std::size_t reason = 0; reason < kReasonNames.size(); ++reason)
    drops[kReasonNames[reason]] = counters.drops[reason];
  return {{"rx_packets", counters.rx_packets},
          {"rx_bytes", counters.rx_bytes},
          {"tx_packets", counters.tx_packets},
          {"tx_bytes", counters.tx_bytes},
          {"checksum_not_ready", counters.checksum_not_ready},
          {"drops", drops}};
}

}  // namespace turntable::softswitch
