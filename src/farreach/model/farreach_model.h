// FarReach as an explicit-state model (docs/kvcache-model.md), to be searched whole (search.h).
#pragma once

#include <string>

#include "farreach/model/farreach_state.h"

namespace turntable::model::farreach {

// Each closes a hole: a search without it must find a counterexample.
struct Rules {
  bool snapshots_keep_to_their_epoch = true;  // none of an EMPTY switch, none that outlives its own
  bool record_is_stored = true;      // a GET that carries a record: stored before it is answered
  bool record_carries_token = true;  // ... behind the snapshot that it belongs behind
  bool record_is_fenced = true;      // ... and not looked at if a switch that died sent it
  bool writes_are_fenced = true;     // what a dead switch has numbered is executed no more
  bool rest_is_fenced = true;        // ... also if its first part had come before the fence
  bool stores_are_fenced = true;     // ... nor stored by an eviction that it had begun, or a REPLAY
  bool fence_is_kept = true;         // by a server that starts again, too
  bool fence_counts = true;          // ... and counts as a number that has been given
  bool numbers_are_left_out = true;  // by a recovery: those that the dead switch may have given
  bool fill_needs_its_cell = true;   // the cell that its GET saw
  bool fills_wait_for_the_rest = true;  // none while a newer write is at the server in part
  bool unlisted_copies_age = true;      // released only if older than the list before
  bool lists_are_confirmed = true;      // ... and that list was answered before this snapshot began
  bool hits_are_copied = true;          // a client keeps what it read from the switch
  bool slot_is_drained = true;          // before its next key
};

struct Step {
  enum class What : Byte {
    kInvoke,
    kRetry,
    kGiveUp,
    kArrive,
    kLeaveQueue,
    kServe,
    kRest,
    kForget,
    kFill,
    kAgent,
    kSnapshot,
    kList,
    kCrashSwitch,
    kCrashServer,
    kStartServer,
    kCrashAgent,
    kCrashController,
    kRecover,
  };
  What what;
  Byte key = 0;  // or what the step is about: see text()
  Byte client = 0;
  Byte detail = 0;
  Loses loses = Loses::kNothing;
};

class Model {
 public:
  using State = farreach::State;
  using Step = farreach::Step;

  Model(const Rules& rules, const Bounds& bounds) : rules_(rules), bounds_(bounds) {}

  State initial() const;
  template <typename Visit>
  void successors(const State& state, Visit&& visit) const;
  State canonical(const State& state) const;
  const char* violation(const State& state) const;
  std::string text(const State& before, Step step, const State& after) const;

 private:
  class Expansion;
  class Visitor;

  void expand(const State& state, Visitor& visitor) const;

  const Rules rules_;
  const Bounds bounds_;
};

class Model::Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void next(Step step, const State& state) = 0;
};

template <typename Visit>
void Model::successors(const State& state, Visit&& visit) const {
  struct Each final : Visitor {
    explicit Each(Visit& visits) : each(visits) {}
    void next(Step step, const State& next) override { each(step, next); }
    Visit& each;
  } visitor(visit);
  expand(state, visitor);
}

}  // namespace turntable::model::farreach
