// Which operation the requests of an open loop are: the traces of its logical clients, one
// operation of each in turn, as often as they are needed.
//
// Of a recorded trace, whose operations are all clients' together, each takes those of its turns.
//
// The instants of an open loop know nothing of the traces, and the traces nothing of the instants.
// So a Poisson process stays one whatever is taken out of it: where each operation falls onto a
// partition by itself, the requests of every partition are a Poisson process too
// (docs/farreach.md, Latency at target throughputs).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "farreach/kv/replay.h"

namespace turntable::kv {

class OpenOrder {
 public:
  struct Settings {
    std::size_t first_client;  // of this thread, in `replay`
    std::size_t clients;
    std::uint32_t first_global_client;  // number of client 0 of `replay` in the whole run
  };
  struct Request {
    ReplayOperation operation;
    std::uint64_t version;  // of the value that a PUT writes: the request's own
  };

  // `replay` must outlive this object.
  OpenOrder(const Settings& settings, const Replay& replay);

  bool empty() const noexcept { return clients_.empty(); }  // no operations: nothing to send
  // Not if empty().
  Request at(std::uint64_t number) const noexcept;

 private:
  struct Client {
    std::span<const ReplayOperation> operations;
    std::size_t first;   // operation
    std::size_t stride;  // to the next one
    std::uint64_t versions;
  };

  std::vector<Client> clients_;  // those that have operations
};

}  // namespace turntable::kv
