// The switch's part of a snapshot (docs/kvcache.md §8): what every cached key's slot held at the
// point.
//
// Lives on the loop's thread, inside the agent.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "farreach/cache/driver.h"
#include "farreach/cache/frame_exchange.h"
#include "farreach/cache/messages.h"
#include "farreach/cache/slots.h"
#include "net/task.h"

namespace turntable::cache {

struct SnapshotCounters {
  std::uint64_t taken = 0;
  std::uint64_t given_up = 0;
  std::uint64_t reports = 0;       // CASE1, of snapshots under way
  std::uint64_t late_reports = 0;  // of others, or a second one of a slot
};

// The record at the point is the first that is seen of a key after it: by a LOAD, or, if that came
// later, by what was about to change it, a CASE1 report or an eviction. All of them leave the
// egress port of the key's server for the CPU port, so what is seen first was read first. (The
// smallest number is not enough: a slot that had no record at the point reports that as its CASE1.)
class SnapshotTaker {
 public:
  using Reply = std::function<void(const Message& answer)>;

  // What the agent does for it.
  struct Hooks {
    std::function<void(net::Task<void>)> spawn;
    std::function<bool()> is_quiet;          // no slot is changing its key or being rewritten
    std::function<ControlFrame(Slot)> load;  // a question for what the slot holds
    std::function<net::Task<void>()> drain;  // a frame through each server's queue, and back
  };

  SnapshotTaker(Driver& driver, FrameExchange& frames, const Slots& slots, Hooks hooks);

  // BEGIN, POINT, FINISH.
  void handle(const Message& request, Reply reply);

  // Whether the switch served when the agent began; if it did, its flag is off now: somebody may
  // have died with it on.
  bool adopt();
  // The switch serves from now on: there may be snapshots.
  void serve() { write_flag(std::nullopt); }
  // Of a switch that is emptied. Before anything else is: nobody must take it for one that serves.
  static void forget(Driver& driver);

  // A CASE1 report, or what an eviction has loaded before the slot loses its key.
  void reported(const ControlFrame& frame);
  void evicted(const ControlFrame& loaded);

  // The snapshot under way, if there is any, is not taken.
  void give_up(const std::string& why);

  // The id while the flag is set, else 0: servers take their snapshot before they apply what comes
  // with it.
  std::uint32_t token() const { return phase_ == Phase::kTaking ? id_ : 0; }

  // Between BEGIN and POINT nothing may be admitted or evicted.
  bool holds_changes() const { return phase_ == Phase::kWaiting || phase_ == Phase::kBegun; }
  net::Task<void> until_released();
  void quiet();  // is_quiet() has become true

  bool is_under_way() const { return phase_ != Phase::kIdle; }
  const SnapshotCounters& counters() const { return counters_; }

 private:
  enum class Phase : std::uint8_t { kIdle, kWaiting, kBegun, kTaking, kFinishing };
  struct Place {
    Slot slot;
    bool seen = false;
    std::optional<Record> record;  // nothing: the slot had none, its server has it
  };

  net::Task<void> begin(Message request, Reply reply);
  net::Task<void> point(Message request, Reply reply);
  net::Task<void> load_all(std::uint32_t id);
  net::Task<void> finish(Message request, Reply reply);
  net::Task<void> conclude(std::uint32_t id);
  void see(const Key& key, const ControlFrame& frame);
  void write_flag(std::optional<std::uint32_t> token);
  std::uint64_t case1_count();
  std::string gone(std::uint32_t id) const;
  bool is_in(Phase phase, std::uint32_t id) const { return phase_ == phase && id_ == id; }

  net::Task<void> changed();
  void notify();

  Driver& driver_;
  FrameExchange& frames_;
  const Slots& slots_;
  const Hooks hooks_;
  SnapshotCounters counters_;

  Phase phase_ = Phase::kIdle;
  std::uint32_t id_ = 0;            // of the last BEGIN
  std::map<Key, Place> places_;     // the map at the point
  std::set<Slot> reported_;         // slots with a CASE1 report
  std::uint64_t case1_before_ = 0;  // the data plane's count at the point
  bool is_loaded_ = false;
  bool is_drained_ = true;  // no packet with an earlier snapshot's flag is in a queue
  std::string why_given_up_;
  std::optional<std::uint32_t> finished_;  // whose cut is in cut_
  std::vector<Record> cut_;                // kept: FINISH may come again
  std::vector<net::Completion<bool>*> waiting_;
};

}  // namespace turntable::cache
