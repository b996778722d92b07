// NetCache's server: writes of cached keys go through to it, and it brings the switch up to date.
#pragma once

#include "farreach/kv/cached_keys.h"
#include "farreach/kv/numbered_handler.h"
#include "farreach/kv/value_updates.h"

namespace turntable::kv {

class NetCacheHandler final : public NumberedHandler, private BackgroundWork {
 public:
  // All must outlive this object.
  NetCacheHandler(RecordStore& records, ValueUpdates& updates, CachedKeys& keys, unsigned partition,
                  unsigned scale, StoreErrors on_store_error);

  Outcome execute(const Packet& request, const sockaddr_in& client, Packet& answer) override;
  BackgroundWork* background() noexcept override { return this; }
  nlohmann::json method_statistics() const override;

 protected:
  RequestKind kind_of(PacketType type) const noexcept override;

 private:
  int event_fd() const noexcept override { return events_.get(); }
  std::int64_t next_ns() const noexcept override { return updates_.next_ns(); }
  void run(std::int64_t now_ns) noexcept override;
  std::int64_t free_since_ns() const noexcept override { return free_since_ns_; }
  void finished(std::int64_t finish_ns) noexcept override { updates_.finished(finish_ns); }

  ValueUpdates& updates_;
  CachedKeys& keys_;
  UniqueFd events_;  // epoll: acknowledgements, and changes of keys_
  bool waited_for_key_ = false;
  std::int64_t free_since_ns_ = 0;
};

}  // namespace turntable::kv
