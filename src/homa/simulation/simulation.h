// The transport's own state machines (homa/endpoint.h) on simulated links and switches, at true
// scale: what a cell should measure, and sizes that no laptop has.
//
// Half of the hosts call, the others answer with as many bytes; clients with too many calls under
// way let the next ones wait, and that wait counts.
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "homa/endpoint.h"
#include "homa/message_sizes.h"
#include "homa/simulation/fabric.h"
#include "homa/traffic.h"
#include "stats/histogram.h"

namespace turntable::homa::simulation {

struct Settings {
  homa::Settings transport;
  FabricSettings fabric;
  double tick_us = 2000;
  double host_delay_us = 0;   // from the end of a frame's reception until its node acts on it
  double queue_ahead_us = 2;  // of an uplink, handed over before it is sent; at least two packets
  std::uint32_t frame_overhead_bytes = 66;  // of a datagram: its headers below Homa's, and gaps
  std::uint32_t min_wire_bytes = 84;
  Process process = Process::kExponential;
  double payload_bits_per_s = 0;     // of each client, in each direction
  unsigned outstanding = 50;         // calls of a client
  std::uint32_t fan_out = 1;         // that arrive at the same instant
  std::uint32_t response_bytes = 0;  // 0: as many as the request has
  double warmup_s = 0.01;
  double measure_s = 0.1;  // calls that arrive in it are counted
  double drain_s = 1;      // for their answers, at most
  std::uint64_t seed = 1;
  std::ostream* packets = nullptr;  // gets all that hosts send (packet_trace.h); outlives the run
};

struct Percentile {
  Percentile();

  stats::Histogram rtt_ns;
  stats::Histogram slowdown_1000;  // thousandths of the idle network's round trip
};

struct Result {
  std::vector<Percentile> percentiles;      // 100, of messages by size
  std::map<std::uint32_t, double> idle_ns;  // round trips that slowdowns are of: near servers'
  std::uint64_t offered = 0;                // calls that arrived in the window
  std::uint64_t answered = 0;
  std::uint64_t aborted = 0;
  // Of payload, each client in each direction: of calls that arrived, and were answered, in the
  // window.
  double offered_bits_per_s = 0;
  double delivered_bits_per_s = 0;
  double unanswered_share = 0;  // of what was offered, when the window ends
  Statistics transport;
  PortStatistics switches;
  std::uint64_t frames = 0;  // that hosts sent
  std::uint64_t events = 0;
};

// Throws bad_argument for what cannot be simulated.
Result simulate(const Settings& settings, const MessageSizes& sizes);

// Round trip of one call of `bytes` while nothing else is under way, in ns. `far`: to another leaf.
double idle_rtt_ns(const Settings& settings, std::uint32_t bytes, bool far);

// The rate of a client's requests, in payload, at which the busier direction of its link carries
// `load` of its bytes, headers and grants included.
double payload_at_load(const Settings& settings, const MessageSizes& sizes, double load);

}  // namespace turntable::homa::simulation
