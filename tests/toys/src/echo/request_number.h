// What a datagram of the echo carries.
#pragma once

#include <cstdint>

namespace turntable::echo {

using RequestNumber = std::uint64_t;  // in the client's byte order: the server sends it back as is

}  // namespace turntable::echo
