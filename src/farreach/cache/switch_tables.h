// Table updates by which the agent tells the data plane its settings; names are those of
// p4/shared/cache.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "farreach/cache/driver.h"

namespace turntable::cache {

struct Client {
  std::string address;  // on the data network
  std::uint16_t port;   // of the switch
};

// $mirror.cfg: one session for the CPU port, one for each client's port.
Driver::Json mirror_sessions(const std::vector<Client>& clients, std::uint16_t cpu_port);
// client_session and control_port: whose answers go where, and who is the agent.
Driver::Json ports_of(const std::vector<Client>& clients, std::uint16_t cpu_port);
Driver::Json hot_threshold(std::uint16_t threshold);
Driver::Json sampling(double probability);

// The registers of hot-key detection, which are cleared periodically.
std::vector<std::string> periodic_registers(bool write_back);

}  // namespace turntable::cache
