#include "homa/nodes/transport.h"

#include <ifaddrs.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "common/clock.h"
#include "common/command_error.h"
#include "net/network_interface.h"
#include "node/arguments.h"

namespace turntable::homa {
namespace {

using Json = nlohmann::json;
using node::Arguments;

constexpr std::int64_t kMaxBitsPerS = 1'000'000'000'000;
constexpr std::uint32_t kIpAndUdp = 28;
constexpr std::int64_t kMaxMessageBytes = 1 << 28;

std::vector<std::uint32_t> cutoffs_of(const Json& args, const Arguments& arguments) {
  std::vector<std::uint32_t> cutoffs;
  if (!args.contains("cutoffs")) return cutoffs;
  for (const Json& cutoff : arguments.array_or_empty("cutoffs")) {
    if (!cutoff.is_number_integer() || cutoff.get<std::int64_t>() < 1)
      arguments.fail("cutoffs", cutoff, "sizes in bytes, ascending");
    cutoffs.push_back(cutoff.get<std::uint32_t>());
  }
  return cutoffs;
}

// Of the interface with this address; 0: there is none.
std::uint32_t mtu_of(const sockaddr_in& local) {
  ifaddrs* found = nullptr;
  if (::getifaddrs(&found) != 0) return 0;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(found, ::freeifaddrs);
  for (const ifaddrs* each = all.get(); each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    const auto* address = reinterpret_cast<const sockaddr_in*>(each->ifa_addr);
    if (address->sin_addr.s_addr == local.sin_addr.s_addr)
      return net::NetworkInterface(each->ifa_name).mtu();
  }
  return 0;
}

void check_mtu(const net::Datagrams& datagrams, std::uint32_t payload_bytes) {
  const auto needed = static_cast<std::uint32_t>(payload_bytes + kDataHeaderBytes + kIpAndUdp);
  const std::uint32_t mtu = mtu_of(datagrams.local());
  if (mtu == 0 || mtu >= needed) return;
  throw bad_argument("a packet of " + std::to_string(payload_bytes) + " bytes of payload needs " +
                     std::to_string(needed) + " bytes, and the MTU at " +
                     net::text_of(datagrams.local()) + " is " + std::to_string(mtu) +
                     "; expected a larger MTU, or payload_bytes up to " +
                     std::to_string(mtu - kDataHeaderBytes - kIpAndUdp));
}

}  // namespace

TransportSettings TransportSettings::parse(const std::string& where, const Json& args) {
  const Arguments arguments(where + ", transport", args,
                            {"kind", "payload_bytes", "rtt_bytes", "levels", "unscheduled_levels",
                             "cutoffs", "degree", "at_most_once", "max_message_bytes", "tick_ms",
                             "link_bps", "link_overhead_bytes", "queue_ahead_us"});
  const std::string kind = arguments.text("kind");
  if (kind != "homa" && kind != "basic") arguments.fail("kind", kind, "homa or basic");
  TransportSettings settings;
  Settings& protocol = settings.protocol;
  const auto natural = [&](const char* name, std::int64_t least, std::int64_t most,
                           std::int64_t otherwise) {
    return static_cast<std::uint32_t>(arguments.integer_or(name, least, most, otherwise));
  };
  protocol.payload_bytes = natural("payload_bytes", 64, 8900, protocol.payload_bytes);
  protocol.rtt_bytes = natural("rtt_bytes", 1, 1 << 30, std::int64_t{7} * protocol.payload_bytes);
  protocol.levels = natural("levels", 1, 8, kind == "basic" ? 1 : protocol.levels);
  protocol.unscheduled_levels = natural("unscheduled_levels", 1, 8, 1);
  protocol.cutoffs = cutoffs_of(args, arguments);
  protocol.degree = natural("degree", 1, 1000, protocol.degree);
  protocol.at_most_once = args.contains("at_most_once") && arguments.boolean("at_most_once");
  protocol.max_message_bytes =
      natural("max_message_bytes", 1, kMaxMessageBytes, protocol.max_message_bytes);
  protocol.independent_grants = kind == "basic";
  check(protocol);

  const auto number = [&](const char* name, double least, double most, double otherwise) {
    return args.contains(name) ? arguments.number(name, least, most) : otherwise;
  };
  settings.tick_ns = static_cast<std::int64_t>(number("tick_ms", 0.01, 1e5, 2) * 1e6);
  settings.uplink.bits_per_s =
      static_cast<std::uint64_t>(arguments.integer_or("link_bps", 1000, kMaxBitsPerS, 0));
  settings.uplink.overhead_bytes =
      natural("link_overhead_bytes", 0, 1000, settings.uplink.overhead_bytes);
  settings.ahead_ns = static_cast<std::int64_t>(number("queue_ahead_us", 0, 1e6, 2) * 1e3);
  if (settings.uplink.bits_per_s > 0) {
    const std::uint32_t packet_bytes = protocol.payload_bytes + std::uint32_t{kDataHeaderBytes} +
                                       kHeadersBelow + settings.uplink.overhead_bytes;
    const double bits = 2.0 * 8 * packet_bytes;
    const auto two_packets =
        static_cast<std::int64_t>(bits * 1e9 / static_cast<double>(settings.uplink.bits_per_s));
    settings.ahead_ns = std::max(settings.ahead_ns, two_packets);
  }
  return settings;
}

Transport::Transport(const TransportSettings& settings, std::uint64_t client, const Peers& peers,
                     Application& application, std::unique_ptr<net::Datagrams> datagrams)
    : settings_(settings),
      peers_(peers),
      datagrams_(std::move(datagrams)),
      endpoint_(settings.protocol, client, application),
      next_tick_ns_(monotonic_ns() + settings.tick_ns) {
  check_mtu(*datagrams_, settings.protocol.payload_bytes);
  uplink_.configure(settings.uplink);
}

int Transport::receive() noexcept {
  count_ = datagrams_->receive();
  if (count_ < 0) ++counts_.receive_errors;
  return count_;
}

std::int64_t Transport::first_came_ns() const noexcept {
  const auto first = datagrams_->at(0);
  return first.has_stamp ? first.received_ns : 0;
}

void Transport::handle_batch(std::int64_t now_ns) noexcept {
  const std::int64_t to_monotonic_ns = realtime_to_monotonic_ns();
  for (int i = 0; i < count_; ++i) {
    const auto datagram = datagrams_->at(static_cast<std::size_t>(i));
    ++counts_.received;
    const auto peer = peers_.find(datagram.from);
    if (!peer) {
      ++counts_.strangers;
      continue;
    }
    Packet packet;
    if (datagram.truncated || decode(datagram.bytes, packet) != DecodeStatus::kOk) {
      ++counts_.malformed;
      continue;
    }
    now_ns_ =
        datagram.has_stamp ? std::min(now_ns, datagram.received_ns + to_monotonic_ns) : now_ns;
    ready_ns_ = std::min(ready_ns_, now_ns_);
    endpoint_.receive(*peer, packet);
  }
  count_ = 0;
}

void Transport::act(std::int64_t now_ns, std::int64_t ready_ns) noexcept {
  if (now_ns >= next_tick_ns_) {
    endpoint_.tick();
    // Ticks that were missed are not made good: nobody was silent because this node was late.
    next_tick_ns_ = std::max(next_tick_ns_ + settings_.tick_ns, now_ns);
  }
  use_uplink(now_ns, std::min(ready_ns, ready_ns_));
  ready_ns_ = INT64_MAX;
}

void Transport::use_uplink(std::int64_t now_ns, std::int64_t ready_ns) noexcept {
  // What had to wait for the link was there before it was free.
  const std::int64_t since_ns = is_blocked_ ? 0 : std::min(now_ns, ready_ns);
  const auto room_until_ns = static_cast<std::uint64_t>(now_ns + settings_.ahead_ns);
  Endpoint::Outgoing outgoing;
  is_blocked_ = true;
  while (!uplink_.limits() || uplink_.free_at_ns() <= room_until_ns) {
    if (datagrams_->full()) depart(now_ns);
    if (datagrams_->full()) break;
    is_blocked_ = endpoint_.next(outgoing);
    if (!is_blocked_) break;
    hand_over(outgoing, since_ns);
  }
  depart(now_ns);
}

void Transport::hand_over(const Endpoint::Outgoing& outgoing, std::int64_t ready_ns) noexcept {
  const auto buffer = datagrams_->buffer();
  std::size_t bytes = encode_header(outgoing.packet, buffer);
  const auto payload = outgoing.packet.payload;
  std::memcpy(buffer.data() + bytes, payload.data(), payload.size());
  bytes += payload.size();
  const auto dscp = static_cast<std::uint8_t>(outgoing.packet.priority * 8);
  datagrams_->add(bytes, &peers_.address(outgoing.to), dscp);
  const auto frame_bytes = static_cast<std::uint32_t>(bytes) + kHeadersBelow;
  if (uplink_.limits())
    departures_ns_.push(uplink_.send(static_cast<std::uint64_t>(ready_ns), frame_bytes));
  ++counts_.datagrams_sent;
  counts_.wire_bytes_sent += frame_bytes + settings_.uplink.overhead_bytes;
}

void Transport::depart(std::int64_t now_ns) noexcept {
  std::size_t count = datagrams_->waiting();
  if (uplink_.limits()) {
    count = 0;
    for (; !departures_ns_.empty(); ++count) {
      if (departures_ns_.front() > static_cast<std::uint64_t>(now_ns)) break;
      departures_ns_.pop();
    }
  }
  if (count > 0) datagrams_->flush(count, [this](std::uint32_t, int) { ++counts_.refused; });
}

std::int64_t Transport::next_due_ns() const noexcept {
  std::int64_t due_ns = next_tick_ns_;
  if (!departures_ns_.empty())
    due_ns = std::min(due_ns, static_cast<std::int64_t>(departures_ns_.front()));
  if (is_blocked_ && !datagrams_->full())
    due_ns = std::min(due_ns, static_cast<std::int64_t>(uplink_.free_at_ns()) - settings_.ahead_ns);
  return due_ns;
}

}  // namespace turntable::homa
