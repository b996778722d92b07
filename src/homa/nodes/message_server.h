// A server that sends every message back, on a thread of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "common/schedstat.h"
#include "common/unique_fd.h"
#include "homa/nodes/transport_settings.h"

namespace turntable::homa {

struct ServerStatistics {
  nlohmann::json transport;
  std::uint64_t echoed_bytes = 0;
  std::uint32_t socket_drops = 0;
  std::optional<std::int64_t> read_late_max_ns;  // a packet lay in the socket so long, if known
  std::optional<SchedulingTimes> scheduling;     // of the thread, since the window began
};

class MessageServer final : private Application {
 public:
  struct Settings {
    TransportSettings transport;
    std::uint32_t response_bytes = 0;  // 0: as many as the request has
    bool realtime = false;
  };

  // `peers`: the clients; `local`: where it is served. Throws CommandError.
  MessageServer(const Settings& settings, Peers peers, const net::DatagramSettings& local);
  ~MessageServer() override;

  // Lateness, processor time and echoed bytes count from now on. Thread-safe.
  void begin_window();
  ServerStatistics statistics();  // thread-safe

 private:
  void request(RpcId id, Peer client, Content content) override;
  void response(std::uint64_t, Content) override {}  // a server calls nobody
  void aborted(std::uint64_t, AbortReason) override {}

  void run();
  void serve();
  void wait() noexcept;

  const Settings settings_;
  const Peers peers_;
  UniqueFd wake_event_;
  std::atomic<bool> stopping_{false};

  std::mutex mutex_;  // of all below, while the thread is awake
  const std::unique_ptr<Transport> transport_;
  std::uint64_t echoed_bytes_ = 0;
  std::int64_t read_late_max_ns_ = 0;
  std::optional<SchedulingTimes> scheduling_before_;
  pid_t thread_id_ = 0;

  std::thread thread_;  // last
};

}  // namespace turntable::homa
