// Mode `slots`, and `redis` with dilation: one thread plays W workers. It sleeps while they are at
// work.
#pragma once

#include "netclone/server/redis_executor.h"
#include "netclone/server/server_thread.h"

namespace turntable::netclone {

class SlotServer final : public ServerThread {
 public:
  // redis: executes every request that is served, for its result; null: there is nothing to
  // execute.
  SlotServer(const ServerSettings& settings, std::unique_ptr<net::Datagrams> datagrams,
             std::unique_ptr<RedisExecutor> redis = nullptr);
  ~SlotServer() override { end(); }

 private:
  void settle() override;
  void admit(const Packet& packet, const sockaddr_in& from, std::int64_t arrival_ns,
             std::int64_t now_ns) override;
  void complete_until(std::int64_t until_ns) override;
  std::int64_t next_due_ns() const noexcept override { return slots_.next_due_ns(); }
  std::uint32_t queue() override { return slots_.queue(); }
  bool all_busy() override { return slots_.busy() == settings().workers; }
  void add_statistics(ServerStatistics& statistics) override {
    statistics.lost_ns = slots_.lost_ns();
  }

  Slots slots_;
  const std::unique_ptr<RedisExecutor> redis_;
};

}  // namespace turntable::netclone
