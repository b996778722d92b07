// The logical clients of one thread: what each asks for next, what it waits for, and what is
// counted. Where requests go and answers come from is somebody else's business.
//
// Each logical client is a closed loop over its trace (load/closed_loops.h). Late answers to what
// was sent again are counted as stale. Latency is taken from the first sending of an operation.
//
// After set_window() nothing here allocates, but for a history. Not thread-safe, except answers().
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/counter.h"
#include "farreach/kv/client_copies.h"
#include "farreach/kv/client_statistics.h"
#include "farreach/kv/history_log.h"
#include "farreach/kv/packet.h"
#include "farreach/kv/replay.h"
#include "load/closed_loops.h"
#include "load/schedule.h"

namespace turntable::kv {

struct ClientRequest {
  PacketType type;
  std::uint32_t id;
  workload::KeyId key;
  std::uint64_t version;      // of the value, if it is a PUT
  std::uint32_t value_bytes;  // the same
  std::uint32_t client;       // number in the whole run
  std::uint16_t running;      // index of the key's partition
};

// What clients do beyond their traces, for tests of correctness. A client's PUTs are told apart by
// their version, so whoever reads a value knows how long it must be.
struct Variations {
  std::uint32_t delete_every = 0;  // a PUT whose version is a multiple deletes instead; 0: none
  std::uint32_t large_every = 0;   // else, of a multiple of this, it writes large_bytes; 0: none
  std::uint32_t large_bytes = 0;

  bool deletes(std::uint64_t version) const {
    return delete_every != 0 && version % delete_every == 0;
  }
  bool large(std::uint64_t version) const { return large_every != 0 && version % large_every == 0; }
};

// Takes the requests of the logical clients, one after the other.
class RequestSink {
 public:
  virtual void send(const ClientRequest& request) noexcept = 0;

 protected:
  ~RequestSink() = default;
};

class TraceClients {
  using Loops = load::ClosedLoops<TraceClients>;

 public:
  static constexpr unsigned kSequenceBits = Loops::kSequenceBits;
  static constexpr std::size_t kMaxClients = Loops::kMaxClients;

  struct Settings {
    std::size_t first_client;           // of this thread, in `replay`
    std::size_t clients;                // at most kMaxClients
    std::uint32_t first_global_client;  // number of client 0 of `replay` in the whole run
    std::uint32_t value_bytes;
    std::int64_t timeout_ns;
    load::Ramp ramp{};  // of the clients of this thread
    Variations variations{};
    std::size_t copies_max = 0;     // client copies to keep
    HistoryLog* history = nullptr;  // must outlive this object
  };

  // `replay` and `sink` must outlive this object.
  TraceClients(const Settings& settings, const Replay& replay, RequestSink& sink);
  TraceClients(const TraceClients&) = delete;  // its loops know where it is
  TraceClients& operator=(const TraceClients&) = delete;

  // Before begin(). What is answered in Phase::kMeasure is counted from `from_ns` on.
  void set_window(std::int64_t from_ns, std::int64_t until_ns);

  // The first clients of the ramp send their first request.
  void begin(std::int64_t now_ns) noexcept { loops_.begin(now_ns); }
  // What is due: other clients begin, and requests that are late are sent again.
  void act(std::int64_t now_ns) noexcept { loops_.act(now_ns); }
  void enter(load::Phase phase) noexcept { loops_.enter(phase); }
  // A large value must be whole, in as many datagrams as it has.
  void handle(const Packet& answer, std::int64_t now_ns) noexcept;
  // A datagram with a part of an answer, before the one that makes it whole.
  void handle_part(const Packet& fragment) noexcept;
  // When nothing will be handled any more.
  void end() noexcept;

  std::size_t outstanding() const noexcept { return loops_.outstanding(); }
  std::int64_t next_due_ns() const noexcept { return loops_.next_due_ns(); }
  std::int64_t answers() const noexcept { return answers_.get(); }  // thread-safe

  ClientStatistics& statistics() noexcept { return statistics_; }
  const ClientStatistics& statistics() const noexcept { return statistics_; }
  ClientCopies& copies() noexcept { return copies_; }

 private:
  struct Client {
    std::span<const ReplayOperation> operations;
    std::size_t next = 0;
    ReplayOperation current{};
    std::uint64_t version = 0;  // of the value that a PUT writes; counts the client's operations
  };

  // The codec of the loops; clients by their index in this thread.
  friend Loops;
  bool has_requests(std::uint32_t index) const noexcept {
    return !clients_[index].operations.empty();
  }
  void draw(std::uint32_t index) noexcept;
  void send(std::uint32_t index, std::uint32_t id, std::int64_t now_ns) noexcept;
  void late(std::uint32_t index, std::int64_t now_ns) noexcept;

  void ignore_stale(const Packet& answer) noexcept;
  void check_contents(const Packet& answer, const Client& client) noexcept;
  void record(const Packet& answer, std::uint32_t index, std::int64_t now_ns) noexcept;
  void keep_copy(const Packet& answer, const Client& client) noexcept;
  void remember(std::uint32_t index, const Packet* answer, std::int64_t now_ns) noexcept;
  std::uint32_t value_bytes(std::uint64_t version) const noexcept;
  bool is_value_of(const Packet& answer, const Client& client) const noexcept;
  std::uint32_t number_of(std::uint32_t index) const noexcept {
    return settings_.first_global_client + static_cast<std::uint32_t>(settings_.first_client) +
           index;
  }

  Settings settings_;
  const Replay& replay_;
  RequestSink& sink_;
  Counter answers_;

  std::int64_t window_from_ns_ = 0;
  std::vector<Client> clients_;
  Loops loops_;
  std::vector<std::vector<std::int64_t>> sends_ns_;  // by client, of its operation; for the history
  ClientCopies copies_;
  ClientStatistics statistics_;
};

}  // namespace turntable::kv
