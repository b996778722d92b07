#include "farreach/kv/netcache_handler.h"

#include <sys/epoll.h>

#include <nlohmann/json.hpp>

#include "common/clock.h"
#include "common/errno_error.h"

namespace turntable::kv {
namespace {

bool passed_as_cached(PacketType type) {
  return type == PacketType::kPutRequestSeqCached || type == PacketType::kDeleteRequestSeqCached ||
         type == PacketType::kLargePutRequestSeqCached;
}

void watch(int epoll, int fd) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) throw errno_error("cannot watch a file");
}

}  // namespace

NetCacheHandler::NetCacheHandler(RecordStore& records, ValueUpdates& updates, CachedKeys& keys,
                                 unsigned partition, unsigned scale, StoreErrors on_store_error)
    : NumberedHandler(records, partition, scale, std::move(on_store_error)),
      updates_(updates),
      keys_(keys),
      events_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!events_) throw errno_error("cannot create an epoll instance");
  watch(events_.get(), updates_.socket());
  watch(events_.get(), keys_.event_fd());
}

RequestKind NetCacheHandler::kind_of(PacketType type) const noexcept {
  switch (type) {
    case PacketType::kGetRequest:
      return RequestKind::kGet;
    case PacketType::kPutRequestSeq:
    case PacketType::kPutRequestSeqCached:
    case PacketType::kLargePutRequestSeq:
    case PacketType::kLargePutRequestSeqCached:
      return RequestKind::kPut;
    case PacketType::kDeleteRequestSeq:
    case PacketType::kDeleteRequestSeqCached:
      return RequestKind::kDelete;
    default:
      return RequestKind::kNone;
  }
}

NetCacheHandler::Outcome NetCacheHandler::execute(const Packet& request, const sockaddr_in& client,
                                                  Packet& answer) {
  const RequestKind kind = kind_of(request.type);
  if (kind == RequestKind::kGet) {
    free_since_ns_ = 0;
    return read(request, answer);
  }
  const workload::KeyId key = *workload::key_id_from_wire(request.key);
  const bool cached = passed_as_cached(request.type);
  if (updates_.pending(key)) return Outcome::kHeldBack;
  if (!keys_.enter(key, request.sequence, cached)) {
    waited_for_key_ = true;
    return Outcome::kHeldBack;
  }
  free_since_ns_ =
      std::exchange(waited_for_key_, false) ? monotonic_ns() : updates_.free_since_ns(key);
  bool newer = false;
  const Outcome outcome = write(request, kind == RequestKind::kDelete, answer, newer);
  keys_.leave();
  // The switch has no room for a large value: GETs of it go on to come here.
  if (cached && newer && outcome == Outcome::kAnswer && request.value.size() <= kMaxValueBytes) {
    Packet update = answer_to(request, PacketType::kValueUpdate);
    update.value = request.value;
    update.sequence = request.sequence;
    if (kind == RequestKind::kDelete) update.stat = kStatAbsent;
    updates_.add(key, update, client);
  }
  return outcome;
}

void NetCacheHandler::run(std::int64_t now_ns) noexcept {
  keys_.clear_event();
  updates_.run(now_ns);
}

nlohmann::json NetCacheHandler::method_statistics() const {
  const ValueUpdateCounters& updates = updates_.counters();
  nlohmann::json fields = NumberedHandler::method_statistics();
  fields["value_updates"] = {{"sent", updates.sent.get()},
                             {"acknowledged", updates.acknowledged.get()},
                             {"retries", updates.retries.get()},
                             {"unexpected", updates.unexpected.get()},
                             {"send_errors", updates.send_errors.get()},
                             {"round_trip_sum_ns", updates.round_trip_sum_ns.get()},
                             {"round_trip_max_ns", updates.round_trip_max_ns.get()}};
  return fields;
}

}  // namespace turntable::kv
