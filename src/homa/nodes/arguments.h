// What the commands of clients and servers have in common.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "homa/nodes/peers.h"
#include "node/arguments.h"

namespace turntable::homa {

// A list of {"address", "port"}. Throws bad_argument, also for one that is there twice.
Peers peers_argument(const std::string& where, const node::Arguments& arguments, const char* name);

// Room for every datagram of this transport.
inline constexpr std::size_t kMaxDatagramBytes = 9000;
// Of a burst; more than any uplink has on its way.
inline constexpr std::size_t kQueuedDatagrams = 1024;

}  // namespace turntable::homa
