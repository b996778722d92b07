#include "homa/nodes/transport_settings.h"

#include <algorithm>
#include <vector>

#include "homa/nodes/homa_transport.h"
#include "homa/nodes/shaped_uplink.h"
#include "homa/nodes/tcp_transport.h"
#include "node/arguments.h"

namespace turntable::homa {
namespace {

using Json = nlohmann::json;
using node::Arguments;

constexpr std::int64_t kMaxBitsPerS = 1'000'000'000'000;
constexpr std::int64_t kMaxMessageBytes = 1 << 28;
constexpr std::int64_t kMaxConnections = 1000;
constexpr std::int64_t kMaxBufferBytes = 1 << 30;

std::uint32_t natural(const Arguments& arguments, const char* name, std::int64_t least,
                      std::int64_t most, std::int64_t otherwise) {
  return static_cast<std::uint32_t>(arguments.integer_or(name, least, most, otherwise));
}

std::uint32_t max_message_argument(const Arguments& arguments) {
  return natural(arguments, "max_message_bytes", 1, kMaxMessageBytes, Settings{}.max_message_bytes);
}

Link uplink_argument(const Arguments& arguments) {
  Link uplink;
  uplink.bits_per_s =
      static_cast<std::uint64_t>(arguments.integer_or("link_bps", 1000, kMaxBitsPerS, 0));
  uplink.overhead_bytes = natural(arguments, "link_overhead_bytes", 0, 1000, uplink.overhead_bytes);
  return uplink;
}

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

// At least the time of two full packets.
std::int64_t ahead_ns(std::int64_t asked_ns, const Link& uplink, std::uint32_t payload_bytes) {
  if (uplink.bits_per_s == 0) return asked_ns;
  const std::uint32_t packet_bytes =
      payload_bytes + std::uint32_t{kDataHeaderBytes} + kHeadersBelow + uplink.overhead_bytes;
  const double bits = 2.0 * 8 * packet_bytes;
  const auto two_packets =
      static_cast<std::int64_t>(bits * 1e9 / static_cast<double>(uplink.bits_per_s));
  return std::max(asked_ns, two_packets);
}

HomaSettings homa_settings(const std::string& where, const Json& args, bool is_basic) {
  const Arguments arguments(where, args,
                            {"kind", "payload_bytes", "rtt_bytes", "levels", "unscheduled_levels",
                             "cutoffs", "degree", "at_most_once", "max_message_bytes", "tick_ms",
                             "link_bps", "link_overhead_bytes", "queue_ahead_us"});
  HomaSettings settings;
  Settings& protocol = settings.protocol;
  protocol.payload_bytes = natural(arguments, "payload_bytes", 64, 8900, protocol.payload_bytes);
  protocol.rtt_bytes =
      natural(arguments, "rtt_bytes", 1, 1 << 30, std::int64_t{7} * protocol.payload_bytes);
  protocol.levels = natural(arguments, "levels", 1, 8, is_basic ? 1 : protocol.levels);
  protocol.unscheduled_levels = natural(arguments, "unscheduled_levels", 1, 8, 1);
  protocol.cutoffs = cutoffs_of(args, arguments);
  protocol.degree = natural(arguments, "degree", 1, 1000, protocol.degree);
  protocol.at_most_once = args.contains("at_most_once") && arguments.boolean("at_most_once");
  protocol.max_message_bytes = max_message_argument(arguments);
  protocol.independent_grants = is_basic;
  check(protocol);

  const auto number = [&](const char* name, double least, double most, double otherwise) {
    return args.contains(name) ? arguments.number(name, least, most) : otherwise;
  };
  settings.tick_ns = static_cast<std::int64_t>(number("tick_ms", 0.01, 1e5, 2) * 1e6);
  settings.uplink = uplink_argument(arguments);
  const auto asked_ns = static_cast<std::int64_t>(number("queue_ahead_us", 0, 1e6, 2) * 1e3);
  settings.ahead_ns = ahead_ns(asked_ns, settings.uplink, protocol.payload_bytes);
  return settings;
}

TcpSettings tcp_settings(const std::string& where, const Json& args) {
  const Arguments arguments(where, args,
                            {"kind", "connections", "max_message_bytes", "link_bps",
                             "link_overhead_bytes", "buffer_bytes"});
  return {.connections = natural(arguments, "connections", 1, kMaxConnections, 1),
          .max_message_bytes = max_message_argument(arguments),
          .uplink = uplink_argument(arguments),
          .buffer_bytes = natural(arguments, "buffer_bytes", 1, kMaxBufferBytes, 0)};
}

}  // namespace

TransportSettings transport_argument(const std::string& where, const Json& args) {
  const std::string here = where + ", transport";
  const Json only_kind = args.contains("kind") ? Json{{"kind", args["kind"]}} : Json::object();
  const Arguments arguments(here, only_kind, {"kind"});
  const std::string kind = arguments.text("kind");
  if (kind == "tcp") return tcp_settings(here, args);
  if (kind == "homa" || kind == "basic") return homa_settings(here, args, kind == "basic");
  arguments.fail("kind", kind, "homa, basic or tcp");
}

std::uint32_t max_message_bytes(const TransportSettings& settings) noexcept {
  if (const auto* tcp = std::get_if<TcpSettings>(&settings)) return tcp->max_message_bytes;
  return std::get<HomaSettings>(settings).protocol.max_message_bytes;
}

std::unique_ptr<Transport> open_transport(const TransportSettings& settings, Role role,
                                          const net::DatagramSettings& local, std::uint64_t client,
                                          const Peers& peers, Application& application) {
  remove_leftover_shaping(local.local);
  if (const auto* tcp = std::get_if<TcpSettings>(&settings))
    return std::make_unique<TcpTransport>(*tcp, role, local.local, peers, application);
  return std::make_unique<HomaTransport>(std::get<HomaSettings>(settings), client, peers,
                                         application, net::open_datagrams(local));
}

}  // namespace turntable::homa
