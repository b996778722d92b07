// The switch's side of the control plane: owns the slots, and is the only one that changes
// cache_lookup and slots (docs/kvcache.md §7).
//
// Lives on the loop's thread. Each admission and each eviction is a coroutine; many are under way
// at a time, those of one key one after the other. Destroying the agent at any point leaves a
// switch from which adopt() of the next one goes on: no key is lost, and none is in two slots.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "farreach/cache/driver.h"
#include "farreach/cache/frame_exchange.h"
#include "farreach/cache/links.h"
#include "farreach/cache/lookup_writer.h"
#include "farreach/cache/messages.h"
#include "farreach/cache/server_hello.h"
#include "farreach/cache/slot_frames.h"
#include "farreach/cache/slots.h"
#include "farreach/cache/snapshot_taker.h"
#include "farreach/cache/switch_epoch.h"
#include "farreach/cache/transits.h"
#include "net/task.h"

namespace turntable::cache {

// Registers of the programs (p4/shared/cache).
inline constexpr const char* kNumbers = "seq.cells";
inline constexpr const char* kOutcomes = "outcome";  // a counter

struct AgentSettings {
  bool write_back = true;                   // FarReach; false: NetCache's write-through
  std::vector<std::uint16_t> egress_ports;  // of each partition's server; as many as partitions
  std::uint32_t cache_size = 10'000;
  std::uint32_t victims_sampled = 10;
  bool admission = true;  // hot keys are admitted; warm-up is not asked
  std::uint32_t epoch = 1;
  bool fresh = false;  // the switch has just been emptied
};

struct AgentCounters {
  std::uint64_t admitted = 0;
  std::uint64_t evicted = 0;
  std::uint64_t refused = 0;           // admissions
  std::uint64_t restored = 0;          // records written into an empty switch
  std::uint64_t written_back = 0;      // evicted records that a server has stored
  std::uint64_t store_failures = 0;    // ... has not; they are sent again
  std::uint64_t unexpected = 0;        // messages that ask for nothing known
  std::uint64_t refused_by_epoch = 0;  // requests: of another epoch, or too early in this one
  std::uint64_t found = 0;             // slots in use when the agent began
  std::uint64_t found_in_transit = 0;  // of these, left by an admission or eviction that broke off
};

// agent.cc: what it is asked; agent_slots.cc: admission and eviction; agent_start.cc: what the
// switch has in the beginning, and recovery.
class Agent {
 public:
  using Reply = std::function<void(const Message& answer)>;
  // Asks the controller; the answer may come long after, or never.
  using AskController = std::function<void(Message request, Unanswered::OnAnswer)>;

  // `on_failure` is told why the agent can go on no more: the switch did not do as told.
  Agent(Driver& driver, net::Timers& timers, AgentSettings settings, AskController ask_controller,
        std::function<void(const std::string&)> on_failure);

  // What the switch has when the agent begins becomes its own: keys of cache_lookup are cached,
  // slots in transit are evicted, and it serves if it did. Before anything else.
  net::Task<void> adopt();

  // Answers one request of the controller. `reply` may be called later.
  void handle(const Message& request, Reply reply);

  // A frame of the CPU port.
  void received(const ControlFrame& frame);

  // Refused too if another controller has connected meanwhile: the record may be older than what
  // the servers have been told to be cached.
  net::Task<Admission> admit(Record record);
  net::Task<void> evict(Key key);
  net::Task<void> readmit(std::vector<Record> records);

  void spawn(net::Task<void> task) { tasks_.spawn(std::move(task)); }

  // At run time. Keys that a smaller cache has no slot for are evicted.
  void set_cache_size(std::uint32_t cache_size);
  void set_victims_sampled(std::uint32_t count) { settings_.victims_sampled = count; }
  void set_admission(bool admission) { settings_.admission = admission; }

  const SwitchEpoch& epoch() const { return epoch_; }
  const Slots& slots() const { return slots_; }
  const AgentSettings& settings() const { return settings_; }
  const AgentCounters& counters() const { return counters_; }
  const FrameExchange::Counters& frame_counters() const { return frames_.counters(); }
  const SnapshotTaker& snapshot() const { return snapshot_; }
  std::size_t in_transit() const { return transits_.size(); }

 private:
  using Settled = net::Completion<bool>;

  net::Task<void> admit_all(Message request, Reply reply);
  void refuse_all(const Message& request, const Reply& reply);
  net::Task<void> admit_one(const Record& record, Admission& admission, std::size_t& left,
                            Settled& all_done);
  net::Task<void> evict_all(Message request, Reply reply);
  net::Task<void> readmit_all(Message request, Reply reply);
  void greeted(const Message& request, const Reply& reply);
  net::Task<void> forget_snapshot();
  void handle_snapshot(const Message& request, Reply reply);
  void serve(const Message& request, const Reply& reply);
  void set_numbers(const Message& request, const Reply& reply);
  net::Task<void> restore(Message request, Reply reply);
  void write_restored(const std::vector<Record>& records);
  void begin_serving();
  void empty_untouched_switch();
  bool is_untouched();
  void cached_set(const Message& request, const Reply& reply);
  void list_slots(const Message& request, const Reply& reply);
  void report_hot(const Key& key);

  net::Task<Admission> enter(Record record, std::uint64_t controller);
  Admission next_admission(std::uint32_t number = 0);
  std::uint32_t numbered_up_to(const Record& record);
  void number_adopted();
  net::Task<std::vector<Slot>> make_room(Key newcomer);
  net::Task<void> leave(Slot slot, std::uint8_t valid);
  net::Task<void> finish_leaving(Slot slot, std::uint8_t valid);
  void tell_evicted(Slot slot);
  net::Task<void> write_back(Record record);
  net::Task<void> drain_all_ports();

  void end_transit(const Key& key);
  net::Task<void> until_key_may_change(Key key);
  bool is_quiet() const { return transits_.empty() && rewriting_ == 0; }
  SnapshotTaker::Hooks snapshot_hooks();

  std::shared_ptr<void> alive_ = std::make_shared<int>();
  Driver& driver_;
  net::Timers& timers_;
  AgentSettings settings_;
  AskController ask_controller_;
  Slots slots_;
  const SlotFrames slot_frames_;
  AgentCounters counters_;
  FrameExchange frames_;
  LookupWriter lookup_;
  std::mt19937 random_;
  SwitchEpoch epoch_;
  std::uint32_t last_admission_;   // its id
  std::uint64_t controllers_ = 0;  // that have connected
  Transits transits_;
  unsigned rewriting_ = 0;                    // readmissions under way
  std::optional<std::uint32_t> restored_by_;  // id of the request that has been carried out
  std::map<Key, bool> reported_;  // hot keys that the controller has been asked to admit
  SnapshotTaker snapshot_;
  net::Tasks tasks_;  // last: what is under way goes before what it uses
};

}  // namespace turntable::cache
