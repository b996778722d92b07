// Who may do what, and when.
//
// What is left out because it adds nothing:
//  - A request is invoked when it reaches the switch, and an answer is taken when it is given.
//  Later
//    invocations and earlier answers only demand more of what is read, and copies that are kept
//    earlier are released earlier. So the network between clients and switch holds nothing but the
//    requests that it delivers twice. (Of two answers to one request the second counts as stale;
//    that the first is overtaken counts as its loss.)
//  - A GET that is lost has changed nothing, and a fill that is lost is one that never comes.
//  - A packet waits between ingress and egress only if cache_lookup or the flag may change before
//    egress: ingress looks nothing else up, so in all other cases the two might as well happen
//    together. Frames of the agent wait for what is in the queue before them.
//  - Only the first part of a large write changes anything in the switch, so the rest is nothing
//    until it completes the write at the server. What comes before the first part needs no waiting.
//  - DEL does what a small PUT does in every rule.
#include "farreach/model/farreach_model.h"

#include <algorithm>
#include <cstring>

#include "farreach/model/farreach_rack.h"

namespace turntable::model::farreach {

using What = Step::What;

class Model::Expansion {
 public:
  Expansion(const State& from, const Rules& rules, const Bounds& bounds, Visitor& visitor)
      : from_(from), rules_(rules), bounds_(bounds), visitor_(visitor) {}

  void all() {
    clients();
    data_plane();
    agent();
    snapshots();
    crashes();
    if (!from_.is_serving) recovery();
  }

 private:
  // One step: `change` is what it does.
  template <typename Change>
  void step(Step step, Change&& change) {
    State next = from_;
    Rack rack(next, rules_);
    change(rack, next);
    next.copies.sort();
    visitor_.next(step, next);
  }

  void clients() {
    for (Byte index = 0; index < kClients; ++index) {
      const Client& client = from_.clients[index];
      if (!client.busy) {
        if (from_.operations > 0 && from_.is_serving) invoke(index);
      } else {
        again(index);
      }
      if (client.lists.empty()) continue;
      step({.what = What::kList, .client = index},
           [&](Rack& rack, State&) { rack.take_list(index); });
    }
  }

  void invoke(Byte client) {
    const Byte name = static_cast<Byte>(bounds_.operations - from_.operations + 1);
    for (Byte key = 0; key < kKeys; ++key) {
      for (const Does does : {Does::kGet, Does::kPut, Does::kLargePut}) {
        if (!is_planned(bounds_, name - 1U, key, does)) continue;
        const Byte write = name_of(does, name);
        State next = from_;
        --next.operations;
        if (bounds_.cuts && write != 0) next.other_floor[name] = next.floors[1 - key].number;
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
           std::ranges::any_of(from_.links, is_in) || std::ranges::any_of(from_.fills, is_in);
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
      if (from_.server_is_up && !from_.links[key].empty()) {
        with_losses({.what = What::kServe, .key = key}, from_,
                    [=](Rack& rack) { rack.serve(key); });
      }
      if (from_.server_is_up) parts(key);
      if (from_.is_serving && !from_.fills[key].empty()) fill(key);
    }
  }

  void parts(Byte key) {
    const ToServer& first = from_.links[key].front();
    const bool is_write = static_cast<Form>(first.form) == Form::kWrite;
    if (from_.parts > 0 && is_write && is_large(first.record.write)) {
      step({.what = What::kServe, .key = key, .detail = 1}, [=](Rack& rack, State& next) {
        --next.parts;
        rack.keep_part(key);
      });
    }
    const auto partial = static_cast<Byte>(from_.partial[key].size());
    for (Byte part = 0; part < partial; ++part) {
      with_losses({.what = What::kRest, .key = key, .detail = part}, from_,
                  [=](Rack& rack) { rack.complete(key, part); });
      step({.what = What::kForget, .key = key, .detail = part},
           [=](Rack& rack, State&) { rack.forget(key, part); });
    }
  }

  // Of `with_request` on: the request, and with a fault a copy that stays in the network.
  void arrive(Step arrival, const State& with_request, const Request& request) {
    const Queued packet = at_ingress(from_, request);
    State with_copy = with_request;
    const bool may_repeat = with_request.faults > 0 && bounds_.repeats;
    if (may_repeat) {
      --with_copy.faults;
      with_copy.copies.push(request);
    }
    if (from_.queues[request.key].empty()) {
      pass(arrival, with_request, packet);
      if (may_repeat) pass(arrival, with_copy, packet);
    }
    if (may_wait(request.key, /*looks_for_flag=*/true)) {
      wait(arrival, with_request, packet);
      if (may_repeat) wait(arrival, with_copy, packet);
    }
  }

  void fill(Byte key) {
    const Queued packet = at_ingress(from_, from_.fills[key].front(), key);
    State next = from_;
    next.fills[key].pop();
    const Step arrival{.what = What::kFill, .key = key, .client = packet.client};
    if (from_.queues[key].empty()) pass(arrival, next, packet);
    if (may_wait(key, /*looks_for_flag=*/false)) wait(arrival, next, packet);
  }

  bool may_wait(Byte key, bool looks_for_flag) const {
    const bool flag_changes =
        from_.leading == Leading::kPoint ||
        (from_.leading == Leading::kFinish && from_.taking == Taking::kTaking);
    return from_.queues[key].size() < 2 &&
           (agent_changes_lookup_of(from_, key) || (looks_for_flag && flag_changes));
  }

  void wait(Step arrival, State next, const Queued& packet) {
    next.queues[arrival.key].push(packet);
    next.copies.sort();
    visitor_.next(arrival, next);
  }

  void pass(Step arrival, const State& from, const Queued& packet) {
    with_losses(arrival, from, [=](Rack& rack) { rack.egress(arrival.key, packet); });
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

  // --- Control plane ---

  void agent() {
    if (!from_.is_serving) {
      late_store();
      return;
    }
    if (agent_may_go_on(from_)) {
      step({.what = What::kAgent}, [](Rack& rack, State&) { rack.agent_goes_on(); });
    }
    late_store();
    if (from_.agent != Agent::kIdle || from_.taking == Taking::kBegun) return;
    if (from_.owner == 0 && from_.admissions > 0) {
      for (Byte key = 0; key < kKeys; ++key) {
        if (!from_.queues[key].empty()) continue;
        step({.what = What::kAgent, .key = key}, [&](Rack& rack, State& next) {
          --next.admissions;
          rack.begin_admission(key);
        });
      }
    }
    if (from_.owner != 0 && from_.evictions > 0 && from_.queues[from_.owner - 1].empty()) {
      step({.what = What::kAgent}, [](Rack& rack, State& next) {
        --next.evictions;
        rack.begin_eviction();
      });
    }
  }

  void late_store() {
    if (from_.store_key == 0 || from_.agent == Agent::kStore || !from_.server_is_up) return;
    step({.what = What::kAgent, .key = static_cast<Byte>(from_.store_key - 1), .detail = 1},
         [](Rack& rack, State&) { rack.store_late(); });
  }

  void snapshots() {
    if (from_.snapshots > 0)
      attempt(1, [](Rack& rack, State& next) {
        --next.snapshots;
        return rack.begin_snapshot();
      });
    const bool waits_for_servers =
        bounds_.cuts && std::ranges::any_of(from_.partition_token,
                                            [&](Byte token) { return token != from_.snapshot; });
    const bool may_save =
        from_.recovery == Recovery::kNone || !rules_.snapshots_keep_to_their_epoch;
    if ((from_.leading != Leading::kFinish || !waits_for_servers) &&
        (from_.leading != Leading::kSave || may_save)) {
      attempt(2, [](Rack& rack, State&) { return rack.lead(); });
    }
    attempt(3, [](Rack& rack, State&) { return rack.load_for_snapshot(); });
    if (bounds_.cuts) attempt(4, [](Rack& rack, State&) { return rack.start_servers(); });
  }

  template <typename Change>
  void attempt(Byte detail, Change&& change) {
    State next = from_;
    Rack rack(next, rules_);
    if (change(rack, next)) visitor_.next({.what = What::kSnapshot, .detail = detail}, next);
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
    for (const Byte keeps : {Byte{1}, Byte{0}}) {
      const bool same = from_.links[0].empty() && from_.links[1].empty();
      if (!keeps && same) continue;
      step({.what = What::kStartServer, .detail = keeps},
           [=](Rack& rack, State&) { rack.start_server(keeps != 0); });
    }
  }

  void recovery() {
    if (from_.recovery == Recovery::kNone) {
      step({.what = What::kRecover}, [](Rack& rack, State&) { rack.begin_recovery(); });
    } else if (from_.recovery == Recovery::kCollect) {
      for (Byte client = 0; client < kClients; ++client) {
        if ((from_.collected_from >> client & 1U) != 0) continue;
        step({.what = What::kRecover, .client = client},
             [=](Rack& rack, State&) { rack.collect(client); });
      }
    } else if (from_.server_is_up || from_.recovery == Recovery::kRestore) {
      const Byte choices = from_.recovery == Recovery::kFetch ? kKeys : 1;
      for (Byte key = 0; key < choices; ++key) {
        step({.what = What::kRecover, .key = key}, [=](Rack& rack, State&) { rack.recover(key); });
      }
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

// Warmed up: the first key has the slot, without a record.
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
  state.admissions = count(bounds_.admissions);
  state.evictions = count(bounds_.evictions);
  state.snapshots = count(bounds_.snapshots);
  state.is_serving = state.server_is_up = 1;
  state.owner = state.epoch = 1;
  state.lookup[0] = 1;
  state.slot.valid = 1;
  state.slot.cell = static_cast<Byte>(Cell::kAdmitted);
  state.slot.epoch = 1;
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
    case Wrong::kCut:
      return "the snapshot has a write, but not what had been answered before it was invoked";
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

}  // namespace turntable::model::farreach
