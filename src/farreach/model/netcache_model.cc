// Who may do what, and when.
//
// What is left out because it adds nothing is as in farreach_model.cc. Besides:
//  - A value update is acknowledged when it reaches the switch; one that is sent again is one that
//    comes twice. Later acknowledgements only hold writes back longer.
//  - What the agent tells the controller is with it at once: one connection keeps its order.
#include "farreach/model/netcache_model.h"

#include <algorithm>

#include "farreach/model/netcache_rack.h"

namespace turntable::model::netcache {

using What = Step::What;

class Model::Expansion {
 public:
  Expansion(const State& from, const Rules& rules, const Bounds& bounds, Visitor& visitor)
      : from_(from), rules_(rules), bounds_(bounds), visitor_(visitor) {}

  void all() {
    for (Byte client = 0; client < kClients; ++client) {
      if (from_.clients[client].busy) {
        again(client);
      } else if (from_.operations > 0 && from_.is_serving) {
        invoke(client);
      }
    }
    data_plane();
    servers();
    controller();
    if (from_.is_serving) {
      agent();
    } else {
      recovery();
    }
    crashes();
  }

 private:
  // One step: `change` is what it does.
  template <typename Change>
  void step(Step step, Change&& change) {
    State next = from_;
    Rack rack(next, rules_);
    change(rack, next);
    visitor_.next(step, next);
  }

  // One step, and those in which what it sends gets lost.
  template <typename Change>
  void with_losses(Step what, const State& from, Change&& change) {
    for (const Loses loses : {Loses::kNothing, Loses::kWrite, Loses::kAnswer}) {
      State next = from;
      if (loses != Loses::kNothing) {
        if (from.faults == 0) return;
        --next.faults;
      }
      Rack rack(next, rules_);
      rack.lose(loses);
      change(rack);
      if (loses != Loses::kNothing && !rack.has_made(loses)) continue;
      what.loses = loses;
      next.copies.sort();
      visitor_.next(what, next);
    }
  }

  // --- Clients ---

  void invoke(Byte client) {
    const Byte name = static_cast<Byte>(bounds_.operations - from_.operations + 1);
    for (Byte key = 0; key < kKeys; ++key) {
      for (const Does does : {Does::kGet, Does::kPut, Does::kLargePut}) {
        if (!is_planned(bounds_, name - 1U, key, does)) continue;
        const Byte write = name_of(does, name);
        State next = from_;
        --next.operations;
        const Request request = Rack(next, rules_).invoke(client, key, write);
        arrive({.what = What::kInvoke, .key = key, .client = client, .detail = write}, next,
               request);
      }
    }
  }

  // Without a fault if nothing is left of what was sent before: that was one. So is a late rest.
  void again(Byte client) {
    const Byte cost = is_under_way(client) ? 1 : 0;
    if (from_.faults < cost) return;
    State next = from_;
    next.faults -= cost;
    Rack rack(next, rules_);
    const Request request = rack.retry(client);
    if (from_.is_serving) {
      arrive({.what = What::kRetry, .key = request.key, .client = client, .detail = request.write},
             next, request);
    }
    if (from_.operations == 0) return;
    rack.give_up(client);
    visitor_.next({.what = What::kGiveUp, .client = client}, next);
  }

  bool is_under_way(Byte client) const {
    const auto is_in = [=](const auto& packets) {
      return std::any_of(packets.begin(), packets.end(), [=](const auto& packet) {
        return packet.client == client && packet.current;
      });
    };
    return is_in(from_.copies) || std::ranges::any_of(from_.queues, is_in) ||
           std::ranges::any_of(from_.links, is_in);
  }

  // --- Data network ---

  void data_plane() {
    for (Byte i = 0; from_.is_serving && i < from_.copies.size(); ++i) {
      const Request request = from_.copies.items[i];
      State next = from_;
      next.copies.remove(i);
      arrive({.what = What::kArrive,
              .key = request.key,
              .client = request.client,
              .detail = request.write},
             next, request);
    }
    for (Byte key = 0; key < kKeys; ++key) {
      if (!from_.queues[key].empty()) {
        State next = from_;
        const Queued packet = next.queues[key].pop();
        pass({.what = What::kLeaveQueue, .key = key, .client = packet.client}, next, packet);
      }
      if (from_.is_serving && !from_.updates[key].empty()) update(key);
    }
  }

  // Of `with_request` on: the request, and with a fault a copy that stays in the network.
  void arrive(Step arrival, const State& with_request, const Request& request) {
    const Queued packet = at_ingress(from_, request);
    pass_or_wait(arrival, with_request, packet);
    // A GET that comes twice is two GETs, of which one counts.
    if (with_request.faults == 0 || !bounds_.repeats || request.write == 0) return;
    State with_copy = with_request;
    --with_copy.faults;
    with_copy.copies.push(request);
    pass_or_wait(arrival, with_copy, packet);
  }

  void update(Byte key) {
    const Queued packet = at_ingress(from_, from_.updates[key].front(), key);
    State next = from_;
    next.updates[key].pop();
    pass_or_wait({.what = What::kUpdate, .key = key}, next, packet);
    if (from_.faults == 0 || !bounds_.repeats) return;
    next = from_;
    --next.faults;
    pass_or_wait({.what = What::kUpdate, .key = key, .detail = 1}, next, packet);
  }

  void pass_or_wait(Step arrival, State from, const Queued& packet) {
    if (from_.queues[arrival.key].empty()) pass(arrival, from, packet);
    if (from_.queues[arrival.key].size() == 2 || !agent_changes_lookup_of(from_, arrival.key)) {
      return;
    }
    from.queues[arrival.key].push(packet);
    from.copies.sort();
    visitor_.next(arrival, from);
  }

  void pass(Step arrival, const State& from, const Queued& packet) {
    with_losses(arrival, from, [=](Rack& rack) { rack.egress(arrival.key, packet); });
  }

  void servers() {
    for (Byte key = 0; key < kKeys; ++key) {
      State copy = from_;
      const Rack rack(copy, rules_);
      if (rack.may_serve(key)) {
        with_losses({.what = What::kServe, .key = key}, from_,
                    [=](Rack& serving) { serving.serve(key); });
      } else if (rack.wants_eviction(key)) {
        step({.what = What::kAskEviction, .key = key},
             [=](Rack& asking, State&) { asking.ask_eviction(key); });
      }
      if (from_.parts > 0 && rack.may_keep_part(key)) {
        step({.what = What::kServe, .key = key, .detail = 1}, [=](Rack& keeping, State& next) {
          --next.parts;
          keeping.keep_part(key);
        });
      }
      const auto partial = static_cast<Byte>(from_.partial[key].size());
      for (Byte part = 0; part < partial; ++part) rest(key, part, rack);
    }
  }

  void rest(Byte key, Byte part, const Rack& rack) {
    if (rack.may_complete(key, part)) {
      with_losses({.what = What::kRest, .key = key, .detail = part}, from_,
                  [=](Rack& serving) { serving.complete(key, part); });
    } else if (rack.wants_eviction(key, part)) {
      step({.what = What::kAskEviction, .key = key, .detail = static_cast<Byte>(part + 1)},
           [=](Rack& asking, State&) { asking.ask_eviction(key); });
    }
    step({.what = What::kForget, .key = key, .detail = part},
         [=](Rack& serving, State&) { serving.forget(key, part); });
  }

  // --- Control plane ---

  void controller() {
    State copy = from_;
    const Rack rack(copy, rules_);
    const bool has_server = from_.server_is_up && from_.hello != 1;
    if (has_server && !from_.messages.empty()) {
      step({.what = What::kMessage, .key = from_.messages.front().key},
           [](Rack& telling, State&) { telling.take_message(); });
      if (from_.faults > 0 && bounds_.repeats && from_.hello == 0) {
        step({.what = What::kMessage, .key = from_.messages.front().key, .detail = 1},
             [](Rack& telling, State& next) {
               --next.faults;
               telling.take_message_and_break();
             });
      }
    }
    if (rack.may_answer_hello()) {
      step({.what = What::kHello}, [](Rack& telling, State&) { telling.answer_hello(); });
    }
    for (Byte key = 0; key < kKeys; ++key) {
      const bool is_there =
          from_.owner == key + 1 || (from_.agent != Agent::kIdle && from_.agent_key == key);
      if (is_there || from_.admissions_left == 0 || from_.hello != 0 || !from_.is_serving ||
          from_.admissions[key].stage != Stage::kNone) {
        continue;
      }
      step({.what = What::kHot, .key = key}, [=](Rack& reporting, State& next) {
        --next.admissions_left;
        reporting.report_hot(key);
      });
    }
  }

  void agent() {
    State copy = from_;
    const Rack rack(copy, rules_);
    if (agent_may_go_on(from_)) {
      step({.what = What::kAgent}, [](Rack& going, State&) { going.agent_goes_on(); });
    }
    for (Byte key = 0; key < kKeys; ++key) {
      if (rack.may_admit(key) && from_.queues[key].empty()) {
        step({.what = What::kAgent, .key = key, .detail = 1},
             [=](Rack& admitting, State&) { admitting.admit(key); });
      }
      if (rack.may_answer_eviction(key)) {
        step({.what = What::kAgent, .key = key, .detail = 2},
             [=](Rack& evicting, State&) { evicting.answer_eviction(key); });
      }
    }
    if (from_.agent == Agent::kIdle && from_.owner != 0 && from_.queues[from_.owner - 1].empty()) {
      evict();
    }
  }

  // Because a server asks for it, to make room, or because a smaller cache was asked for.
  void evict() {
    const bool is_asked = from_.evict[from_.owner - 1] != 0;
    const bool makes_room = from_.admissions[2 - from_.owner].stage == Stage::kAdmit;
    const Byte cost = is_asked || makes_room ? 0 : 1;
    if (from_.evictions < cost) return;
    step({.what = What::kAgent, .key = static_cast<Byte>(from_.owner - 1), .detail = 3},
         [=](Rack& evicting, State& next) {
           next.evictions -= cost;
           evicting.begin_eviction();
         });
  }

  // --- Faults and recovery ---

  template <typename Change>
  void crash(What what, Byte State::*left, Change&& change) {
    if (from_.crashes == 0 || from_.*left == 0) return;
    step({.what = what}, [&](Rack& rack, State& next) {
      --next.crashes;
      --(next.*left);
      change(rack);
    });
  }

  void crashes() {
    crash(What::kCrashSwitch, &State::switch_crashes, [](Rack& rack) { rack.crash_switch(); });
    crash(What::kCrashController, &State::controller_crashes,
          [](Rack& rack) { rack.crash_controller(); });
    if (from_.is_serving) {
      crash(What::kCrashAgent, &State::agent_crashes, [](Rack& rack) { rack.crash_agent(); });
    }
    if (from_.server_is_up) {
      crash(What::kCrashServer, &State::server_crashes, [](Rack& rack) { rack.crash_server(); });
      return;
    }
    const bool nothing_waits = from_.links[0].empty() && from_.links[1].empty();
    for (const Byte keeps : {Byte{1}, Byte{0}}) {
      if (!keeps && nothing_waits) continue;
      step({.what = What::kStartServer, .detail = keeps},
           [=](Rack& rack, State&) { rack.start_server(keeps != 0); });
    }
  }

  void recovery() {
    if (!from_.server_is_up && from_.recovery != Recovery::kRestore) return;
    const Byte choices = from_.recovery == Recovery::kFetch ? kKeys : 1;
    for (Byte key = 0; key < choices; ++key) {
      step({.what = What::kRecover, .key = key}, [=](Rack& rack, State&) { rack.recover(key); });
    }
  }

  const State& from_;
  const Rules& rules_;
  const Bounds& bounds_;
  Visitor& visitor_;
};

void Model::expand(const State& state, Visitor& visitor) const {
  Expansion(state, rules_, bounds_, visitor).all();
}

// Nothing is cached.
State Model::initial() const {
  State state{};
  const auto count = [](unsigned value) { return static_cast<Byte>(value); };
  state.operations = count(bounds_.operations);
  state.faults = count(bounds_.faults);
  state.parts = count(bounds_.parts);
  state.crashes = count(bounds_.crashes);
  state.switch_crashes = count(bounds_.switch_crashes);
  state.server_crashes = count(bounds_.server_crashes);
  state.agent_crashes = count(bounds_.agent_crashes);
  state.controller_crashes = count(bounds_.controller_crashes);
  state.admissions_left = count(bounds_.admissions);
  state.evictions = count(bounds_.evictions);
  state.is_serving = state.server_is_up = state.knows_cached = 1;
  return state;
}

const char* Model::violation(const State& state) const {
  switch (static_cast<Wrong>(state.wrong)) {
    case Wrong::kOldRead:
      return "a read has answered an older record than one that had been answered before it began";
    case Wrong::kOldNumber:
      return "a write has got a number that is not larger than those that were answered before";
    case Wrong::kTwins:
      return "two writes of a key have been answered with the same number";
    default:
      break;
  }
  for (unsigned key = 0; key < kKeys; ++key) {
    const auto read = would_read(state, key);
    if (read && is_older(*read, state.floors[key])) {
      return "a read now would not answer the newest record that was answered before";
    }
  }
  return nullptr;
}

}  // namespace turntable::model::netcache
