// What each part of FarReach does with a state: switch, servers, clients (farreach_rack.cc), agent,
// snapshots and recovery (farreach_control.cc). When a part may do it is for farreach_model.cc.
#pragma once

#include <optional>

#include "farreach/model/farreach_model.h"

namespace turntable::model::farreach {

enum class Wrong : Byte { kNone, kOldRead, kOldNumber, kTwins, kLost, kCut };

class Rack {
 public:
  Rack(State& state, const Rules& rules) : s_(state), rules_(rules) {}

  // What the step's packet makes a server or client get is lost, if it is of such a kind.
  void lose(Loses loses) { loses_ = loses; }
  bool has_made(Loses loses) const { return loses == Loses::kWrite ? has_written_ : has_answered_; }

  // Data network
  Request invoke(unsigned client, unsigned key, Byte write);
  Request retry(unsigned client);
  void give_up(unsigned client);
  void egress(unsigned key, const Queued& packet);
  void serve(unsigned key);
  void keep_part(unsigned key);
  void complete(unsigned key, std::size_t part);
  void forget(unsigned key, std::size_t part);
  void take_list(unsigned client);

  // Agent
  void begin_admission(unsigned key);
  void begin_eviction();
  void agent_goes_on();
  void store_late();

  // Snapshots
  bool begin_snapshot();
  bool lead();  // the controller's next step; false: it cannot be done yet
  bool load_for_snapshot();
  bool start_servers();

  // Faults and recovery
  void crash_switch();
  void crash_server();
  void start_server(bool with_what_waited);
  void crash_agent();
  void crash_controller();
  void begin_recovery();
  void collect(unsigned client);
  void recover(unsigned key_to_fetch);

 private:
  void get(unsigned key, const Queued& packet);
  void put(unsigned key, const Queued& packet);
  void fill(unsigned key, const Queued& packet);
  void supersede();
  void report_case1(unsigned key, Byte token);
  void send(unsigned key, const ToServer& packet);
  void answer(unsigned client, bool is_current, bool by_switch, const Record& record);
  void take_answer(Client& client, bool by_switch, const Record& record);
  void stale(unsigned client);

  bool is_fenced(const Record& record) const { return s_.fence != 0 && record.number <= s_.fence; }
  void write(unsigned key, const ToServer& packet);
  bool lacks_rest_of_newer(unsigned key) const;
  void store_record(unsigned key, const Record& record);
  void snapshot_partition(unsigned key, Byte token);
  void see(unsigned key);
  void load_for_eviction();
  void save();
  void judge_cut();
  void give_up_snapshot();
  void read_file();
  void merge(unsigned key, const Record& record);
  void restore();

  void wrong(Wrong what);

  State& s_;
  const Rules& rules_;
  Loses loses_ = Loses::kNothing;
  bool has_written_ = false;
  bool has_answered_ = false;
};

// What a GET that finds its way free would be answered now; nothing if it has to wait.
std::optional<Record> would_read(const State& s, unsigned key);

// The agent, with its next step, which it can do now.
bool agent_may_go_on(const State& s);
bool agent_changes_lookup_of(const State& s, unsigned key);

Queued at_ingress(const State& s, const Request& request);
Queued at_ingress(const State& s, const Fill& fill, unsigned key);

inline bool has_record(const Slot& slot) {
  const auto cell = static_cast<Cell>(slot.cell);
  return cell == Cell::kLatest || (cell == Cell::kSuperseded && slot.record.number != 0);
}

}  // namespace turntable::model::farreach
