// States that differ only in which client, or which key, is called the first.
#include <cstring>
#include <utility>

#include "farreach/model/farreach_model.h"

namespace turntable::model::farreach {
namespace {

void swap_bits(Byte& pair) {
  pair = static_cast<Byte>((pair & 1U) << 1U | (pair >> 1U & 1U));
}

void swap_clients(State& s) {
  std::swap(s.clients[0], s.clients[1]);
  const auto rename = [](auto& items) {
    for (auto& item : items) item.client = 1 - item.client;
  };
  rename(s.copies);
  for (unsigned key = 0; key < kKeys; ++key) {
    rename(s.queues[key]);
    rename(s.links[key]);
    rename(s.partial[key]);
    s.partial[key].sort();
    rename(s.fills[key]);
  }
  swap_bits(s.confirmed);
  swap_bits(s.collected_from);
  s.copies.sort();
}

// 0: none, else key + 1.
Byte other(Byte key_or_none) {
  return key_or_none == 0 ? Byte{0} : static_cast<Byte>(3 - key_or_none);
}

void swap_keys(State& s) {
  for (Client& client : s.clients) {
    if (client.busy) client.key = 1 - client.key;
    std::swap(client.copies[0], client.copies[1]);
    for (List& list : client.lists) list.key = other(list.key) & 3U;
  }
  for (Request& request : s.copies) request.key = 1 - request.key;
  s.copies.sort();
  std::swap(s.queues[0], s.queues[1]);
  std::swap(s.links[0], s.links[1]);
  std::swap(s.partial[0], s.partial[1]);
  std::swap(s.fills[0], s.fills[1]);
  std::swap(s.numbers[0], s.numbers[1]);
  std::swap(s.lookup[0], s.lookup[1]);
  if (s.agent != Agent::kIdle) s.agent_key = 1 - s.agent_key;
  s.owner = other(s.owner);
  s.place = other(s.place);
  s.file_key = other(s.file_key);
  s.store_key = other(s.store_key);
  std::swap(s.collected[0], s.collected[1]);
  if (s.recovery == Recovery::kRestore) s.restored_key = 1 - s.restored_key;
  std::swap(s.stores[0], s.stores[1]);
  std::swap(s.partition_token[0], s.partition_token[1]);
  std::swap(s.server_cut[0], s.server_cut[1]);
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

}  // namespace turntable::model::farreach
