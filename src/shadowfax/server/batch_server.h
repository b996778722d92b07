// One session of a client at a server: batches in, replies out. No sockets: it is given bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "hybridlog/store.h"
#include "shadowfax/wire.h"

namespace turntable::shadowfax {

// A batch means nothing. The connection cannot go on.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class BatchServer {
 public:
  using Bytes = std::vector<std::byte>;

  // most_pending: more requests that wait make it refuse batches.
  BatchServer(hybridlog::Store& store, hybridlog::Epoch::Thread& thread, std::size_t most_pending);

  // Serves a batch, or refuses it, and appends the reply to `out`. view: the server's.
  // Throws ProtocolError for bytes that are no requests; nothing of the batch was served then.
  void serve(const RequestHeader& header, std::span<const std::byte> requests, std::uint64_t view,
             Bytes& out);

  // Goes on with what is pending, and appends results, if there are any, as a batch of their own.
  void go_on(std::uint64_t view, Bytes& out);

  std::size_t pending() const noexcept { return session_.pending(); }
  // The number of the last request.
  std::uint64_t served() const noexcept { return session_.serial(); }

 private:
  void require_requests(std::span<const std::byte> requests) const;
  Reply serve(const Request& request);
  void append_results(Bytes& out);
  // Writes the header of the replies behind `begin`.
  static void finish(Bytes& out, std::size_t begin, ReplyHeader header);

  hybridlog::Session session_;
  const std::size_t most_pending_;
};

}  // namespace turntable::shadowfax
