// Sockets to servers of stores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "common/unique_fd.h"
#include "shadowfax/client/sessions.h"

namespace turntable::shadowfax {

// With what the system says of its last call.
SessionError system_failure(const std::string& what);

// Sends at once, and waits for 5 s at most, here and in the two that follow. Throws SessionError.
UniqueFd connect_to(const std::string& address, std::uint16_t port);

// Waits. Throws SessionError.
void send_all(int socket, std::span<const std::byte> bytes);

// Waits until some have come: how many. Throws SessionError, also where the server has closed the
// connection.
std::size_t receive_in_time(int socket, std::span<std::byte> into);

// Does not wait. Returns how many bytes the kernel has taken; throws SessionError.
std::size_t send_now(int socket, std::span<const std::byte> bytes);

// Does not wait. Returns how many bytes have come, 0 for none; throws SessionError, also where the
// server has closed the session.
std::size_t receive_now(int socket, std::span<std::byte> into);

}  // namespace turntable::shadowfax
