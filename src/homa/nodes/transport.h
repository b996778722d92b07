// How messages get from a client's node to a server's and back: what both loops ask of it. Homa and
// Basic are behind it (homa_transport.h), and TCP (tcp_transport.h).
//
// One thread drives it. All instants are CLOCK_MONOTONIC, unless another clock is named.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "homa/endpoint.h"

namespace turntable::homa {

class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  // Of a client. The application is told its response, or that it was aborted.
  virtual void call(Peer server, Content request, std::uint64_t tag) = 0;
  virtual std::size_t outstanding_calls() const noexcept = 0;
  // Of a server: the answer to a request that the application was given.
  virtual void reply(RpcId id, Content response) = 0;

  virtual int fd() const noexcept = 0;  // readable when receive() would find something
  // Looks for a batch without waiting: its size, 0, or -errno.
  virtual int receive() noexcept = 0;
  // When the first of the batch came, on CLOCK_REALTIME; nothing: not known.
  virtual std::optional<std::int64_t> first_came_ns() const noexcept = 0;
  // Handles the batch, and tells the application what it brought; now_ns() meanwhile is when that
  // came.
  virtual void handle_batch(std::int64_t now_ns) noexcept = 0;
  virtual std::int64_t now_ns() const noexcept = 0;

  // Sends what is due. What waits was there at `ready_ns`: an uplink that is looked at late sends
  // as one that is not.
  virtual void act(std::int64_t now_ns, std::int64_t ready_ns) noexcept = 0;
  // act() has something to do then; what comes is another matter. INT64_MAX: nothing.
  virtual std::int64_t next_due_ns() const noexcept = 0;

  virtual bool knows_arrivals() const noexcept = 0;  // first_came_ns() has stamps of the kernel
  virtual std::uint32_t socket_drops() const = 0;    // by the kernel, at its sockets
  virtual std::optional<std::size_t> receive_buffer_bytes() const = 0;  // nothing: it changes
  virtual nlohmann::json statistics() const = 0;  // docs/homa.md §8: `transport`
};

}  // namespace turntable::homa
