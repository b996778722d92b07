// NoCache: the store alone answers, and nothing is numbered.
#pragma once

#include "farreach/kv/request_handler.h"
#include "farreach/kv/store.h"

namespace turntable::kv {

// Executes GETREQ, PUTREQ, DELREQ and PUTREQ_LARGEVALUE on plain values.
class NoCacheHandler final : public RequestHandler {
 public:
  // `store` must outlive this object.
  NoCacheHandler(Store& store, unsigned partition, unsigned scale, StoreErrors on_store_error);

  bool accepts(PacketType type) const noexcept override;
  Outcome execute(const Packet& request, const sockaddr_in& client, Packet& answer) override;

 private:
  Store::Result run(const Packet& request, Packet& answer);

  Store& store_;
};

}  // namespace turntable::kv
