#include "farreach/kv/open_order.h"

namespace turntable::kv {

OpenOrder::OpenOrder(const Settings& settings, const Replay& replay) {
  for (std::size_t i = 0; i < settings.clients; ++i) {
    const std::size_t client = settings.first_client + i;
    const auto operations = replay.of(client);
    if (operations.empty()) continue;
    const bool shares = replay.is_recorded();
    clients_.push_back({.operations = operations,
                        .first = replay.first(client) + (shares ? client : 0),
                        .stride = shares ? replay.clients() : 1,
                        .versions = (settings.first_global_client + client + 1) << 40});
  }
}

OpenOrder::Request OpenOrder::at(std::uint64_t number) const noexcept {
  const Client& client = clients_[number % clients_.size()];
  const std::uint64_t turn = number / clients_.size();
  return {.operation =
              client.operations[(client.first + turn * client.stride) % client.operations.size()],
          .version = client.versions + turn + 1};
}

}  // namespace turntable::kv
