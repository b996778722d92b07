// The control plane of the packet generators: the commands pktgen_write and pktgen_read
// (docs/p4soft.md), about the tables port_cfg, app_cfg and pkt_buffer of BfRt's tf1.pktgen.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "dataplane/packet_generator.h"

namespace turntable::dataplane {

// A batch applies wholly or not at all. Throws CommandError.
nlohmann::json write_packet_generator(PacketGenerator& generator, const nlohmann::json& args,
                                      std::uint64_t now_ns);

nlohmann::json read_packet_generator(const PacketGenerator& generator, const nlohmann::json& args);

}  // namespace turntable::dataplane
