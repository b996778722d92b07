// One thread of kvclient: a share of the machine's logical clients on one socket.
//
// Each logical client is a closed loop: it sends the next operation of its trace when the one
// before has been answered. A request that is not answered in time is sent again under a new id, so
// that the late answer to the first is recognised (and counted) as stale. Latency is taken from the
// first sending of an operation, with the clock read once per batch of datagrams.
//
//   start            window_from       window_until       drain_until
//   |--- warm-up ----|--- measuring ---|----- drain ------|
//    not counted      counted           nothing is sent
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/unique_fd.h"
#include "kv/client_statistics.h"
#include "kv/counter.h"
#include "kv/packet.h"
#include "kv/replay.h"
#include "kv/timeout_queue.h"
#include "kv/udp.h"

namespace turntable::kv {

// CLOCK_MONOTONIC, in this order.
struct Schedule {
  std::int64_t start_ns = 0;
  std::int64_t window_from_ns = 0;
  std::int64_t window_until_ns = 0;
  std::int64_t drain_until_ns = 0;
};

class ClientThread {
 public:
  // A request id is (index of the client in its thread, sequence number of its sending).
  static constexpr unsigned kSequenceBits = 20;
  static constexpr std::size_t kMaxClients = std::size_t{1} << (32 - kSequenceBits);

  struct Settings {
    std::size_t first_client;           // of this thread, in `replay`
    std::size_t clients;                // at most kMaxClients
    std::uint32_t first_global_client;  // number of client 0 of `replay` in the whole run
    std::uint32_t value_bytes;
    std::int64_t timeout_ns;
  };

  // `socket` is connected to where requests go. `replay` must outlive this object.
  ClientThread(const Settings& settings, const Replay& replay, UniqueFd socket);

  // Before run(): allocates what the schedule needs.
  void set_schedule(const Schedule& schedule);

  // Plays one iteration, until all clients have drained or stop(). Once.
  void run();
  void stop() noexcept;  // thread-safe

  // Thread-safe.
  std::int64_t answers() const noexcept { return answers_.get(); }
  std::uint32_t drops() const { return socket_drops(socket_.get()); }
  std::size_t buffer_bytes() const { return receive_buffer_bytes(socket_.get()); }

  // After run().
  const ClientStatistics& statistics() const { return statistics_; }
  const ThreadTiming& timing() const { return timing_; }

 private:
  enum class Phase : std::uint8_t { kWarmUp, kMeasure, kDrain };

  struct Client {
    std::span<const ReplayOperation> operations;
    std::size_t next = 0;
    ReplayOperation current{};
    std::uint64_t version = 0;  // of the value that a PUT writes; counts the client's operations
    std::uint32_t sequence = 0;
    std::uint32_t request_id = 0;
    bool outstanding = false;
    bool timed = false;  // in the time-out queue
    std::int64_t first_sent_ns = 0;
    std::int64_t deadline_ns = 0;
  };

  bool stopping() const noexcept { return stopping_.load(std::memory_order_relaxed); }
  bool finished() const noexcept;
  void note_lateness() noexcept;
  void advance_phase(std::int64_t now_ns);
  std::int64_t next_event_ns() const noexcept;
  void wait_until(std::int64_t at_ns, bool for_answers) noexcept;

  void issue(std::uint32_t index, std::int64_t now_ns) noexcept;
  void send(std::uint32_t index, std::int64_t now_ns) noexcept;
  void retry_late(std::int64_t now_ns) noexcept;
  void flush() noexcept;

  void handle(const ReceiveBatch::Datagram& datagram, std::int64_t now_ns) noexcept;
  void ignore_stale(const Packet& answer) noexcept;
  void check_contents(const Packet& answer, const Client& client) noexcept;
  void record(const Packet& answer, const Client& client, std::int64_t now_ns) noexcept;

  Settings settings_;
  const Replay& replay_;
  UniqueFd socket_;
  UniqueFd stop_event_;
  std::atomic<bool> stopping_{false};
  Counter answers_;

  Schedule schedule_{};
  Phase phase_ = Phase::kWarmUp;
  std::int64_t window_opened_ns_ = 0;
  std::optional<SchedulingTimes> scheduling_before_;  // when the window opened
  std::vector<Client> clients_;
  TimeoutQueue waiting_;
  std::size_t outstanding_ = 0;
  ReceiveBatch received_;
  SendBatch sending_;
  ClientStatistics statistics_;
  ThreadTiming timing_;
};

}  // namespace turntable::kv
