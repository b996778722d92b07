// A packet's trace for people: one block of lines per packet.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace turntable::dataplane {

// `trace` is what PacketTracer gives its sink. Ends with an empty line.
std::string trace_text(const nlohmann::ordered_json& trace);

}  // namespace turntable::dataplane
