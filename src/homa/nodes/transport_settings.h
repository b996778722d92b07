// What a node is told of its transport: the argument `transport` of `prepare` (docs/homa.md §8).
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "common/link_clock.h"
#include "homa/nodes/peers.h"
#include "homa/nodes/transport.h"
#include "homa/settings.h"
#include "net/datagrams.h"

namespace turntable::homa {

// Homa and Basic.
struct HomaSettings {
  Settings protocol;
  Link uplink;                // no rate: packets leave when they can
  std::int64_t ahead_ns = 0;  // of the uplink, handed over before it is free
  std::int64_t tick_ns = 2'000'000;
};

struct TcpSettings {
  std::uint32_t connections = 1;  // of each pair of a client and a server
  std::uint32_t max_message_bytes = Settings{}.max_message_bytes;
  Link uplink;                     // no rate: the interface is left as it is
  std::uint32_t buffer_bytes = 0;  // of a socket, for each direction; 0: as the system likes
};

using TransportSettings = std::variant<HomaSettings, TcpSettings>;

// Throws bad_argument. `where` begins messages.
TransportSettings transport_argument(const std::string& where, const nlohmann::json& args);

std::uint32_t max_message_bytes(const TransportSettings& settings) noexcept;

enum class Role : std::uint8_t { kClient, kServer };

// `local` is where the node's address is. `client`: of a client's endpoint; no two nodes have the
// same. Peers and application must outlive it. Throws CommandError.
std::unique_ptr<Transport> open_transport(const TransportSettings& settings, Role role,
                                          const net::DatagramSettings& local, std::uint64_t client,
                                          const Peers& peers, Application& application);

}  // namespace turntable::homa
