// A thread of the generator: connections, and a loop that says when requests leave.
//
// A request goes on the connection that was drawn for it; if that one's depth is used up, on the
// next that has room. When none has, the loop withholds requests. A connection that is closed takes
// its requests with it (they are lost, not repeated), and is opened again with growing pauses.
#pragma once

#include <sys/epoll.h>
#include <sys/resource.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "load/client_life.h"
#include "load/open_loop.h"
#include "load/saturated_loop.h"
#include "load/thread_frame.h"
#include "mcload/connection.h"
#include "mcload/draws.h"
#include "mcload/settings.h"
#include "mcload/statistics.h"
#include "stats/record_queue.h"

namespace turntable::mcload {

// What the thread offers whatever its loop is.
class ClientThread : public load::Part {
 public:
  // Opens the connections; throws CommandError. `where` begins the messages.
  static std::unique_ptr<ClientThread> make(const std::string& where,
                                            const GeneratorSettings& settings,
                                            std::uint32_t thread);

  // What set_schedule() has drawn, from this start on.
  virtual void start_at(std::int64_t start_ns) noexcept = 0;

  // After run().
  virtual load::OpenLoopStatistics loop_statistics() const = 0;
  virtual const load::ThreadTiming& timing() const noexcept = 0;
  const KeyValueStatistics& statistics() const noexcept { return statistics_; }

 protected:
  KeyValueStatistics statistics_;
};

template <typename RequestLoop>
class LoopThread final : public ClientThread, private load::Loop {
 public:
  LoopThread(const std::string& where, const GeneratorSettings& settings, std::uint32_t thread);

  void set_schedule(const load::Schedule& schedule) override;
  void start_at(std::int64_t start_ns) noexcept override;
  void run() override;
  void stop() noexcept override { frame_.stop(); }

  load::OpenLoopStatistics loop_statistics() const override;
  const load::ThreadTiming& timing() const noexcept override { return timing_; }

 private:
  static constexpr std::size_t kEvents = 64;
  static constexpr std::uint64_t kWake = UINT64_MAX;  // of epoll, which else answers indexes
  // Of a batch. Its parts begin at odd distances: at powers of two they would share the sets of a
  // processor's cache.
  static constexpr std::size_t kReadBytes = 1'000'000;
  static constexpr int kBatch = 32;  // requests that are written before they are sent

  int fd() const noexcept override { return epoll_.get(); }
  void begin(std::int64_t now_ns) noexcept override;
  void enter(load::Phase phase) noexcept override;
  int receive() noexcept override;
  std::optional<std::int64_t> oldest_arrival_ns() const noexcept override { return std::nullopt; }
  void handle_batch(std::int64_t now_ns) noexcept override;
  void act(std::int64_t now_ns) noexcept override;
  std::int64_t next_due_ns() const noexcept override;
  std::size_t outstanding() const noexcept override { return loop_.open(); }
  void count_receive_error() noexcept override {}
  Woke wait(int wake, const timespec& left) noexcept override;
  void end() noexcept override;
  void count_unanswered() noexcept;

  // The opened connection's index is what epoll answers.
  void connect_all(const std::string& where);
  void begin_connect(std::size_t index, std::int64_t now_ns) noexcept;
  void end_connect(std::size_t index, std::int64_t now_ns) noexcept;
  void reconnect_due(std::int64_t now_ns) noexcept;
  void lose(std::size_t index, std::int64_t now_ns) noexcept;
  void retry_later(std::size_t index, std::int64_t now_ns) noexcept;
  void set_limit() noexcept { loop_.set_limit(open_connections_ * settings_.depth); }
  void watch(std::size_t index, bool is_new, bool for_room) noexcept;

  void read_clock_offset(std::int64_t now_ns) noexcept;
  Connection::Read read(const epoll_event& event, std::span<char> into) const noexcept;
  void take(std::size_t index, const Connection::Read& read, std::span<const char> bytes,
            std::int64_t now_ns) noexcept;
  void take_reply(Connection& connection, const Reply& reply, std::int64_t arrived_ns,
                  std::int64_t read_ns) noexcept;
  void count(const load::OpenLoop::Counted& counted, const Connection::Request& request,
             const Reply& reply) noexcept;
  void count_error(Outcome outcome) noexcept;
  void send(std::uint64_t number) noexcept;
  std::size_t connection_for(std::uint32_t drawn) const noexcept;
  void flush(std::size_t index, std::int64_t now_ns) noexcept;
  void flush_dirty(std::int64_t now_ns) noexcept;

  const GeneratorSettings settings_;
  const std::uint32_t thread_;
  const Draws draws_;
  RequestLoop loop_;
  load::Schedule schedule_{};
  std::vector<Connection> connections_;
  std::size_t open_connections_ = 0;
  std::vector<std::size_t> closed_;  // to be opened again
  std::vector<std::size_t> dirty_;
  UniqueFd epoll_;
  std::array<epoll_event, kEvents> events_{};
  std::array<Connection::Read, kEvents> reads_{};  // what each has brought
  int count_ = 0;                                  // of the batch
  bool emptied_ = false;                           // the batch was all there was
  int waited_ = 0;                                 // events that a wait has brought
  bool wakes_ = false;                             // the frame's descriptor is watched, too
  std::vector<char> buffer_;
  std::optional<std::int64_t> to_monotonic_ns_;
  std::int64_t offset_read_ns_ = 0;
  std::int64_t read_late_max_ns_ = 0;
  stats::RecordQueue to_count_;  // in the histograms of statistics_
  bool in_window_ = false;       // by the clock
  rusage usage_before_{};
  std::uint64_t rx_ = 0, tx_ = 0;  // bytes so far
  std::uint64_t rx_before_ = 0, tx_before_ = 0;
  load::ThreadTiming timing_;
  load::ThreadFrame frame_;
};

}  // namespace turntable::mcload
