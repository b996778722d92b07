// Sessions with the servers that the settings name, in the protocol that they speak.
#pragma once

#include <cstddef>
#include <memory>

#include "shadowfax/client/load_settings.h"
#include "shadowfax/client/sessions.h"

namespace turntable::shadowfax {

// Of a client's thread of this number. Throws SessionError.
std::unique_ptr<Sessions> open_sessions(const Servers& servers, const Batching& batching,
                                        std::size_t thread);

}  // namespace turntable::shadowfax
