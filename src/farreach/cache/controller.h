// What is cached, and who tells whom (docs/kvcache.md §7): relays between servers and agent, warms
// the cache up, and keeps it as it should be from iteration to iteration.
//
// Lives on the loop's thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "farreach/cache/admissions.h"
#include "farreach/cache/client_sessions.h"
#include "farreach/cache/links.h"
#include "farreach/cache/recovery.h"
#include "farreach/cache/server_sessions.h"
#include "farreach/cache/set_digest.h"
#include "farreach/cache/snapshots.h"
#include "net/task.h"
#include "workload/profile.h"

namespace turntable::cache {

struct ControllerSettings {
  bool write_back = true;  // FarReach; false: NetCache
  unsigned scale = 1;      // partitions
  sockaddr_in agent{};
};

struct ControllerCounters {
  std::uint64_t hot = 0;                    // keys reported
  std::uint64_t admitted = 0;               // of these, now cached
  std::uint64_t records_stored = 0;         // evicted records relayed to their servers
  std::uint64_t store_failures = 0;         // ... and not stored; they are sent again
  std::uint64_t records_of_old_stores = 0;  // ... and dropped: their stores began anew meanwhile
  std::uint64_t unexpected = 0;             // requests that make no sense here
  std::uint64_t failed_tasks = 0;           // relays and admissions that broke off
  // Of messages with their answers; one that is relayed counts once.
  std::uint64_t admission_bytes = 0;
  std::uint64_t eviction_bytes = 0;
};

class Controller {
 public:
  using Json = nlohmann::json;
  using Reply = std::function<void(const Message& answer)>;

  Controller(net::EventLoop& loop, ServerSessions& servers, ClientSessions& clients,
             SnapshotDirectory& directory, const net::Credentials& credentials,
             const ControllerSettings& settings);

  // What a server asks.
  void handle(const Message& request, Reply reply);

  // What the switch has of these partitions, whose server waits to be told.
  void find_cached(const std::set<unsigned>& partitions, ServerSessions::Found found);

  // Admits the `count` hottest keys, which are the expected set from now on -> {"count", "digest"}.
  // In an EMPTY epoch it says that all stores begin anew: the last snapshot goes, the switch
  // serves.
  net::Task<Json> warm_up(workload::Workload workload, std::uint64_t count);

  // The stores of these partitions began anew, no other partition has a server, and no request is
  // under way: the slots forget what they held; with `prefill` those of these partitions' keys get
  // the records of the stores instead. Before, the switch's set must be the expected one; otherwise
  // it is made so -> {"keys", "digest", "restored"}. "wrong_state": stores or copies of before live
  // on.
  net::Task<Json> readmit(std::vector<unsigned> partitions, bool prefill);

  // After the switch was started again, before it forwards requests (cache/recovery.h); the clock's
  // deadline is given up by itself. The expected set stays, or becomes what the switch gets.
  net::Task<Json> recover(std::vector<unsigned> partitions, std::size_t clients,
                          std::int64_t deadline_ns);

  // Who has been asked and has not answered; in plain words, for whoever waits for a command.
  std::string waits_for() const;

  // The switch's own -> {"count", "digest", "expected_digest"}.
  net::Task<Json> cached_set();

  void spawn(net::Task<void> task) { tasks_.spawn(std::move(task)); }

  Snapshots& snapshots() { return snapshots_; }
  const SwitchEpoch& epoch() const { return epoch_; }

  const ControllerSettings& settings() const { return settings_; }
  const ControllerCounters& counters() const { return counters_; }
  const std::string& last_failed_task() const { return last_failed_task_; }
  const MessageLink& agent() const { return *agent_; }

 private:
  void task_failed(const std::exception_ptr& failure);
  net::Task<Message> ask_agent(Message request);
  net::Task<Message> ask_server(unsigned partition, Message request,
                                std::optional<std::uint32_t> store = std::nullopt);
  net::Task<Message> ask_client(ClientSessions::SessionId session, Message request);

  void handle_agent(const Message& request);
  net::Task<void> relay_to_agent(Message request, Reply reply);
  net::Task<void> relay_store(Message request);
  net::Task<void> store(unsigned partition, Message request);
  net::Task<void> admit_for_agent(Message request);
  void relay_evicted(const Message& request);

  net::Task<void> admit(std::vector<Key> keys);
  net::Task<std::vector<Record>> fetch(unsigned partition, std::vector<Key> keys);
  net::Task<Message> ask_cached_set();
  net::Task<bool> restore();
  net::Task<void> begin_anew();
  net::Task<void> until_nothing_lives_on(const std::set<unsigned>& partitions);
  net::Task<std::string> what_lives_on(const std::set<unsigned>& partitions);
  void hold_all();
  net::Task<SwitchEpoch> ask_epoch();
  void served(std::uint32_t epoch);
  std::string obstacle() const;
  Recovery::Peers peers_of_recovery();
  Admissions::Peers peers_of_admissions();
  void expect(std::vector<Key> keys);
  std::map<unsigned, std::vector<Record>> by_partition(const std::vector<Record>& records);
  unsigned partition_of(const Key& key) const;  // scale: of a key that no server has

  net::EventLoop& loop_;
  ServerSessions& servers_;
  ClientSessions& clients_;
  SnapshotDirectory& directory_;
  const ControllerSettings settings_;
  ControllerCounters counters_;
  std::string last_failed_task_;
  std::vector<Key> expected_;
  SetDigest expected_digest_;
  bool is_expected_known_ = false;  // else it is what the switch has
  SwitchEpoch epoch_;               // as the agent has said
  std::set<unsigned> holding_;      // partitions whose keys' slots may hold records
  std::string changing_;            // the command that changes what the switch holds; empty: none
  std::unique_ptr<MessageLink> agent_;
  Snapshots snapshots_;
  Admissions admissions_;  // NetCache
  net::Tasks tasks_;       // last: what is under way goes before what it uses
};

}  // namespace turntable::cache
