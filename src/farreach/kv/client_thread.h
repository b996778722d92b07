// One thread of kvclient: a share of the machine's logical clients on one socket.
//
// Requests and answers travel in batches, and the clock is read once per batch of datagrams.
//
//   start            window_from       window_until       drain_until
//   |--- warm-up ----|--- measuring ---|----- drain ------|
//    not counted      counted           nothing is sent
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/unique_fd.h"
#include "farreach/kv/client_statistics.h"
#include "farreach/kv/closed_loops.h"
#include "farreach/kv/reassembly.h"
#include "farreach/kv/replay.h"
#include "net/udp.h"

namespace turntable::kv {

// CLOCK_MONOTONIC, in this order.
struct Schedule {
  std::int64_t start_ns = 0;
  std::int64_t window_from_ns = 0;
  std::int64_t window_until_ns = 0;
  std::int64_t drain_until_ns = 0;
};

class ClientThread final : private RequestSink {
 public:
  static constexpr std::size_t kMaxClients = ClosedLoops::kMaxClients;
  using Settings = ClosedLoops::Settings;

  // `socket` is connected to where requests go. `replay` must outlive this object.
  ClientThread(const Settings& settings, const Replay& replay, UniqueFd socket);

  // Before run(): allocates what the schedule needs.
  void set_schedule(const Schedule& schedule);

  // Plays one iteration, until all clients have drained or stop(). Once.
  void run();
  void stop() noexcept;  // thread-safe

  // Returns once run() has handled all answers that had reached the socket before, or does not run.
  // For one other thread at a time.
  void read_waiting() noexcept;

  // Thread-safe.
  std::int64_t answers() const noexcept { return loops_.answers(); }
  std::uint32_t drops() const { return net::socket_drops(socket_.get()); }
  std::size_t buffer_bytes() const { return net::receive_buffer_bytes(socket_.get()); }

  // Thread-safe.
  ClientCopies& copies() noexcept { return loops_.copies(); }

  // After run().
  const ClientStatistics& statistics() const { return loops_.statistics(); }
  const ThreadTiming& timing() const { return timing_; }

 private:
  static constexpr std::uint64_t kNotReading = UINT64_MAX;

  bool stopping() const noexcept { return stopping_.load(std::memory_order_relaxed); }
  bool finished() const noexcept;
  void note_lateness() noexcept;
  void advance_phase(std::int64_t now_ns);
  void enter(Phase phase) noexcept;
  std::int64_t next_event_ns() const noexcept;
  void wait_until(std::int64_t at_ns, bool for_answers) noexcept;

  void send(const ClientRequest& request) noexcept override;
  void send_fragments(const Packet& whole, std::uint32_t running) noexcept;
  void flush() noexcept;
  void handle(const net::ReceiveBatch::Datagram& datagram, std::int64_t now_ns) noexcept;
  void note_reads(std::uint64_t done) noexcept;

  UniqueFd socket_;
  UniqueFd wake_event_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> reads_asked_{0};
  std::atomic<std::uint64_t> reads_done_{kNotReading};  // of those asked

  Schedule schedule_{};
  Phase phase_ = Phase::kWarmUp;
  std::int64_t window_opened_ns_ = 0;
  std::optional<SchedulingTimes> scheduling_before_;  // when the window opened
  ClosedLoops loops_;
  std::vector<std::uint8_t> value_;  // what is being sent
  net::ReceiveBatch received_;
  Reassembly large_answers_;
  net::SendBatch sending_;
  ThreadTiming timing_;
};

}  // namespace turntable::kv
