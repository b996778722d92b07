// Clients, switch and servers.
#include "farreach/model/netcache_rack.h"

namespace turntable::model::netcache {

void Rack::wrong(Wrong what) {
  if (s_.wrong == 0) s_.wrong = static_cast<Byte>(what);
}

// ---------------------------------------------------------------------------------------------
// Clients

Request Rack::invoke(unsigned index, unsigned key, Byte write) {
  Client& client = s_.clients[index];
  client.busy = 1;
  client.key = key;
  client.write = write;
  client.floor = s_.floors[key];
  return {.used = 1,
          .key = client.key,
          .client = static_cast<Byte>(index),
          .current = 1,
          .write = write};
}

// Answers to what `client` has sent so far are stale from now on.
void Rack::stale(unsigned client) {
  for (Request& request : s_.copies) {
    if (request.client == client) request.current = 0;
  }
  for (std::size_t i = s_.copies.size(); i-- > 0;) {
    const Request& request = s_.copies.items[i];
    if (!request.current && request.write == 0) s_.copies.remove(i);  // a GET changes nothing
  }
  for (unsigned key = 0; key < kKeys; ++key) {
    for (Queued& packet : s_.queues[key]) {
      if (packet.kind == 1 && packet.client == client) packet.current = 0;
    }
    for (ToServer& packet : s_.partial[key]) {
      if (packet.client == client) packet.current = 0;
    }
    for (std::size_t i = s_.links[key].size(); i-- > 0;) {
      ToServer& packet = s_.links[key].items[i];
      if (packet.client != client) continue;
      packet.current = 0;
      if (static_cast<Form>(packet.form) == Form::kGet) s_.links[key].remove(i);
    }
  }
}

// Under a request id of its own.
Request Rack::retry(unsigned index) {
  stale(index);
  const Client& client = s_.clients[index];
  return {.used = 1,
          .key = client.key,
          .client = static_cast<Byte>(index),
          .current = 1,
          .write = client.write};
}

// Its operation stays without an answer; another client takes its place.
void Rack::give_up(unsigned index) {
  stale(index);
  s_.clients[index] = {};
}

void Rack::take_answer(Client& client, const Record& record) {
  Record& floor = s_.floors[client.key];
  if (client.write == 0) {
    if (is_older(record, client.floor)) wrong(Wrong::kOldRead);
  } else if (record.number == floor.number && record.write != floor.write) {
    wrong(Wrong::kTwins);
  }
  if (record.number > floor.number) floor = record;
  client = {};
}

void Rack::answer(unsigned client, bool is_current, const Record& record) {
  if (!is_current) return;
  has_answered_ = true;
  if (loses_ == Loses::kAnswer) return;
  take_answer(s_.clients[client], record);
  stale(client);
}

// ---------------------------------------------------------------------------------------------
// Switch

Queued at_ingress(const State& s, const Request& request) {
  return {.kind = 1,
          .cached = s.lookup[request.key],
          .client = request.client,
          .current = request.current,
          .spare = 0,
          .record = {0, request.write}};
}

Queued at_ingress(const State& s, const Record& update, unsigned key) {
  return {
      .kind = 2, .cached = s.lookup[key], .client = 0, .current = 0, .spare = 0, .record = update};
}

void Rack::egress(unsigned key, const Queued& packet) {
  if (packet.kind == 2) return update(key, packet);
  packet.record.write != 0 ? put(key, packet) : get(key, packet);
}

void Rack::get(unsigned key, const Queued& packet) {
  if (packet.cached && s_.slot.valid && s_.slot.is_latest) {
    return answer(packet.client, packet.current, s_.slot.record);
  }
  if (!packet.current) return;
  s_.links[key].push({.form = static_cast<Byte>(Form::kGet),
                      .client = packet.client,
                      .current = 1,
                      .spare = 0,
                      .record = {}});
}

void Rack::put(unsigned key, const Queued& packet) {
  const Record record{++s_.numbers[key], packet.record.write};
  if (record.number <= s_.floors[key].number) wrong(Wrong::kOldNumber);
  const bool is_cached = packet.cached && s_.slot.valid;
  if (is_cached) s_.slot = {.valid = 1, .is_latest = 0, .spare = 0, .record = {record.number, 0}};
  has_written_ = true;
  if (loses_ == Loses::kWrite) return;
  s_.links[key].push({.form = static_cast<Byte>(is_cached ? Form::kWriteOfCached : Form::kWrite),
                      .client = packet.client,
                      .current = packet.current,
                      .spare = 0,
                      .record = record});
}

// It is acknowledged at once, taken or not.
void Rack::update(unsigned key, const Queued& packet) {
  if (s_.pending[key] == packet.record.number) s_.pending[key] = 0;
  const bool is_its_own = !s_.slot.is_latest && s_.slot.record.number == packet.record.number;
  if (!packet.cached || !s_.slot.valid) return;
  if (!is_its_own && rules_.update_needs_its_number) return;
  s_.slot = {.valid = 1, .is_latest = 1, .spare = 0, .record = packet.record};
}

// ---------------------------------------------------------------------------------------------
// Servers

bool Rack::gate_is_open(unsigned key, const ToServer& write) const {
  if (!s_.knows_cached && rules_.new_server_waits) return false;
  const KeyState& state = s_.keys[key];
  if (state.known == Known::kNothing) return true;
  if (state.known == Known::kMarked) return !rules_.marks_hold_writes;
  const bool is_late = rules_.late_writes_are_early && write.record.number <= state.number;
  return !rules_.early_writes_wait ||
         (static_cast<Form>(write.form) == Form::kWriteOfCached && !is_late);
}

bool Rack::may_serve(unsigned key) const {
  if (!s_.server_is_up || s_.links[key].empty()) return false;
  const ToServer& packet = s_.links[key].front();
  if (static_cast<Form>(packet.form) == Form::kGet) return true;
  return s_.pending[key] == 0 && gate_is_open(key, packet);
}

bool Rack::needs_eviction(unsigned key, const ToServer& write) const {
  return s_.server_is_up && s_.pending[key] == 0 && s_.knows_cached &&
         s_.keys[key].known == Known::kCached && !gate_is_open(key, write);
}

bool Rack::wants_eviction(unsigned key) const {
  return !s_.links[key].empty() && static_cast<Form>(s_.links[key].front().form) != Form::kGet &&
         needs_eviction(key, s_.links[key].front());
}

bool Rack::wants_eviction(unsigned key, std::size_t part) const {
  return rules_.whole_writes_wait && needs_eviction(key, s_.partial[key].items[part]);
}

void Rack::ask_eviction(unsigned key) {
  s_.keys[key].known = Known::kEvicting;
  s_.evict[key] = s_.keys[key].id;
}

void Rack::serve(unsigned key) {
  const ToServer packet = s_.links[key].pop();
  if (static_cast<Form>(packet.form) == Form::kGet) {
    return answer(packet.client, packet.current, s_.stores[key]);
  }
  if (rules_.writes_are_fenced && is_fenced(packet.record)) return;
  write(key, packet);
}

void Rack::write(unsigned key, const ToServer& packet) {
  const bool is_newer = packet.record.number > s_.stores[key].number;
  if (is_newer) s_.stores[key] = packet.record;
  const bool is_cached = static_cast<Form>(packet.form) == Form::kWriteOfCached;
  if (is_newer && is_cached && !is_large(packet.record.write)) {
    s_.pending[key] = packet.record.number;
    s_.updates[key].push(packet.record);
  }
  answer(packet.client, packet.current, packet.record);
}

// The first part of a large write, which has its number and form; the rest passes unchanged.
bool Rack::may_keep_part(unsigned key) const {
  if (!s_.server_is_up || s_.links[key].empty()) return false;
  const ToServer& packet = s_.links[key].front();
  return static_cast<Form>(packet.form) != Form::kGet && is_large(packet.record.write) &&
         (rules_.whole_writes_wait || gate_is_open(key, packet));
}

void Rack::keep_part(unsigned key) {
  s_.partial[key].push(s_.links[key].pop());
}

// The rest has come. What waits behind the write meanwhile is not held up here, which only allows
// more.
bool Rack::may_complete(unsigned key, std::size_t part) const {
  return s_.server_is_up && s_.pending[key] == 0 &&
         (!rules_.whole_writes_wait || gate_is_open(key, s_.partial[key].items[part]));
}

void Rack::complete(unsigned key, std::size_t part) {
  const ToServer packet = s_.partial[key].items[part];
  s_.partial[key].remove(part);
  if (rules_.writes_are_fenced && rules_.rest_is_fenced && is_fenced(packet.record)) return;
  write(key, packet);
}

// For a newer value's parts. The rest will find nothing that it belongs to.
void Rack::forget(unsigned key, std::size_t part) {
  s_.partial[key].remove(part);
}

std::optional<Record> would_read(const State& s, unsigned key) {
  if (!s.is_serving || !s.queues[key].empty()) return std::nullopt;
  if (s.lookup[key] && s.slot.valid && s.slot.is_latest) return s.slot.record;
  if (!s.server_is_up || !s.links[key].empty()) return std::nullopt;
  return s.stores[key];
}

}  // namespace turntable::model::netcache
