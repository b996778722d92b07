// NetCache as an explicit-state model (docs/kvcache-model.md), to be searched whole (search.h).
#pragma once

#include <string>

#include "farreach/model/netcache_state.h"

namespace turntable::model::netcache {

// Each closes a hole: a search without it must find a counterexample.
struct Rules {
  bool update_needs_its_number = true;  // of the write that superseded the slot
  bool marks_hold_writes = true;        // from FETCH to SETTLED
  bool early_writes_wait = true;        // those that passed before the key was there: EVICT first
  bool late_writes_are_early = true;    // ... also those of an earlier admission
  bool whole_writes_wait = true;        // what these three say is looked at when all parts are here
  bool new_server_waits = true;         // executes no write before it knows what is cached
  bool open_admissions_end_first = true;  // ... which it is told when none is under way any more
  bool admissions_end_with_controller = true;  // those that have no slot yet
  bool slot_is_drained = true;
  bool writes_are_fenced = true;
  bool rest_is_fenced = true;  // also of a write whose first part had come before the fence
  bool fence_is_kept = true;
  bool fence_counts = true;
  bool numbers_are_left_out = true;
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
    kAskEviction,
    kUpdate,
    kHot,
    kMessage,
    kHello,
    kAgent,
    kCrashSwitch,
    kCrashServer,
    kStartServer,
    kCrashAgent,
    kCrashController,
    kRecover,
  };
  What what;
  Byte key = 0;
  Byte client = 0;
  Byte detail = 0;
  Loses loses = Loses::kNothing;
};

class Model {
 public:
  using State = netcache::State;
  using Step = netcache::Step;

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

}  // namespace turntable::model::netcache
