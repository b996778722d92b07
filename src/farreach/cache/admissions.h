// NetCache's admissions, as the controller leads them (docs/kvcache.md §7): the switch gets a copy
// of a record, so the key's writes wait at its server until it is known what became of it.
//
//   FETCH, under a mark --> ADMIT --> SETTLED, which ends the mark
//
// From the answer of FETCH to that of ADMIT an admission is *open*: the switch gets, or may get, a
// record that was the newest only as long as the server that gave it holds the key's writes back.
// So no other process gets to serve a partition with an open admission.
//
// Lives on the loop's thread.
#pragma once

#include <functional>
#include <set>
#include <vector>

#include "farreach/cache/server_sessions.h"
#include "net/task.h"
#include "net/timers.h"

namespace turntable::cache {

class Admissions {
 public:
  struct Peers {
    std::function<net::Task<Message>(Message)> ask_agent;
    std::function<net::Task<Message>(unsigned partition, Message)> ask_server;
    std::function<unsigned(const Key&)> partition_of;
  };
  Admissions(net::Timers& timers, Peers peers) : timers_(timers), peers_(std::move(peers)) {}

  // Refused if the server does not give the key's record.
  net::Task<Admission> admit(unsigned partition, Key key);

  // What the switch has of these partitions when none of their admissions is open; while the agent
  // does not say it, it is asked again.
  net::Task<void> find_cached(std::set<unsigned> partitions, ServerSessions::Found found);

 private:
  using Ended = net::Completion<bool>;

  net::Task<Admission> admit_record(Record record);
  void end(unsigned partition);
  net::Task<void> until_none_is_open(const std::set<unsigned>& partitions);

  net::Timers& timers_;
  const Peers peers_;
  std::multiset<unsigned> open_;  // partitions, each once for every open admission
  std::vector<Ended*> waiting_;   // for an open admission to end
};

}  // namespace turntable::cache
