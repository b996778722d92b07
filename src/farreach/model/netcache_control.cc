// Controller, agent, faults and recovery.
#include <algorithm>

#include "farreach/model/netcache_rack.h"

namespace turntable::model::netcache {
namespace {

// More than the numbers that a dead switch can have given and nobody has seen.
constexpr Byte kLeftOut = 8;

}  // namespace

// ---------------------------------------------------------------------------------------------
// Controller

void Rack::report_hot(unsigned key) {
  s_.admissions[key].stage = Stage::kFetch;
  s_.messages.push({.type = Type::kFetch, .key = static_cast<Byte>(key), .id = 0, .number = 0});
}

// What is said of admissions does not wait for a server: the next is told what is cached.
void Rack::tell_server(const Message& message) {
  if (s_.hello == 0 || message.type == Type::kSettled) s_.messages.push(message);
}

void Rack::take_message() {
  const Message message = s_.messages.pop();
  switch (message.type) {
    case Type::kFetch:
      s_.keys[message.key] = {.known = Known::kMarked, .id = 0, .number = 0};
      if (s_.admissions[message.key].stage != Stage::kFetch) return;
      s_.admissions[message.key] = {.stage = Stage::kAdmit, .record = s_.stores[message.key]};
      return;
    case Type::kSettled:
      return settle(message);
    case Type::kEvicted:
      return evicted(message);
    case Type::kEvictAnswer: {
      KeyState& state = s_.keys[message.key];
      if (state.known == Known::kEvicting && state.id == message.id) state = {};
      return;
    }
    default:  // the answer to HELLO
      for (Byte key = 0; key < kKeys; ++key) {
        const bool is_there = message.key == key + 1;
        const bool is_leaving =
            s_.keys[key].known == Known::kEvicting && s_.keys[key].id == message.id;
        s_.keys[key] = is_there ? KeyState{is_leaving ? Known::kEvicting : Known::kCached,
                                           message.id, message.number}
                                : KeyState{};
        if (s_.keys[key].known != Known::kEvicting) s_.evict[key] = 0;
      }
      s_.knows_cached = 1;
      s_.hello = 0;
  }
}

void Rack::take_message_and_break() {
  const Message message = s_.messages.front();
  const Admission admission = s_.admissions[message.key];
  const auto messages = s_.messages;
  take_message();
  s_.messages = messages;
  if (message.type == Type::kFetch) s_.admissions[message.key] = admission;
  s_.hello = 1;
}

void Rack::settle(const Message& message) {
  KeyState& state = s_.keys[message.key];
  if (state.known != Known::kMarked) return;
  const bool has_ended = state.id != 0 && state.id >= message.id;
  state = message.id == 0 || has_ended
              ? KeyState{}
              : KeyState{.known = Known::kCached, .id = message.id, .number = message.number};
}

void Rack::evicted(const Message& message) {
  KeyState& state = s_.keys[message.key];
  if (state.known == Known::kNothing) return;
  if (state.id != 0 && message.id < state.id) return;
  if (state.known == Known::kMarked) {
    state.id = message.id;
  } else {
    state = {};
  }
}

bool Rack::may_answer_hello() const {
  const auto is_open = [](const Admission& admission) {
    return admission.stage == Stage::kAdmit || admission.stage == Stage::kEntering;
  };
  return s_.hello == 1 && s_.server_is_up &&
         !(rules_.open_admissions_end_first && std::ranges::any_of(s_.admissions, is_open));
}

// What has a slot, also on its way in or out. Goes before what the server was asked before.
void Rack::answer_hello() {
  const Byte key = s_.agent == Agent::kIdle ? s_.owner : static_cast<Byte>(s_.agent_key + 1);
  const auto others = s_.messages;
  s_.messages.clear();
  s_.messages.push({.type = Type::kCached,
                    .key = key,
                    .id = key == 0 ? Byte{0} : s_.slot_id,
                    .number = key == 0 ? Byte{0} : s_.slot_number});
  for (const Message& message : others) s_.messages.push(message);
  s_.hello = 2;
}

// ---------------------------------------------------------------------------------------------
// Agent. Its frames pass the queue of the key's port: a step that sends one is done when all
// earlier packets have left that queue.

bool agent_changes_lookup_of(const State& s, unsigned key) {
  return (s.agent == Agent::kInsert || s.agent == Agent::kRemove) && s.agent_key == key;
}

bool agent_may_go_on(const State& s) {
  if (s.agent == Agent::kIdle) return false;
  return agent_changes_lookup_of(s, s.agent_key) || s.queues[s.agent_key].empty();
}

bool Rack::may_admit(unsigned key) const {
  const Stage stage = s_.admissions[key].stage;
  return (stage == Stage::kAdmit || stage == Stage::kOrphan) && s_.agent == Agent::kIdle &&
         (s_.owner == 0 || s_.owner == key + 1);
}

// The number is read before any packet can find the key here.
void Rack::admit(unsigned key) {
  Admission& admission = s_.admissions[key];
  if (s_.owner == key + 1) {
    if (admission.stage == Stage::kAdmit) {
      tell_server({Type::kSettled, static_cast<Byte>(key), s_.slot_id, s_.slot_number});
    }
    admission = {};
    return;
  }
  const bool is_served = !is_large(admission.record.write);
  s_.slot = {.valid = 0,
             .is_latest = is_served,
             .spare = 0,
             .record = is_served ? admission.record : Record{}};
  s_.slot_id = ++s_.last_id;
  s_.slot_number = is_served ? s_.numbers[key] : 0;
  s_.agent = Agent::kInsert;
  s_.agent_key = static_cast<Byte>(key);
  const bool has_controller = admission.stage == Stage::kAdmit;
  admission = has_controller ? Admission{Stage::kEntering, admission.record} : Admission{};
}

bool Rack::may_answer_eviction(unsigned key) const {
  const bool is_in_transit = s_.agent != Agent::kIdle && s_.agent_key == key;
  return s_.evict[key] != 0 && s_.owner != key + 1 && !is_in_transit;
}

void Rack::answer_eviction(unsigned key) {
  tell_server({Type::kEvictAnswer, static_cast<Byte>(key), s_.evict[key], 0});
  s_.evict[key] = 0;
}

// SET_VALID 0, after which the slot answers nothing any more, is done with the decision.
void Rack::begin_eviction() {
  s_.agent = Agent::kRemove;
  s_.agent_key = s_.owner - 1;
  s_.owner = 0;
  s_.slot.valid = 0;
  tell_server({Type::kEvicted, s_.agent_key, s_.slot_id, 0});
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
      if (s_.admissions[key].stage == Stage::kEntering) {
        tell_server({Type::kSettled, s_.agent_key, s_.slot_id, s_.slot_number});
        s_.admissions[key] = {};
      }
      break;
    case Agent::kRemove:
      s_.lookup[key] = 0;
      s_.agent = Agent::kDrain;
      if (rules_.slot_is_drained) return;
      break;
    default:
      s_.slot = {};
      s_.slot_id = s_.slot_number = 0;
  }
  s_.agent = Agent::kIdle;
  s_.agent_key = 0;
}

// ---------------------------------------------------------------------------------------------
// Faults

// With the agent's `configure fresh`. ADMIT that it had not answered comes again.
void Rack::crash_switch() {
  s_.slot = {};
  for (unsigned key = 0; key < kKeys; ++key) {
    s_.queues[key].clear();
    s_.lookup[key] = s_.numbers[key] = 0;
    if (s_.admissions[key].stage == Stage::kEntering) s_.admissions[key].stage = Stage::kAdmit;
  }
  s_.agent = Agent::kIdle;
  s_.agent_key = s_.owner = s_.slot_id = s_.slot_number = s_.is_serving = 0;
  s_.recovery = Recovery::kNone;
  s_.largest = s_.restored_key = 0;
  s_.fetched = {};
}

void Rack::crash_server() {
  s_.server_is_up = s_.knows_cached = 0;
  s_.hello = rules_.new_server_waits ? 1 : 0;
  if (!rules_.fence_is_kept) s_.fence = 0;
  for (unsigned key = 0; key < kKeys; ++key) {
    s_.partial[key].clear();
    s_.pending[key] = s_.evict[key] = 0;
    s_.keys[key] = {};
  }
  for (std::size_t i = s_.messages.size(); i-- > 0;) {
    const Type type = s_.messages.items[i].type;
    if (type == Type::kEvictAnswer || type == Type::kCached) s_.messages.remove(i);
  }
}

void Rack::start_server(bool with_what_waited) {
  s_.server_is_up = 1;
  if (!rules_.new_server_waits) s_.knows_cached = 1;
  if (with_what_waited) return;
  for (auto& link : s_.links) link.clear();
}

// With the start of the next, to which ADMIT and EVICT come again.
void Rack::crash_agent() {
  const unsigned key = s_.agent_key;
  if (s_.agent == Agent::kInsert || s_.agent == Agent::kMakeValid) {
    if (s_.admissions[key].stage == Stage::kEntering) s_.admissions[key].stage = Stage::kAdmit;
  }
  if (s_.agent == Agent::kInsert) {
    s_.agent = Agent::kIdle;
    s_.agent_key = 0;
    s_.slot = {};
    s_.slot_id = s_.slot_number = 0;
    return;
  }
  if (s_.owner == 0 && s_.agent == Agent::kIdle) return;
  const unsigned cached = s_.owner != 0 ? s_.owner - 1U : key;
  s_.slot_id = ++s_.last_id;
  s_.slot_number = s_.numbers[cached];
  if (s_.agent == Agent::kMakeValid) s_.agent = Agent::kRemove;
  if (s_.agent == Agent::kRemove) {
    tell_server({Type::kEvicted, s_.agent_key, s_.slot_id, 0});
  }
}

// With the start of the next: the server says HELLO again. An admission that has its slot goes on.
void Rack::crash_controller() {
  for (Admission& admission : s_.admissions) {
    const bool waits = admission.stage == Stage::kAdmit || admission.stage == Stage::kOrphan;
    if (!waits || rules_.admissions_end_with_controller) admission = {};
    if (waits && !rules_.admissions_end_with_controller) admission.stage = Stage::kOrphan;
  }
  s_.messages.clear();
  s_.hello = rules_.new_server_waits ? 1 : 0;
  s_.recovery = Recovery::kNone;
  s_.largest = s_.restored_key = 0;
  s_.fetched = {};
}

// ---------------------------------------------------------------------------------------------
// Recovery

void Rack::recover(unsigned key_to_fetch) {
  switch (s_.recovery) {
    case Recovery::kNone:
      for (const Record& record : s_.stores) s_.largest = std::max(s_.largest, record.number);
      if (rules_.fence_counts) s_.largest = std::max(s_.largest, s_.fence);
      s_.recovery = Recovery::kFence;
      return;
    case Recovery::kFence:
      if (rules_.numbers_are_left_out) s_.largest += kLeftOut;
      s_.fence = std::max(s_.fence, s_.largest);
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

// And the forwarding tables.
void Rack::restore() {
  const bool is_served = !is_large(s_.fetched.write);
  s_.slot = {
      .valid = 1, .is_latest = is_served, .spare = 0, .record = is_served ? s_.fetched : Record{}};
  s_.slot_id = ++s_.last_id;
  s_.slot_number = s_.numbers[s_.restored_key];
  s_.lookup[s_.restored_key] = 1;
  s_.owner = static_cast<Byte>(s_.restored_key + 1);
  s_.is_serving = 1;
  s_.recovery = Recovery::kNone;
  s_.restored_key = 0;
  s_.fetched = {};
}

}  // namespace turntable::model::netcache
