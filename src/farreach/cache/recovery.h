// Brings the records that only a switch had back after it was started again (docs/kvcache.md §9),
// which ends in the switch epoch that it begins in, or fails:
//
//   collect   the clients' copies and the last snapshot; of each key the record with the largest
//             number
//   replay    to the servers, which apply what is newer than theirs
//   numbers   the switch goes on with larger numbers than anybody has seen; servers execute no more
//             of those that the switch before has given
//   fetch     the records of the cached set, from the servers
//   restore   them into the switch
//
// NetCache's switch has nothing that its servers have not: there it begins with `numbers`. Every
// step may be done again: what breaks off is repeated from the beginning, with the same result.
//
// Lives on the loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "farreach/cache/links.h"
#include "farreach/cache/messages.h"
#include "farreach/cache/set_digest.h"
#include "farreach/cache/switch_epoch.h"
#include "net/task.h"
#include "net/timers.h"

namespace turntable::cache {

// More than a switch numbers in the time for which a packet may be on its way to a server: numbers
// given twice would hide writes.
inline constexpr std::uint32_t kNumbersLeftOut = 65'536;

struct RecoverySettings {
  bool write_back = true;            // FarReach; false: NetCache
  unsigned scale = 1;                // partitions
  std::vector<unsigned> partitions;  // those with servers
  std::size_t clients = 0;           // sessions of clients that have to be there
  std::int64_t deadline_ns = 0;      // of the clock of net::Timers
};

class Recovery {
 public:
  using Json = nlohmann::json;
  using SessionId = MessageListener::SessionId;

  // Who is asked. An answer with a text is a failure.
  struct Peers {
    std::function<net::Task<Message>(Message)> ask_agent;
    std::function<net::Task<Message>(unsigned partition, Message)>
        ask_server;  // waits for a server
    std::function<net::Task<Message>(SessionId, Message)> ask_client;
    std::function<std::set<unsigned>()> served;  // partitions whose servers are there
    std::function<std::vector<SessionId>()> clients;
    std::function<std::vector<Record>()> last_snapshot;  // asked for once, and first
  };

  Recovery(net::Timers& timers, Peers peers, RecoverySettings settings)
      : timers_(timers), peers_(std::move(peers)), settings_(std::move(settings)) {}

  // `expected`: the cached set; empty: not known, so the keys of the snapshot and of the copies.
  // -> {"restored", "newer", "missed", "number", "phases": [{"phase", "seconds", "records",
  // "records_per_s"}]}; "newer" and "missed" are null when a server had to be asked twice: what it
  // took the first time it has not told. Throws CommandError; "wrong_state": requests have passed
  // the switch, and nothing was done.
  net::Task<Json> run(std::vector<Key> expected);

  const std::vector<Key>& cached() const { return cached_; }  // in the end
  const SwitchEpoch& epoch() const { return epoch_; }         // when it began

 private:
  // Somebody whose answer is waited for, for the error at the deadline.
  class Waiting;
  struct Found {  // of a key
    Record record;
    bool in_snapshot = false;
  };

  net::Task<void> look();
  net::Task<void> collect();
  net::Task<void> collect_from(SessionId session);
  net::Task<void> replay();
  net::Task<void> replay_to(unsigned partition, std::vector<Record> records);
  net::Task<void> number();
  net::Task<void> ask_largest(unsigned partition);
  net::Task<void> fence(unsigned partition);
  net::Task<void> fetch();
  net::Task<void> fetch_from(unsigned partition, std::vector<std::size_t> places);
  net::Task<void> restore();

  net::Task<void> phase(const char* name, net::Task<void> work);
  net::Task<void> together(std::vector<net::Task<void>> parts);
  net::Task<void> until(std::function<bool()> condition, std::string whom);
  net::Task<Message> agent(Message request);
  net::Task<Message> server(unsigned partition, Message request);

  void merge(const Record& record, bool in_snapshot);
  void choose_cached(std::vector<Key> expected);
  unsigned partition_of(const Key& key) const;  // scale: of a key that no server has
  std::string overdue() const;

  net::Timers& timers_;
  const Peers peers_;
  const RecoverySettings settings_;
  std::multiset<std::string> waiting_for_;
  std::string phase_;
  std::size_t records_ = 0;  // of the phase
  Json phases_ = Json::array();

  std::uint32_t cache_size_ = 0;
  SwitchEpoch epoch_;
  std::map<Key, Found> found_;
  std::uint32_t largest_ = 0;
  struct Taken {
    std::size_t newer = 0;   // of the records replayed, those that a server did not have
    std::size_t missed = 0;  // ... and does not take: a recovery before has left them out
  };
  std::optional<Taken> taken_ = Taken{};  // nothing: not known
  std::vector<Key> cached_;
  std::vector<Record> records_of_cached_;
};

}  // namespace turntable::cache
