// FarReach's server: it gets what the switch cannot answer, and tells which keys are hot.
#pragma once

#include "farreach/kv/cached_keys.h"
#include "farreach/kv/numbered_handler.h"

namespace turntable::kv {

class FarReachHandler final : public NumberedHandler {
 public:
  // `records` and `keys` must outlive this object.
  FarReachHandler(RecordStore& records, CachedKeys& keys, unsigned partition, unsigned scale,
                  StoreErrors on_store_error);

  Outcome execute(const Packet& request, const sockaddr_in& client, Packet& answer) override;
  nlohmann::json method_statistics() const override;

 protected:
  RequestKind kind_of(PacketType type) const noexcept override;

 private:
  CachedKeys& keys_;
  Counter hot_requests_;
};

}  // namespace turntable::kv
