// NetCache's value updates: how a server brings the switch up to date after a write of a cached key
// (docs/kvcache.md §5). Each is sent until the switch acknowledges it; a later write of the same
// key waits for that.
//
// Updates leave from the server's own port and are addressed to the client whose write it was; the
// switch keeps them, and answers the server. Acknowledgements come to a socket of their own, so
// that none waits behind requests.
//
// The round trip u that the blocking costs is taken without the delays of this machine's
// scheduler, as capacity is (load/capacity.h): a key is free again at
//
//   finish of the write (virtual time) + the delay of the settings + (acknowledged - sent)
//
// For one thread.
#pragma once

#include <netinet/in.h>

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/counter.h"
#include "farreach/kv/packet.h"
#include "net/udp.h"
#include "workload/key.h"

namespace turntable::kv {

struct ValueUpdateCounters {
  Counter sent;  // without retries
  Counter acknowledged;
  Counter retries;
  Counter unexpected;   // acknowledgements of nothing that is under way: late twins; ignored
  Counter send_errors;  // tried again
  Counter round_trip_sum_ns;
  Counter round_trip_max_ns;
};

class ValueUpdates {
 public:
  struct Settings {
    std::int64_t delay_ns = 0;  // from the end of the write to the update's sending
    std::int64_t retry_ns = 100'000'000;
  };

  // `socket` is bound to the server's port and gets the acknowledgements; it must outlive this
  // object.
  ValueUpdates(int socket, const Settings& settings);

  int socket() const noexcept { return socket_; }

  // Whether an update of `key` is not acknowledged yet.
  bool pending(workload::KeyId key) const;
  // Since when the last update of `key` is acknowledged (virtual time); 0: there was none.
  std::int64_t free_since_ns(workload::KeyId key) const;

  // The write that is being executed wants an update; `update` is of type kValueUpdate. None of its
  // key may be pending. It is due some time after finished().
  void add(workload::KeyId key, Packet update, const sockaddr_in& client);
  void finished(std::int64_t finish_ns);

  std::int64_t next_ns() const noexcept;
  // Sends what is due and reads what has been acknowledged.
  void run(std::int64_t now_ns) noexcept;

  const ValueUpdateCounters& counters() const { return counters_; }

 private:
  // A request id is (use of a place, place).
  static constexpr unsigned kPlaceBits = 15;

  struct Place {
    std::uint32_t request_id = 0;
    bool used = false;
    workload::KeyId key = 0;
    sockaddr_in client{};
    std::size_t size = 0;
    std::array<std::uint8_t, kMaxPacketBytes> datagram{};
    std::int64_t finish_ns = 0;
    std::int64_t sent_ns = 0;  // first
  };
  struct Due {
    std::int64_t at_ns;
    std::uint32_t request_id;
  };
  struct KeyState {
    bool pending = false;
    std::int64_t free_since_ns = 0;
  };

  std::uint32_t take_place();
  Place* place_of(std::uint32_t request_id) noexcept;
  void send_due(std::deque<Due>& queue, std::int64_t now_ns) noexcept;
  void send(Place& place, std::int64_t now_ns) noexcept;
  void receive() noexcept;
  void acknowledge(std::uint32_t request_id, std::int64_t at_ns) noexcept;

  int socket_;
  Settings settings_;
  std::vector<Place> places_;
  std::vector<std::uint32_t> free_places_;
  std::unordered_map<workload::KeyId, KeyState> keys_;
  std::optional<std::uint32_t> added_;  // request id of the update that waits for finished()
  std::deque<Due> first_;               // both by time, since each has one delay for all
  std::deque<Due> again_;
  net::ReceiveBatch received_;
  ValueUpdateCounters counters_;
};

}  // namespace turntable::kv
