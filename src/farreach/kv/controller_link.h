// kvserver's end of the control plane (docs/kvcache.md §7, src/farreach/cache/messages.h): reports
// hot keys, asks for evictions, and does what the cache-controller asks of the stores.
//
// One connection, on a thread of its own, for all logical servers of the process. A controller that
// is not there, or dies, is waited for; what it has not answered is sent again.
#pragma once

#include <netinet/in.h>

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "farreach/cache/links.h"
#include "farreach/kv/cached_keys.h"
#include "farreach/kv/record_store.h"

namespace turntable::kv {

class ControllerLink {
 public:
  struct Server {
    unsigned partition;
    std::uint32_t store;  // its incarnation
    RecordStore* records;
    CachedKeys* keys;
  };

  ControllerLink(const sockaddr_in& controller, net::Credentials credentials, unsigned scale);
  ~ControllerLink();
  ControllerLink(const ControllerLink&) = delete;
  ControllerLink& operator=(const ControllerLink&) = delete;

  // Connects. The servers must stay until stop().
  void start(std::vector<Server> servers);
  void stop();

  // {"connected", "refused", "unexpected_answers", "unknown_keys", "evictions_asked"}: requests
  // that could not be done, keys of EVICTED that are not served here, and keys that writes needed
  // to be evicted. Any thread, between start() and stop().
  nlohmann::json statistics();

  // There are hot keys or evictions to take. Thread-safe, from construction to destruction.
  void wake();

 private:
  cache::Message hello() const;
  void greeted(const cache::Message& answer);
  void take();
  void report(Server& server, const std::vector<workload::KeyId>& keys);
  void ask_evictions(Server& server, std::vector<CachedKeys::Eviction> evictions);

  void answer(const cache::Message& request);
  cache::Message do_what(const cache::Message& request);
  void require_store(const cache::Message& request) const;
  cache::Message fetch(const cache::Message& request);
  void mark(const std::vector<cache::Record>& keys);
  cache::Message settle(const cache::Message& request);
  cache::Message store(const cache::Message& request);
  cache::Message evicted(const cache::Message& request);
  cache::Message take_snapshot(const cache::Message& request);
  cache::Message release_snapshots(const cache::Message& request);
  cache::Message largest_number(const cache::Message& request);
  cache::Message fence(const cache::Message& request);

  Server* find_server(workload::KeyId key);
  Server& server_of(const cache::Key& key);
  Server& server_of(std::uint32_t partition);
  cache::Record record_of(Server& server, const cache::Key& key);

  const sockaddr_in controller_;
  const net::Credentials credentials_;
  const unsigned scale_;
  std::vector<Server> servers_;
  net::EventLoop loop_;
  std::optional<cache::MessageLink> link_;
  std::vector<std::uint8_t> bytes_;  // of the record read last
  std::uint64_t refused_ = 0, unknown_keys_ = 0, evictions_asked_ = 0;
  std::thread thread_;
};

}  // namespace turntable::kv
