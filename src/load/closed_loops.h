// Closed loops: each client sends its next request when the one before has been answered. What
// requests are and how they travel is the codec's business.
//
// Clients may begin one after the other (Ramp). All at once they fill the queues of all servers,
// also of those that never have one later, and such a queue may last: with a write-through cache
// the writes that wait in it keep their slots invalid, so their reads come to the server too.
//
// A request that is not answered in time is sent again under a new id, so that the late answer to
// the first is recognised as stale. In the drain nothing is sent any more.
//
// After the constructor nothing here allocates. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "load/schedule.h"
#include "load/timeout_queue.h"

namespace turntable::load {

// A Codec has, of clients from 0 on,
//   bool has_requests(std::uint32_t client) const noexcept;  // else it never sends
//   void draw(std::uint32_t client) noexcept;                // its next request
//   // Sends the request that was drawn last, for the first time or again.
//   void send(std::uint32_t client, std::uint32_t id, std::int64_t now_ns) noexcept;
//   // The request was not answered in time, and is sent again unless the loops drain.
//   void late(std::uint32_t client, std::int64_t now_ns) noexcept;
// When the clients of a run send their first request, from the beginning on.
struct Ramp {
  std::int64_t length_ns = 0;  // 0: all at once
  std::uint32_t clients = 1;   // of the whole run, over which it is spread
  std::uint32_t first = 0;     // number of these loops' first client in the whole run

  std::int64_t begins_ns(std::uint32_t client) const noexcept {
    const double share = (static_cast<double>(first) + client) / clients;
    return static_cast<std::int64_t>(share * static_cast<double>(length_ns));
  }
};

template <typename Codec>
class ClosedLoops {
 public:
  // A request id is (client, sequence number of its sending).
  static constexpr unsigned kSequenceBits = 20;
  static constexpr std::size_t kMaxClients = std::size_t{1} << (32 - kSequenceBits);

  // clients: at most kMaxClients. `codec` must outlive this object.
  ClosedLoops(std::size_t clients, std::int64_t timeout_ns, Codec& codec, const Ramp& ramp = {})
      : timeout_ns_(timeout_ns), ramp_(ramp), codec_(codec), clients_(clients), waiting_(clients) {}

  // The ramp begins: its first clients send, if they have requests.
  void begin(std::int64_t now_ns) noexcept {
    began_ns_ = now_ns;
    act(now_ns);
  }
  // What is due: clients begin, and requests that are late are sent again.
  void act(std::int64_t now_ns) noexcept {
    for (; next_begins_ns() <= now_ns; ++begun_)
      if (codec_.has_requests(begun_)) issue(begun_, now_ns);
    retry_late(now_ns);
  }
  // INT64_MAX if nothing will be.
  std::int64_t next_due_ns() const noexcept {
    return std::min(next_deadline_ns(), next_begins_ns());
  }
  void enter(Phase phase) noexcept { phase_ = phase; }
  Phase phase() const noexcept { return phase_; }

  static std::uint32_t client_of(std::uint32_t id) noexcept { return id >> kSequenceBits; }
  // False: the id was never given, or an answer to it is stale.
  bool awaits(std::uint32_t id) const noexcept {
    const std::uint32_t client = client_of(id);
    return client < clients_.size() && clients_[client].outstanding && clients_[client].id == id;
  }
  bool is_outstanding(std::uint32_t client) const noexcept { return clients_[client].outstanding; }
  std::int64_t first_sent_ns(std::uint32_t client) const noexcept {
    return clients_[client].first_sent_ns;
  }
  std::size_t outstanding() const noexcept { return outstanding_; }  // clients

  // The answer that the client awaits has come: it goes on.
  void answered(std::uint32_t client, std::int64_t now_ns) noexcept {
    Client& answered = clients_[client];
    if (answered.timed) waiting_.remove(client);
    answered.timed = answered.outstanding = false;
    --outstanding_;
    if (phase_ != Phase::kDrain) issue(client, now_ns);
  }

 private:
  struct Client {
    std::uint32_t sequence = 0;
    std::uint32_t id = 0;
    bool outstanding = false;
    bool timed = false;  // in the time-out queue
    std::int64_t first_sent_ns = 0;
    std::int64_t deadline_ns = 0;
  };

  std::int64_t next_begins_ns() const noexcept {
    const bool none = begun_ == clients_.size() || phase_ == Phase::kDrain;
    return none ? INT64_MAX : began_ns_ + ramp_.begins_ns(begun_);
  }

  // When the oldest request is late; INT64_MAX if there is none.
  std::int64_t next_deadline_ns() const noexcept {
    const auto oldest = waiting_.oldest();
    return oldest == TimeoutQueue::kNone ? INT64_MAX : clients_[oldest].deadline_ns;
  }

  void retry_late(std::int64_t now_ns) noexcept {
    while (next_deadline_ns() <= now_ns) {
      const auto client = waiting_.oldest();
      waiting_.remove(client);
      clients_[client].timed = false;
      codec_.late(client, now_ns);
      if (phase_ != Phase::kDrain) send(client, now_ns);  // else its answer may still come
    }
  }

  void issue(std::uint32_t client, std::int64_t now_ns) noexcept {
    codec_.draw(client);
    clients_[client].first_sent_ns = now_ns;
    clients_[client].outstanding = true;
    ++outstanding_;
    send(client, now_ns);
  }

  void send(std::uint32_t index, std::int64_t now_ns) noexcept {
    Client& client = clients_[index];
    client.sequence = (client.sequence + 1) & ((1U << kSequenceBits) - 1);
    client.id = index << kSequenceBits | client.sequence;
    client.deadline_ns = now_ns + timeout_ns_;
    client.timed = true;
    waiting_.push(index);
    codec_.send(index, client.id, now_ns);
  }

  const std::int64_t timeout_ns_;
  const Ramp ramp_;
  Codec& codec_;
  Phase phase_ = Phase::kWarmUp;
  std::int64_t began_ns_ = 0;
  std::uint32_t begun_ = 0;  // clients
  std::vector<Client> clients_;
  TimeoutQueue waiting_;
  std::size_t outstanding_ = 0;
};

}  // namespace turntable::load
