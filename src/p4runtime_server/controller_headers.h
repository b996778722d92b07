// The headers between a program and its control plane (P4's @controller_header): bits in front of a
// frame at the CPU port, metadata in P4Runtime's messages.
#pragma once

#include <string>
#include <string_view>

#include "p4/v1/p4runtime.pb.h"
#include "p4runtime_server/program_info.h"

namespace turntable::p4runtime_server {

// The frame for the CPU port. Throws Refusal INVALID_ARGUMENT where the metadata is not, each once,
// that of "packet_out" in P4Info. Without such a header there is none.
std::string frame_of(const config::P4Info& info, const p4::v1::PacketOut& packet);

// The message for a frame of the CPU port. Throws Refusal INVALID_ARGUMENT where the frame is
// shorter than "packet_in".
p4::v1::PacketIn packet_of(const config::P4Info& info, std::string_view frame);

}  // namespace turntable::p4runtime_server
