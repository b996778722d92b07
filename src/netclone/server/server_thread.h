// The thread of a logical server that reads requests and sends answers. How the work is done is a
// subclass's business: it is told of requests, and when to look for what is done.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "common/schedstat.h"
#include "common/unique_fd.h"
#include "netclone/server/server.h"

namespace turntable::netclone {

class ServerThread : public Server {
 public:
  ServerThread(const ServerSettings& settings, std::unique_ptr<net::Datagrams> datagrams);

  void set_window(const ServerWindow& window) override;
  ServerStatistics statistics() override;

 protected:
  // A subclass calls begin() when it is complete, and end() before its members go.
  void begin();
  void end() noexcept;

  // All on the thread, with the mutex held.
  virtual void settle() {}  // once, before all others
  virtual void admit(const Packet& packet, const sockaddr_in& from, std::int64_t arrival_ns,
                     std::int64_t now_ns) = 0;
  // Answers what was done until that instant.
  virtual void complete_until(std::int64_t until_ns) = 0;
  virtual std::int64_t next_due_ns() const noexcept { return INT64_MAX; }
  virtual std::uint32_t queue() = 0;
  virtual bool all_busy() = 0;
  virtual void add_statistics(ServerStatistics& /*statistics*/) {}

  void answer(const Slots::Completion& completion, std::int64_t done_ns);
  void wake() noexcept;                      // thread-safe
  void count_thread(pid_t thread) noexcept;  // its processor time is the server's too
  const ServerSettings& settings() const noexcept { return settings_; }
  ServerStatistics& counts() noexcept { return statistics_; }
  const ServerWindow& window() const noexcept { return window_; }

 private:
  void run();
  void serve();
  bool receive();
  void handle(const net::Datagrams::Received& datagram, std::int64_t now_ns);
  void answer_probe(Packet& packet, const sockaddr_in& from);
  void send(const Packet& packet, const sockaddr_in& to);
  void flush() noexcept;
  void note_window(std::int64_t now_ns);
  std::optional<SchedulingTimes> scheduling() const;
  void wait() noexcept;

  const ServerSettings settings_;
  const std::unique_ptr<net::Datagrams> datagrams_;
  UniqueFd wake_event_;
  std::atomic<bool> stopping_{false};

  std::mutex mutex_;  // held by the thread while it does not wait; of all below
  ServerWindow window_;
  ServerStatistics statistics_;
  std::vector<pid_t> threads_;
  std::int64_t to_monotonic_ns_ = 0;                  // from CLOCK_REALTIME
  std::optional<SchedulingTimes> scheduling_before_;  // when the window opened
  bool window_opened_ = false;
  bool window_closed_ = false;

  std::thread thread_;
};

}  // namespace turntable::netclone
