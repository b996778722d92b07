// Mode `slots`: one thread plays W workers. It sleeps while they are at work.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "common/schedstat.h"
#include "common/unique_fd.h"
#include "netclone/server/server.h"
#include "netclone/server/slots.h"

namespace turntable::netclone {

class SlotServer final : public Server {
 public:
  SlotServer(const ServerSettings& settings, std::unique_ptr<net::Datagrams> datagrams);
  ~SlotServer() override;

  void set_window(const ServerWindow& window) override;
  ServerStatistics statistics() override;

 private:
  void run();
  void serve();
  bool receive();
  void handle(const net::Datagrams::Received& datagram, std::int64_t now_ns);
  void admit(const Packet& packet, const sockaddr_in& from, std::int64_t arrival_ns,
             std::int64_t now_ns);
  void answer_probe(Packet& packet, const sockaddr_in& from);
  void complete_until(std::int64_t until_ns);
  void answer(const Packet& packet, const sockaddr_in& to);
  void flush() noexcept;
  void note_window(std::int64_t now_ns);
  void wait() noexcept;

  const ServerSettings settings_;
  const std::unique_ptr<net::Datagrams> datagrams_;
  UniqueFd wake_event_;
  std::atomic<bool> stopping_{false};

  std::mutex mutex_;  // held by the thread while it does not wait; of all below
  ServerWindow window_;
  ServerStatistics statistics_;
  Slots slots_;
  std::int64_t to_monotonic_ns_ = 0;                  // from CLOCK_REALTIME
  std::optional<SchedulingTimes> scheduling_before_;  // when the window opened
  bool window_opened_ = false;
  bool window_closed_ = false;

  std::thread thread_;  // last: it uses all others
};

}  // namespace turntable::netclone
