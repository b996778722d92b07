// What a logical server does with a request: the part of a server that differs between methods.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "kv/counter.h"
#include "kv/packet.h"
#include "kv/store.h"

namespace turntable::kv {

struct HandlerCounters {
  Counter reads;
  Counter writes;
  Counter deletes;
  Counter not_found;     // reads of absent keys
  Counter misrouted;     // keys of another partition: not executed, not answered
  Counter store_errors;  // not answered: clients see a time-out and retry
};

// NoCache: executes GETREQ, PUTREQ and DELREQ on the store and answers GETRES, PUTRES and DELRES.
class RequestHandler {
 public:
  // `on_store_error` is called on the worker's thread with RocksDB's message.
  RequestHandler(Store& store, unsigned partition, unsigned scale,
                 std::function<void(const std::string&)> on_store_error);

  // Whether `type` is a request that this handler executes.
  static bool accepts(PacketType type) noexcept;

  // Whether the key of `request` belongs here; counts it if not.
  bool owns(const Packet& request) noexcept;

  // Executes `request` (accepted and owned) and writes the answer to `out`. Answers its size, 0 for
  // none.
  std::size_t execute(const Packet& request, std::span<std::uint8_t> out);

  const HandlerCounters& counters() const { return counters_; }

 private:
  Store::Result run(const Packet& request, Packet& response);

  Store& store_;
  unsigned partition_;
  unsigned scale_;
  std::function<void(const std::string&)> on_store_error_;
  HandlerCounters counters_;
};

}  // namespace turntable::kv
