// A logical server that serves until it is destroyed; each mode of rpcserver is one.
#pragma once

#include <cstdint>
#include <memory>

#include "net/datagrams.h"
#include "netclone/distribution.h"
#include "netclone/server/statistics.h"

namespace turntable::netclone {

struct ServerSettings {
  std::uint32_t index = 0;  // of the server
  std::uint32_t workers = 8;
  std::uint64_t seed = 0;
  double dilation = 1;
  ServiceTimes service;
  bool drop_clones = false;

  std::int64_t service_ns(const Packet& request) const noexcept {
    return service.service_ns(seed, request.request, request.copy(), request.operation, dilation);
  }
};

class Server {
 public:
  virtual ~Server() = default;

  // Thread-safe. The window begins later.
  virtual void set_window(const ServerWindow& window) = 0;
  virtual ServerStatistics statistics() = 0;
};

// The answer to `request`, which is changed to it.
inline void make_answer(Packet& request, std::uint32_t server, std::uint32_t queue,
                        bool arrived_at_all_busy) noexcept {
  request.op = Op::kResponse;
  request.server = server;
  request.queue = queue;
  request.flags = arrived_at_all_busy ? kArrivedAtAllBusy : std::uint8_t{0};
}

}  // namespace turntable::netclone
