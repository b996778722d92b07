#include "netclone/server/slot_server.h"

#include "common/clock.h"
#include "common/data_path_thread.h"

namespace turntable::netclone {

SlotServer::SlotServer(const ServerSettings& settings, std::unique_ptr<net::Datagrams> datagrams)
    : ServerThread(settings, std::move(datagrams)), slots_(settings.workers, settings.drop_clones) {
  begin();
}

// The thread stands for a machine of its own, and must not wait for other threads of this one.
void SlotServer::settle() {
  counts().realtime = use_realtime_priority();
}

void SlotServer::admit(const Packet& packet, const sockaddr_in& from, std::int64_t arrival_ns,
                       std::int64_t now_ns) {
  const std::uint32_t queue = slots_.queue();
  const auto admission = slots_.arrive({.packet = packet,
                                        .from = from,
                                        .arrival_ns = arrival_ns,
                                        .service_ns = settings().service_ns(packet)},
                                       now_ns);
  counts().count_arrival(window(), packet, arrival_ns, queue,
                         admission == Slots::Admission::kDropped);
}

void SlotServer::complete_until(std::int64_t until_ns) {
  while (slots_.next_due_ns() <= until_ns) {
    const std::int64_t now = monotonic_ns();
    answer(slots_.complete(now), now);
  }
}

}  // namespace turntable::netclone
