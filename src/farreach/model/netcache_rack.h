// What each part of NetCache does with a state: clients, switch and servers (netcache_rack.cc),
// controller, agent and recovery (netcache_control.cc). When a part may do it is for
// netcache_model.cc.
#pragma once

#include <optional>

#include "farreach/model/netcache_model.h"

namespace turntable::model::netcache {

enum class Wrong : Byte { kNone, kOldRead, kOldNumber, kTwins };

Queued at_ingress(const State& s, const Request& request);
Queued at_ingress(const State& s, const Record& update, unsigned key);
// What a GET that finds its way free would be answered now; nothing if it has to wait.
std::optional<Record> would_read(const State& s, unsigned key);

// The agent, with its next step, which it can do now.
bool agent_may_go_on(const State& s);
bool agent_changes_lookup_of(const State& s, unsigned key);

class Rack {
 public:
  Rack(State& state, const Rules& rules) : s_(state), rules_(rules) {}

  // What the step's packet makes a server or client get is lost, if it is of such a kind.
  void lose(Loses loses) { loses_ = loses; }
  bool has_made(Loses loses) const { return loses == Loses::kWrite ? has_written_ : has_answered_; }

  Request invoke(unsigned client, unsigned key, Byte write);
  Request retry(unsigned client);
  void give_up(unsigned client);
  void egress(unsigned key, const Queued& packet);
  bool may_serve(unsigned key) const;
  void serve(unsigned key);
  bool may_keep_part(unsigned key) const;
  void keep_part(unsigned key);
  bool may_complete(unsigned key, std::size_t part) const;
  void complete(unsigned key, std::size_t part);
  void forget(unsigned key, std::size_t part);
  bool wants_eviction(unsigned key) const;  // for the write that waits
  bool wants_eviction(unsigned key, std::size_t part) const;
  void ask_eviction(unsigned key);

  void report_hot(unsigned key);
  void take_message();
  void take_message_and_break();  // the connection, before the answer: it will come again
  bool may_answer_hello() const;
  void answer_hello();

  bool may_admit(unsigned key) const;
  void admit(unsigned key);
  bool may_answer_eviction(unsigned key) const;
  void answer_eviction(unsigned key);
  void begin_eviction();
  void agent_goes_on();

  void crash_switch();
  void crash_server();
  void start_server(bool with_what_waited);
  void crash_agent();
  void crash_controller();
  void recover(unsigned key_to_fetch);

 private:
  void get(unsigned key, const Queued& packet);
  void put(unsigned key, const Queued& packet);
  void update(unsigned key, const Queued& packet);
  void answer(unsigned client, bool is_current, const Record& record);
  void take_answer(Client& client, const Record& record);
  void stale(unsigned client);
  bool gate_is_open(unsigned key, const ToServer& write) const;
  bool needs_eviction(unsigned key, const ToServer& write) const;
  bool is_fenced(const Record& record) const { return s_.fence != 0 && record.number <= s_.fence; }
  void write(unsigned key, const ToServer& packet);

  void tell_server(const Message& message);
  void settle(const Message& message);
  void evicted(const Message& message);
  void restore();
  void wrong(Wrong what);

  State& s_;
  const Rules& rules_;
  Loses loses_ = Loses::kNothing;
  bool has_written_ = false;
  bool has_answered_ = false;
};

}  // namespace turntable::model::netcache
