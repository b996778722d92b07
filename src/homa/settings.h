// What all nodes of a cell agree on: docs/homa.md §3.
#pragma once

#include <cstdint>
#include <vector>

namespace turntable::homa {

struct Settings {
  std::uint32_t payload_bytes = 1470;  // of a message in a full packet
  std::uint32_t rtt_bytes = 10290;     // RTTbytes: whole packets

  // Priorities 0 .. levels - 1, of which the highest `unscheduled_levels` are for what is sent
  // without a grant. Messages below cutoffs[0] bytes have the highest one, those below cutoffs[1]
  // the next, and so on. With one level both kinds share it.
  std::uint32_t levels = 8;
  std::uint32_t unscheduled_levels = 1;
  std::vector<std::uint32_t> cutoffs;  // unscheduled_levels - 1, ascending

  std::uint32_t degree = 7;  // messages, each of another sender, that a receiver grants at a time

  // Basic: every message is granted by itself, RTTbytes and so many packets ahead of what came.
  bool independent_grants = false;
  std::uint32_t independent_ahead_packets = 5;

  bool at_most_once = false;

  std::uint32_t direct_below_bytes = 300;  // messages that do not wait for their turn in SRPT order
  std::uint32_t max_message_bytes = 64U << 20U;

  // In ticks of the timer.
  std::uint32_t resend_after_ticks = 2;
  std::uint32_t ask_every_ticks = 3;  // a client of whose answer nothing came
  std::uint32_t abort_after_ticks = 40;
};

// Throws bad_argument that names the setting, what it is, and what is expected.
void check(const Settings& settings);

// RTTbytes of a link: what it carries in a round trip, in whole packets.
std::uint32_t rtt_bytes(double link_bits_per_s, double round_trip_us, std::uint32_t payload_bytes);

std::uint8_t highest_priority(const Settings& settings) noexcept;
std::uint8_t unscheduled_priority(const Settings& settings, std::uint32_t message_bytes) noexcept;
std::uint8_t highest_scheduled_priority(const Settings& settings) noexcept;

}  // namespace turntable::homa
