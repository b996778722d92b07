// Agent, snapshots, faults and recovery.
#include <algorithm>

#include "farreach/model/farreach_rack.h"

namespace turntable::model::farreach {
namespace {

// More than the numbers that a dead switch can have given and nobody has seen.
constexpr Byte kLeftOut = 8;

template <typename T>
void raise_to(T& value, T least) {
  value = std::max(value, least);
}

}  // namespace

// ---------------------------------------------------------------------------------------------
// Agent. Its frames pass the queue of the key's port: a step that sends one is done when all
// earlier packets have left that queue.

// ADMIT is done with the decision: no packet knows the slot yet.
void Rack::begin_admission(unsigned key) {
  s_.agent = Agent::kInsert;
  s_.agent_key = static_cast<Byte>(key);
  s_.slot = {.valid = 0,
             .cell = static_cast<Byte>(Cell::kAdmitted),
             .case1 = s_.slot.case1,
             .epoch = ++s_.epoch,
             .record = {}};
}

// SET_VALID 3 is done with the decision.
void Rack::begin_eviction() {
  s_.agent = Agent::kLoad;
  s_.agent_key = s_.owner - 1;
  s_.slot.valid = 3;
}

bool agent_may_go_on(const State& s) {
  switch (s.agent) {
    case Agent::kIdle:
      return false;
    case Agent::kStore:
      return s.server_is_up;
    case Agent::kInsert:
    case Agent::kRemove:
      return true;
    default:
      return s.queues[s.agent_key].empty();
  }
}

bool agent_changes_lookup_of(const State& s, unsigned key) {
  return (s.agent == Agent::kInsert || s.agent == Agent::kRemove) && s.agent_key == key;
}

void Rack::agent_goes_on() {
  const unsigned key = s_.agent_key;
  switch (s_.agent) {
    case Agent::kInsert:
      s_.lookup[key] = 1;
      s_.agent = Agent::kMakeValid;
      return;
    case Agent::kMakeValid:
      s_.slot.valid = 1;
      s_.owner = static_cast<Byte>(key + 1);
      break;
    case Agent::kLoad:
      return load_for_eviction();
    case Agent::kStore:
      snapshot_partition(key, s_.store_token);
      if (!rules_.stores_are_fenced || !is_fenced(s_.store)) store_record(key, s_.store);
      s_.store_key = s_.store_token = 0;
      s_.store = {};
      s_.agent = Agent::kMakeInvalid;
      return;
    case Agent::kMakeInvalid:
      s_.slot.valid = 0;
      s_.agent = Agent::kRemove;
      return;
    case Agent::kRemove:
      s_.lookup[key] = 0;
      s_.agent = Agent::kDrain;
      if (rules_.slot_is_drained) return;
      s_.owner = 0;
      break;
    default:
      s_.owner = 0;
      s_.slot = {.valid = 0, .cell = 0, .case1 = s_.slot.case1, .epoch = 0, .record = {}};
  }
  s_.agent = Agent::kIdle;
  s_.agent_key = 0;
}

void Rack::load_for_eviction() {
  const unsigned key = s_.agent_key;
  if (s_.taking == Taking::kTaking) see(key);
  const bool is_servers = !has_record(s_.slot) || s_.slot.record.number == 0;
  s_.agent = is_servers ? Agent::kMakeInvalid : Agent::kStore;
  if (is_servers) return;
  s_.store_key = static_cast<Byte>(key + 1);
  s_.store_token = s_.taking == Taking::kTaking ? s_.snapshot : 0;
  s_.store = s_.slot.record;
}

// A STORE whose agent has died is carried out by the controller all the same.
void Rack::store_late() {
  if (!rules_.stores_are_fenced || !is_fenced(s_.store)) store_record(s_.store_key - 1U, s_.store);
  s_.store_key = s_.store_token = 0;
  s_.store = {};
}

// ---------------------------------------------------------------------------------------------
// Snapshots

bool Rack::begin_snapshot() {
  if (s_.leading != Leading::kIdle) return false;
  if (rules_.snapshots_keep_to_their_epoch && s_.is_empty) return false;
  ++s_.snapshot;
  s_.leading = Leading::kBegin;
  s_.confirmed = 0;
  for (unsigned i = 0; i < kClients; ++i) {
    s_.confirmed |= static_cast<Byte>(s_.clients[i].tells << i);
  }
  return true;
}

// What the agent sees first of a key after the point.
void Rack::see(unsigned key) {
  if (s_.place != key + 1 || s_.seen) return;
  s_.seen = 1;
  s_.has_cut = has_record(s_.slot);
  s_.cut = s_.has_cut ? s_.slot.record : Record{};
}

bool Rack::load_for_snapshot() {
  if (s_.taking != Taking::kTaking || s_.place == 0 || s_.seen) return false;
  if (!s_.queues[s_.place - 1].empty()) return false;
  see(s_.place - 1U);
  return true;
}

bool Rack::start_servers() {
  if (s_.leading != Leading::kFinish || !s_.server_is_up) return false;
  if (std::ranges::all_of(s_.partition_token, [&](Byte token) { return token == s_.snapshot; })) {
    return false;
  }
  for (unsigned key = 0; key < kKeys; ++key) snapshot_partition(key, s_.snapshot);
  return true;
}

bool Rack::lead() {
  const auto is_unflagged = [](const auto& queue) {
    return std::none_of(queue.begin(), queue.end(), [](const Queued& p) { return p.token != 0; });
  };
  const bool are_unflagged = std::ranges::all_of(s_.queues, is_unflagged);
  switch (s_.leading) {
    case Leading::kIdle:
      return false;
    case Leading::kBegin:
      if (s_.agent != Agent::kIdle || !are_unflagged) return false;
      s_.place = s_.owner;
      s_.seen = s_.has_cut = 0;
      s_.cut = {};
      s_.taking = Taking::kBegun;
      s_.leading = Leading::kPoint;
      return true;
    case Leading::kPoint:
      s_.flag = s_.snapshot;
      s_.taking = Taking::kTaking;
      s_.leading = Leading::kFinish;
      return true;
    case Leading::kFinish:
      if (s_.taking == Taking::kTaking) {
        if (s_.place != 0 && !s_.seen) return false;
        s_.flag = 0;
        s_.taking = Taking::kFinishing;
        return true;
      }
      if (!are_unflagged) return false;
      s_.taking = Taking::kIdle;
      s_.leading = Leading::kSave;
      return true;
    default:
      save();
      return true;
  }
}

// The file, then the lists to the clients.
void Rack::save() {
  judge_cut();
  s_.file_key = s_.has_cut ? s_.place : 0;
  s_.file = s_.cut;
  for (unsigned i = 0; i < kClients; ++i) {
    s_.clients[i].lists.push({.used = 1,
                              .key = s_.file_key,
                              .confirmed = static_cast<Byte>(s_.confirmed >> i & 1U),
                              .spare = 0,
                              .number = s_.file.number});
    s_.clients[i].tells = 0;
  }
  give_up_snapshot();
}

// If a write is in the cut, so is all that was answered before it was invoked.
void Rack::judge_cut() {
  Record cut[kKeys];
  for (unsigned key = 0; key < kKeys; ++key) {
    cut[key] = s_.server_cut[key];
    if (s_.has_cut && s_.place == key + 1 && s_.cut.number > cut[key].number) cut[key] = s_.cut;
  }
  for (unsigned key = 0; key < kKeys; ++key) {
    const Byte before = s_.other_floor[cut[key].write & (kLarge - 1)];
    if (cut[1 - key].number < before) wrong(Wrong::kCut);
  }
}

void Rack::give_up_snapshot() {
  s_.leading = Leading::kIdle;
  s_.taking = Taking::kIdle;
  s_.flag = 0;
  s_.place = s_.seen = s_.has_cut = s_.confirmed = 0;
  s_.cut = {};
}

// ---------------------------------------------------------------------------------------------
// Faults

// With the agent's `configure fresh`, before which nothing can be done at the switch.
void Rack::crash_switch() {
  s_.slot = {};
  for (unsigned key = 0; key < kKeys; ++key) {
    s_.queues[key].clear();
    s_.lookup[key] = s_.numbers[key] = 0;
  }
  s_.agent = Agent::kIdle;
  s_.agent_key = s_.owner = s_.flag = s_.is_serving = 0;
  s_.is_empty = 1;
  s_.taking = Taking::kIdle;
  // A BEGIN that waits for the agent finds the new one; a cut that has left the old one is whole.
  const bool is_refused = s_.leading == Leading::kBegin && rules_.snapshots_keep_to_their_epoch;
  if (is_refused || s_.leading == Leading::kPoint || s_.leading == Leading::kFinish) {
    give_up_snapshot();
  }
  s_.recovery = Recovery::kNone;
  s_.collected_from = s_.largest = s_.restored_key = 0;
  s_.fetched = {};
  for (Record& record : s_.collected) record = {};
}

// Its snapshots are not those of the process that comes next.
void Rack::crash_server() {
  s_.server_is_up = 0;
  if (!rules_.fence_is_kept) s_.fence = 0;
  for (unsigned key = 0; key < kKeys; ++key) {
    s_.partial[key].clear();
    s_.partition_token[key] = 0;
    s_.server_cut[key] = {};
  }
  give_up_snapshot();
}

void Rack::start_server(bool with_what_waited) {
  s_.server_is_up = 1;
  if (with_what_waited) return;
  for (auto& link : s_.links) link.clear();
}

// With the start of the next, which goes on with what the switch has.
void Rack::crash_agent() {
  if (s_.leading != Leading::kBegin && s_.leading != Leading::kSave) give_up_snapshot();
  switch (s_.agent) {
    case Agent::kInsert:
      s_.agent = Agent::kIdle;
      s_.agent_key = 0;
      return;
    case Agent::kMakeValid:
      s_.agent = Agent::kRemove;
      return;
    case Agent::kStore:
    case Agent::kMakeInvalid:
      s_.agent = Agent::kLoad;
      return;
    default:
      return;
  }
}

// With the start of the next: the agent gives up the snapshot, clients are new to it.
void Rack::crash_controller() {
  give_up_snapshot();
  for (Client& client : s_.clients) {
    client.lists.clear();
    client.tells = 0;
  }
  if (s_.agent != Agent::kStore) {
    s_.store_key = s_.store_token = 0;
    s_.store = {};
  }
  s_.recovery = Recovery::kNone;
  s_.collected_from = s_.largest = s_.restored_key = 0;
  s_.fetched = {};
  for (Record& record : s_.collected) record = {};
}

// ---------------------------------------------------------------------------------------------
// Recovery

void Rack::merge(unsigned key, const Record& record) {
  if (record.number > s_.collected[key].number) s_.collected[key] = record;
}

void Rack::read_file() {
  if (s_.file_key != 0) merge(s_.file_key - 1U, s_.file);
}

void Rack::begin_recovery() {
  s_.recovery = Recovery::kCollect;
  if (!rules_.snapshots_keep_to_their_epoch) return;
  give_up_snapshot();
  read_file();
}

// An answer of the dead switch has reached the client before, or is lost.
void Rack::collect(unsigned index) {
  for (unsigned key = 0; key < kKeys; ++key) {
    if (s_.clients[index].copies[key].kept) merge(key, s_.clients[index].copies[key].record);
  }
  s_.collected_from |= static_cast<Byte>(1U << index);
  if (s_.collected_from != (1U << kClients) - 1) return;
  if (!rules_.snapshots_keep_to_their_epoch) read_file();  // as it was: last
  s_.collected_from = 0;
  s_.recovery = Recovery::kReplay;
}

void Rack::recover(unsigned key_to_fetch) {
  switch (s_.recovery) {
    case Recovery::kReplay:
      for (unsigned key = 0; key < kKeys; ++key) {
        if (!rules_.stores_are_fenced || !is_fenced(s_.collected[key])) {
          store_record(key, s_.collected[key]);
        }
      }
      s_.recovery = Recovery::kLargest;
      return;
    case Recovery::kLargest:
      for (unsigned key = 0; key < kKeys; ++key) {
        raise_to(s_.largest, s_.stores[key].number);
        raise_to(s_.largest, s_.collected[key].number);
        s_.collected[key] = {};
      }
      if (rules_.fence_counts) raise_to(s_.largest, s_.fence);
      s_.recovery = Recovery::kFence;
      return;
    case Recovery::kFence:
      if (rules_.numbers_are_left_out) s_.largest += kLeftOut;
      raise_to(s_.fence, s_.largest);
      for (Byte& number : s_.numbers) number = s_.largest;
      s_.largest = 0;
      s_.recovery = Recovery::kFetch;
      return;
    case Recovery::kFetch:
      s_.fetched = s_.stores[key_to_fetch];
      s_.restored_key = static_cast<Byte>(key_to_fetch);
      s_.recovery = Recovery::kRestore;
      return;
    default:
      restore();
  }
}

// And the forwarding tables. A large value's slot is ADMITTED, as one whose record is not known.
void Rack::restore() {
  const bool is_known = !is_large(s_.fetched.write);
  const Cell cell = is_known ? Cell::kLatest : Cell::kAdmitted;
  s_.slot = {.valid = 1,
             .cell = static_cast<Byte>(cell),
             .case1 = 0,
             .epoch = is_known ? Byte{0} : ++s_.epoch,
             .record = is_known ? s_.fetched : Record{}};
  s_.lookup[s_.restored_key] = 1;
  s_.owner = static_cast<Byte>(s_.restored_key + 1);
  if (s_.leading != Leading::kBegin && s_.leading != Leading::kSave) give_up_snapshot();
  s_.is_empty = 0;
  s_.is_serving = 1;
  s_.recovery = Recovery::kNone;
  s_.restored_key = 0;
  s_.fetched = {};
}

}  // namespace turntable::model::farreach
