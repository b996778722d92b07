// A client in an open loop: calls arrive whether others are answered or not. With too many under
// way the next ones wait, and their wait counts (homa reference §7).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/ring.h"
#include "homa/message_sizes.h"
#include "homa/nodes/call_statistics.h"
#include "homa/nodes/contents.h"
#include "homa/nodes/transport_settings.h"
#include "homa/traffic.h"
#include "load/client_life.h"
#include "load/thread_frame.h"

namespace turntable::homa {

struct ClientSettings {
  TransportSettings transport;
  MessageSizes sizes = MessageSizes::fixed(100);
  Process process = Process::kExponential;
  double calls_per_s = 0;
  std::uint32_t client = 0;  // of all clients: its draws are its own
  std::uint64_t seed = 1;
  unsigned outstanding = 50;
  std::uint32_t fan_out = 1;         // calls that arrive at the same instant
  std::uint32_t response_bytes = 0;  // 0: as many as the request has
  IdleRoundTrips idle;               // none: no slowdowns
  load::ThreadFrame::Settings frame;
};

class MessageClient final : public load::Part, private load::Loop, private Application {
 public:
  // `peers`: the servers; `local`: where its own address is. Throws CommandError.
  MessageClient(ClientSettings settings, Peers peers, const net::DatagramSettings& local);

  // Round trips of `calls` calls, one after the other, with all servers in turn; fewer, but three,
  // where they take `each_ns` together. Before the schedule runs. Throws CommandError at the
  // deadline, or for an answer that is wrong.
  struct RoundTrips {
    std::size_t calls = 0;
    std::int64_t min_ns = 0;
    std::int64_t mean_ns = 0;
    std::int64_t median_ns = 0;
    std::int64_t p90_ns = 0;
    std::int64_t p99_ns = 0;
    std::int64_t p999_ns = 0;
  };
  RoundTrips measure_idle(std::uint32_t bytes, unsigned calls, std::int64_t each_ns,
                          std::int64_t deadline_ns);

  void set_schedule(const load::Schedule& schedule) override;
  void run() override;
  void stop() noexcept override { frame_.stop(); }

  const ClientSettings& settings() const noexcept { return settings_; }

  // Seconds of the window that are over: nothing in them changes any more. Thread-safe after
  // set_schedule().
  std::span<const CallStatistics::Second> seconds_over() const noexcept {
    return {statistics_.seconds.data(), seconds_over_.load(std::memory_order_acquire)};
  }

  // After run().
  const CallStatistics& statistics() const noexcept { return statistics_; }
  const Transport& transport() const noexcept { return *transport_; }
  const load::ThreadTiming& timing() const noexcept { return frame_.timing(); }
  // An answer lay in the socket so long. Nothing: the transport does not know when it came.
  std::optional<std::int64_t> read_late_max_ns() const noexcept;

 private:
  struct Call {
    std::int64_t at_ns = 0;
    std::uint64_t number = 0;
    std::uint32_t bytes = 0;
    std::uint32_t percentile = 0;
    std::uint32_t server = 0;
    bool counts = false;
  };

  int fd() const noexcept override { return transport_->fd(); }
  void begin(std::int64_t now_ns) noexcept override;
  void enter(load::Phase phase) noexcept override;
  int receive() noexcept override { return transport_->receive(); }
  std::optional<std::int64_t> oldest_arrival_ns() const noexcept override;
  void handle_batch(std::int64_t now_ns) noexcept override { transport_->handle_batch(now_ns); }
  void act(std::int64_t now_ns) noexcept override;
  std::int64_t next_due_ns() const noexcept override;
  std::size_t outstanding() const noexcept override { return statistics_.open; }
  void count_receive_error() noexcept override {}  // the transport has

  void request(RpcId, Peer, Content) override {}  // nobody calls a client
  void response(std::uint64_t tag, Content content) override;
  void aborted(std::uint64_t tag, AbortReason reason) override;

  void arrive(const Arrival& arrival, std::int64_t at_ns, std::int64_t now_ns);
  void call(const Call& call);
  Call end(std::uint64_t tag);
  void count_answer(const Call& call, std::int64_t came_ns);
  CallStatistics::Second* second_of(std::int64_t at_ns);
  std::int64_t second_ends_ns() const noexcept;  // the one that runs
  void end_seconds(std::int64_t now_ns) noexcept;
  void summarize_second(CallStatistics::Second& second) noexcept;
  bool is_right(const Call& call, const Content& content) const;
  std::int64_t next_arrival_ns() const noexcept;

  const ClientSettings settings_;
  const Peers peers_;
  const Contents contents_;
  const std::unique_ptr<Transport> transport_;
  Traffic traffic_;
  Arrival next_{};
  bool arrivals_are_over_ = false;
  std::vector<Call> calls_;  // by tag
  std::vector<std::uint64_t> free_tags_;
  Ring<Call> waiting_;
  std::uint64_t number_ = 0;
  std::uint64_t answers_ = 0;
  load::Schedule schedule_{};
  CallStatistics statistics_;
  stats::Histogram second_rtt_ns_;  // of the second that runs
  std::atomic<std::size_t> seconds_over_{0};
  load::ThreadFrame frame_;
};

}  // namespace turntable::homa
