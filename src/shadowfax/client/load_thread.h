// A thread of a client: a session with one worker of every server, and requests that are drawn and
// go to the owners of their keys.
//
// Without a rate all pipelines are kept full: a closed loop, whose round trips say by Little's law
// what its throughput says. With a rate requests have instants (load::OpenLoop), and a batch leaves
// when nothing more is due: at a low load it has one request.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "load/client_life.h"
#include "load/open_loop.h"
#include "load/thread_frame.h"
#include "shadowfax/client/load_settings.h"
#include "shadowfax/client/load_statistics.h"
#include "shadowfax/client/request_source.h"
#include "shadowfax/client/sessions.h"

namespace turntable::shadowfax {

class LoadThread final : public load::Part, private load::Loop {
 public:
  // Opens its sessions; throws SessionError, std::system_error, std::invalid_argument.
  LoadThread(const LoadSettings& settings, unsigned thread);

  void set_schedule(const load::Schedule& schedule) override;
  void run() override;
  void stop() noexcept override { frame_.stop(); }

  ThreadResult result() const;  // after run()

 private:
  class Answers;

  int fd() const noexcept override { return sessions_->fd(); }
  void begin(std::int64_t now_ns) noexcept override;
  void enter(load::Phase phase) noexcept override;
  int receive() noexcept override { return sessions_->look(); }
  std::optional<std::int64_t> oldest_arrival_ns() const noexcept override { return std::nullopt; }
  void handle_batch(std::int64_t now_ns) noexcept override;
  void act(std::int64_t now_ns) noexcept override;
  std::int64_t next_due_ns() const noexcept override;
  std::size_t outstanding() const noexcept override;
  void count_receive_error() noexcept override {}
  void end() noexcept override;

  void fill_pipelines();
  void send_due(std::int64_t now_ns);
  void add(const Request& request, std::uint64_t context);
  // A session was lost for good: the measurement is void, and nothing more is asked.
  bool is_lost() const noexcept { return sessions_->lost_sessions() > 0; }

  void done(Opcode opcode, ReplyStatus status, std::uint64_t context) noexcept;
  bool is_wrong(const Reply& reply, std::uint64_t context) noexcept;
  void begin_read(ServerNumber server) noexcept;

  const LoadSettings settings_;
  const unsigned thread_;
  RequestSource source_;
  std::optional<Request> held_;                            // drawn, and its session has no room
  std::vector<std::byte> rest_;                            // of a value, behind its first 8 bytes
  std::uint64_t mark_;                                     // of the last value that was written
  std::unordered_map<std::uint64_t, std::uint64_t> keys_;  // of an open loop: read -> its key
  std::optional<load::OpenLoop> open_loop_;
  const std::unique_ptr<Sessions> sessions_;
  load::Schedule schedule_{};
  load::Phase phase_ = load::Phase::kWarmUp;
  // Of the answers that are handled: whose they are, when they were read, and the sample that they
  // belong to; null: outside of the window.
  ServerNumber server_ = 0;
  std::int64_t read_ns_ = 0;
  LoadSample* sample_ = nullptr;
  std::int64_t answered_ns_ = 0;  // the last one of the window
  LoadStatistics statistics_;
  std::int64_t cpu_before_ns_ = 0, cpu_ns_ = 0;
  load::ThreadFrame frame_;
};

}  // namespace turntable::shadowfax
