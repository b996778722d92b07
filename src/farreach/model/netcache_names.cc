// States that differ only in which client, or which key, is called the first.
#include <cstring>
#include <utility>

#include "farreach/model/netcache_model.h"

namespace turntable::model::netcache {
namespace {

void swap_clients(State& s) {
  std::swap(s.clients[0], s.clients[1]);
  for (Request& request : s.copies) request.client = 1 - request.client;
  for (unsigned key = 0; key < kKeys; ++key) {
    for (Queued& packet : s.queues[key]) {
      if (packet.kind == 1) packet.client = 1 - packet.client;
    }
    for (ToServer& packet : s.links[key]) packet.client = 1 - packet.client;
    for (ToServer& packet : s.partial[key]) packet.client = 1 - packet.client;
    s.partial[key].sort();
  }
  s.copies.sort();
}

// 0: none, else key + 1.
Byte other(Byte key_or_none) {
  return key_or_none == 0 ? Byte{0} : static_cast<Byte>(3 - key_or_none);
}

void swap_keys(State& s) {
  for (Client& client : s.clients) {
    if (client.busy) client.key = 1 - client.key;
  }
  for (Request& request : s.copies) request.key = 1 - request.key;
  s.copies.sort();
  std::swap(s.queues[0], s.queues[1]);
  std::swap(s.links[0], s.links[1]);
  std::swap(s.partial[0], s.partial[1]);
  std::swap(s.updates[0], s.updates[1]);
  std::swap(s.numbers[0], s.numbers[1]);
  std::swap(s.lookup[0], s.lookup[1]);
  if (s.agent != Agent::kIdle) s.agent_key = 1 - s.agent_key;
  s.owner = other(s.owner);
  std::swap(s.admissions[0], s.admissions[1]);
  for (Message& message : s.messages) {
    message.key = message.type == Type::kCached ? other(message.key) : Byte(1 - message.key);
  }
  std::swap(s.evict[0], s.evict[1]);
  if (s.recovery == Recovery::kRestore) s.restored_key = 1 - s.restored_key;
  std::swap(s.stores[0], s.stores[1]);
  std::swap(s.pending[0], s.pending[1]);
  std::swap(s.keys[0], s.keys[1]);
  std::swap(s.floors[0], s.floors[1]);
}

}  // namespace

State Model::canonical(const State& state) const {
  State least = state;
  for (auto& writes : least.partial) writes.sort();
  State named = least;
  const auto take_if_less = [&] {
    if (std::memcmp(&named, &least, sizeof named) < 0) least = named;
  };
  swap_clients(named);
  take_if_less();
  if (!bounds_.plan.empty()) return least;  // which names keys
  swap_keys(named);
  take_if_less();
  swap_clients(named);
  take_if_less();
  return least;
}

}  // namespace turntable::model::netcache
