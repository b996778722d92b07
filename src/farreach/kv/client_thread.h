// One thread of kvclient: a share of the machine's logical clients at one UDP port.
//
// Requests and answers travel in batches, and the clock is read once per batch of datagrams.
// In the drain nothing is sent any more.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "farreach/kv/client_part.h"
#include "farreach/kv/client_statistics.h"
#include "farreach/kv/reassembly.h"
#include "farreach/kv/replay.h"
#include "farreach/kv/trace_clients.h"
#include "load/thread_frame.h"
#include "net/datagrams.h"

namespace turntable::kv {

class ClientThread final : public ClientPart, private load::Loop, private RequestSink {
 public:
  static constexpr std::size_t kMaxClients = TraceClients::kMaxClients;
  using Settings = TraceClients::Settings;

  // `datagrams` are connected to where requests go, and of the size and number that
  // datagrams_for() says. `replay` must outlive this object.
  ClientThread(const Settings& settings, const Replay& replay,
               std::unique_ptr<net::Datagrams> datagrams);
  static net::DatagramSettings datagrams_for(const Settings& settings);

  // Before run(): allocates what the schedule needs.
  void set_schedule(const load::Schedule& schedule) override;

  // Plays one iteration, until all clients have drained or stop(). Once.
  void run() override { frame_.run(); }
  void stop() noexcept override { frame_.stop(); }  // thread-safe

  void read_waiting() noexcept override { frame_.read_waiting(); }

  ClientCopies& copies() noexcept override { return clients_.copies(); }
  std::int64_t answers() const noexcept override { return clients_.answers(); }
  std::uint32_t drops() const override { return datagrams_->drops(); }
  std::size_t buffer_bytes() const override { return datagrams_->buffer_bytes(); }

  const ClientStatistics& statistics() const override { return clients_.statistics(); }
  const load::ThreadTiming& timing() const override { return frame_.timing(); }

 private:
  int fd() const noexcept override { return datagrams_->fd(); }
  void begin(std::int64_t now_ns) noexcept override;
  void enter(load::Phase phase) noexcept override;
  int receive() noexcept override { return count_ = datagrams_->receive(); }
  std::optional<std::int64_t> oldest_arrival_ns() const noexcept override;
  void handle_batch(std::int64_t now_ns) noexcept override;
  void act(std::int64_t now_ns) noexcept override;
  std::int64_t next_due_ns() const noexcept override { return clients_.next_due_ns(); }
  std::size_t outstanding() const noexcept override { return clients_.outstanding(); }
  void count_receive_error() noexcept override { ++clients_.statistics().receive_errors; }
  void end() noexcept override;

  void send(const ClientRequest& request) noexcept override;
  void send_fragments(const Packet& whole, std::uint32_t running) noexcept;
  void flush() noexcept;
  void handle(const net::Datagrams::Received& datagram, std::int64_t now_ns) noexcept;

  std::unique_ptr<net::Datagrams> datagrams_;
  TraceClients clients_;
  std::vector<std::uint8_t> value_;  // what is being sent
  int count_ = 0;                    // of the batch
  Reassembly large_answers_;
  load::ThreadFrame frame_;
};

}  // namespace turntable::kv
