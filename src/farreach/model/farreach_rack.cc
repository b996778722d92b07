// Clients, switch and servers.
#include "farreach/model/farreach_rack.h"

#include <algorithm>

namespace turntable::model::farreach {
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
  for (unsigned key = 0; key < kKeys; ++key) {
    for (Queued& packet : s_.queues[key]) {
      if (packet.client == client) packet.current = 0;
    }
    for (ToServer& packet : s_.partial[key]) {
      if (packet.client == client) packet.current = 0;
    }
    for (Fill& fill : s_.fills[key]) {
      if (fill.client == client) fill.current = 0;
    }
    for (std::size_t i = s_.links[key].size(); i-- > 0;) {
      ToServer& packet = s_.links[key].items[i];
      if (packet.client != client) continue;
      packet.current = 0;
      if (static_cast<Form>(packet.form) == Form::kGet) s_.links[key].remove(i);  // changes nothing
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
  Client& client = s_.clients[index];
  client.busy = client.key = client.write = 0;
  client.floor = {};
}

void Rack::take_answer(Client& client, bool by_switch, const Record& record) {
  const unsigned key = client.key;
  Record& floor = s_.floors[key];
  if (client.write == 0) {
    if (is_older(record, client.floor)) wrong(Wrong::kOldRead);
  } else if (record.number == floor.number && record.write != floor.write) {
    wrong(Wrong::kTwins);
  }
  if (record.number > floor.number) floor = record;
  if (by_switch && (client.write != 0 || rules_.hits_are_copied)) {
    Copy& copy = client.copies[key];
    if (!copy.kept || copy.record.number < record.number) {
      copy = {.kept = 1, .aged = 0, .spare = 0, .record = record};
    }
  }
  client.busy = client.key = client.write = 0;
  client.floor = {};
}

// RELEASE_COPIES.
void Rack::take_list(unsigned index) {
  Client& client = s_.clients[index];
  const List list = client.lists.pop();
  for (unsigned key = 0; key < kKeys; ++key) {
    Copy& copy = client.copies[key];
    const bool is_listed = list.key == key + 1;
    const bool is_old = copy.aged || !rules_.unlisted_copies_age;
    const bool is_confirmed = list.confirmed || !rules_.lists_are_confirmed;
    if (is_listed ? copy.record.number <= list.number : is_old && is_confirmed) copy = {};
    if (copy.kept) copy.aged = 1;
  }
  client.tells = client.lists.empty() ? 1 : 0;
}

// ---------------------------------------------------------------------------------------------
// Switch

Queued at_ingress(const State& s, const Request& request) {
  return {.kind = 1,
          .cached = s.lookup[request.key],
          .token = s.flag,
          .client = request.client,
          .current = request.current,
          .epoch = 0,
          .record = {0, request.write}};
}

Queued at_ingress(const State& s, const Fill& fill, unsigned key) {
  return {.kind = 2,
          .cached = s.lookup[key],
          .token = 0,
          .client = fill.client,
          .current = fill.current,
          .epoch = fill.epoch,
          .record = fill.record};
}

void Rack::egress(unsigned key, const Queued& packet) {
  if (packet.kind == 2) return fill(key, packet);
  packet.record.write != 0 ? put(key, packet) : get(key, packet);
}

void Rack::get(unsigned key, const Queued& packet) {
  ToServer request{.form = static_cast<Byte>(Form::kGet),
                   .client = packet.client,
                   .current = packet.current,
                   .token = 0,
                   .record = {}};
  const auto cell = static_cast<Cell>(s_.slot.cell);
  if (packet.cached && s_.slot.valid != 0) {
    if (cell == Cell::kLatest) {
      return answer(packet.client, packet.current, /*by_switch=*/true, s_.slot.record);
    }
    if (cell == Cell::kAdmitted && s_.slot.valid == 1) {
      request.form = static_cast<Byte>(Form::kGetForFill);
      request.record.number = s_.slot.epoch;
    } else if (cell == Cell::kSuperseded) {
      request.form = static_cast<Byte>(Form::kGetWithRecord);
      request.record = s_.slot.record;
      if (rules_.record_carries_token) request.token = packet.token;
    }
  }
  send(key, request);
}

void Rack::put(unsigned key, const Queued& packet) {
  const Record record{++s_.numbers[key], packet.record.write};
  if (record.number <= s_.floors[key].number) wrong(Wrong::kOldNumber);
  const unsigned valid = packet.cached ? s_.slot.valid : 0;
  if (valid == 1 && !is_large(record.write)) {
    if (packet.token != 0 && s_.slot.case1 != packet.token) report_case1(key, packet.token);
    s_.slot.cell = static_cast<Byte>(Cell::kLatest);
    s_.slot.epoch = 0;
    s_.slot.record = record;
    return answer(packet.client, packet.current, /*by_switch=*/true, record);
  }
  if (valid != 0) supersede();
  has_written_ = true;
  if (loses_ == Loses::kWrite) return;
  send(key, {.form = static_cast<Byte>(Form::kWrite),
             .client = packet.client,
             .current = packet.current,
             .token = packet.token,
             .record = record});
}

void Rack::supersede() {
  if (static_cast<Cell>(s_.slot.cell) == Cell::kAdmitted) s_.slot.record = {};
  s_.slot.epoch = 0;
  s_.slot.cell = static_cast<Byte>(Cell::kSuperseded);
}

void Rack::fill(unsigned key, const Queued& packet) {
  const bool is_admitted =
      packet.cached && s_.slot.valid == 1 && static_cast<Cell>(s_.slot.cell) == Cell::kAdmitted;
  // Without the rule a number decides, as in the artifact: one not older than the slot's.
  const bool is_taken =
      rules_.fill_needs_its_cell
          ? is_admitted && s_.slot.epoch == packet.epoch
          : packet.cached && s_.slot.valid == 1 &&
                !(has_record(s_.slot) && s_.slot.record.number > packet.record.number);
  if (is_taken) {
    s_.slot.cell = static_cast<Byte>(Cell::kLatest);
    s_.slot.epoch = 0;
    s_.slot.record = packet.record;
  }
  answer(packet.client, packet.current, /*by_switch=*/false, packet.record);
  static_cast<void>(key);
}

// The old record of a slot's first write behind the point.
void Rack::report_case1(unsigned key, Byte token) {
  s_.slot.case1 = token;
  if (s_.taking != Taking::kTaking && s_.taking != Taking::kFinishing) return;
  if (token == s_.snapshot) see(key);
}

void Rack::send(unsigned key, const ToServer& packet) {
  if (static_cast<Form>(packet.form) == Form::kGet && !packet.current) return;  // changes nothing
  s_.links[key].push(packet);
}

void Rack::answer(unsigned client, bool is_current, bool by_switch, const Record& record) {
  if (!is_current) return;
  has_answered_ = true;
  if (loses_ == Loses::kAnswer) return;
  take_answer(s_.clients[client], by_switch, record);
  stale(client);
}

// ---------------------------------------------------------------------------------------------
// Servers

void Rack::store_record(unsigned key, const Record& record) {
  if (record.number > s_.stores[key].number) s_.stores[key] = record;
}

void Rack::snapshot_partition(unsigned key, Byte token) {
  if (token <= s_.partition_token[key]) return;
  s_.partition_token[key] = token;
  s_.server_cut[key] = s_.stores[key];
}

void Rack::write(unsigned key, const ToServer& packet) {
  snapshot_partition(key, packet.token);
  store_record(key, packet.record);
  answer(packet.client, packet.current, /*by_switch=*/false, packet.record);
}

void Rack::serve(unsigned key) {
  const ToServer packet = s_.links[key].pop();
  switch (static_cast<Form>(packet.form)) {
    case Form::kWrite:
      if (rules_.writes_are_fenced && is_fenced(packet.record)) return;
      return write(key, packet);
    case Form::kGetForFill:
      if (is_large(s_.stores[key].write)) break;
      if (rules_.fills_wait_for_the_rest && lacks_rest_of_newer(key)) break;
      s_.fills[key].push({.used = 1,
                          .client = packet.client,
                          .current = packet.current,
                          .spare = 0,
                          .epoch = packet.record.number,
                          .record = s_.stores[key]});
      return;
    case Form::kGetWithRecord: {
      const bool is_newer = packet.record.number > s_.stores[key].number;
      if (!is_newer) break;
      if (rules_.record_is_fenced && is_fenced(packet.record)) break;  // of a dead switch
      if (!rules_.record_is_stored) {
        return answer(packet.client, packet.current, /*by_switch=*/false, packet.record);
      }
      snapshot_partition(key, packet.token);
      store_record(key, packet.record);
      break;
    }
    default:
      break;
  }
  answer(packet.client, packet.current, /*by_switch=*/false, s_.stores[key]);
}

// The first part of a large write, which has its number; the rest passes the switch unchanged.
void Rack::keep_part(unsigned key) {
  s_.partial[key].push(s_.links[key].pop());
}

bool Rack::lacks_rest_of_newer(unsigned key) const {
  return std::ranges::any_of(s_.partial[key], [&](const ToServer& packet) {
    return packet.record.number > s_.stores[key].number;
  });
}

// The rest has come.
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
  const auto cell = static_cast<Cell>(s.slot.cell);
  const bool is_here = s.lookup[key] && s.slot.valid != 0;
  if (is_here && cell == Cell::kLatest) return s.slot.record;
  if (!s.server_is_up || !s.links[key].empty()) return std::nullopt;
  const bool brings_newer =
      is_here && cell == Cell::kSuperseded && s.slot.record.number > s.stores[key].number;
  return brings_newer ? s.slot.record : s.stores[key];
}

}  // namespace turntable::model::farreach
