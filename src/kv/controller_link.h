// kvserver's end of the control plane (docs/kvcache.md §7, src/cache/messages.h): reports hot keys,
// asks for evictions, and does what the cache-controller asks of the stores.
//
// One connection, on a thread of its own, for all logical servers of the process. A controller that
// is not there, or dies, is waited for; what it has not answered is sent again.
#pragma once

#include <netinet/in.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "cache/message_link.h"
#include "kv/hot_keys.h"
#include "kv/record_store.h"
#include "kv/write_gate.h"

namespace turntable::kv {

class ControllerLink {
 public:
  struct Server {
    unsigned partition;
    RecordStore* records;
    HotKeys* hot_keys;  // null: the method's servers report none
    WriteGate* gate;    // null: nothing is held back
  };

  ControllerLink(const sockaddr_in& controller, cache::Credentials credentials, unsigned scale);
  ~ControllerLink();
  ControllerLink(const ControllerLink&) = delete;
  ControllerLink& operator=(const ControllerLink&) = delete;

  // Connects. The servers must stay until stop().
  void start(std::vector<Server> servers);
  void stop();

  // {"connected", "refused", "unexpected_answers", "unknown_keys"}: requests that could not be
  // done, and keys of EVICTED that are not served here. Any thread, between start() and stop().
  nlohmann::json statistics();

  // There are hot keys or evictions to take. Thread-safe, from construction to destruction.
  void wake();

 private:
  cache::Message hello();
  void take();
  void report(Server& server, const std::vector<PacketKey>& keys);
  void ask_evictions(Server& server, const std::vector<workload::KeyId>& keys);

  void answer(const cache::Message& request);
  cache::Message fetch(const cache::Message& request);
  cache::Message settle(const cache::Message& request);
  cache::Message store(const cache::Message& request);
  cache::Message evicted(const cache::Message& request);
  cache::Message take_snapshot(const cache::Message& request);
  cache::Message release_snapshots(const cache::Message& request);
  cache::Message largest_number(const cache::Message& request);
  cache::Message fence(const cache::Message& request);

  Server* find_server(workload::KeyId key);
  Server& server_of(const PacketKey& key);
  Server& server_of(std::uint32_t partition);
  cache::Record record_of(Server& server, const PacketKey& key);

  const sockaddr_in controller_;
  const cache::Credentials credentials_;
  const unsigned scale_;
  std::vector<Server> servers_;
  cache::EventLoop loop_;
  std::optional<cache::MessageLink> link_;
  std::vector<std::uint8_t> bytes_;  // of the record read last
  std::uint64_t refused_ = 0, unknown_keys_ = 0;
  std::thread thread_;
};

}  // namespace turntable::kv
