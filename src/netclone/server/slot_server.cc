#include "netclone/server/slot_server.h"

#include "common/clock.h"
#include "common/data_path_thread.h"

namespace turntable::netclone {

SlotServer::SlotServer(const ServerSettings& settings, std::unique_ptr<net::Datagrams> datagrams,
                       std::unique_ptr<RedisExecutor> redis)
    : ServerThread(settings, std::move(datagrams)),
      slots_(settings.workers, settings.drop_clones),
      redis_(std::move(redis)) {
  begin();
}

// The thread stands for a machine of its own, and must not wait for other threads of this one.
void SlotServer::settle() {
  counts().realtime = use_realtime_priority();
}

void SlotServer::admit(const Packet& packet, const sockaddr_in& from, std::int64_t arrival_ns,
                       std::int64_t now_ns) {
  if (redis_ && !redis_->accepts(packet)) {
    ++counts().malformed;
    return;
  }
  const std::uint32_t queue = slots_.queue();
  const bool dropped = slots_.drops(packet);
  if (!dropped) {
    slots_.arrive({.packet = packet,
                   .from = from,
                   .arrival_ns = arrival_ns,
                   .service_ns = settings().service_ns(packet),
                   .ticket = redis_ ? redis_->begin(packet) : 0},
                  now_ns);
  }
  counts().count_arrival(window(), packet, arrival_ns, queue, dropped);
}

void SlotServer::complete_until(std::int64_t until_ns) {
  while (slots_.next_due_ns() <= until_ns) {
    const auto completion = slots_.complete(monotonic_ns());
    if (redis_) redis_->finish(completion.job.ticket);
    answer(completion, monotonic_ns());
  }
}

}  // namespace turntable::netclone
