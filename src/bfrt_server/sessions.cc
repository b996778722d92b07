#include "bfrt_server/sessions.h"

#include "bfrt_server/failure.h"

namespace turntable::bfrt_server {

void Sessions::subscribe(StreamId stream, ClientId id) {
  const std::lock_guard lock(mutex_);
  if (clients_.contains(id)) {
    throw invalid("Can't have two clients with the same client id: " + std::to_string(id) +
                  " is connected already");
  }
  if (clients_.size() >= most_clients_) {
    throw Failure(grpc::StatusCode::RESOURCE_EXHAUSTED,
                  "client " + std::to_string(id) + ": " + std::to_string(most_clients_) +
                      " clients are connected, and no more may be Max sessions exceeded");
  }
  clients_[id] = {id, stream, std::nullopt};
}

void Sessions::bind(ClientId id, const std::string& program, bool known) {
  const std::lock_guard lock(mutex_);
  const auto client = clients_.find(id);
  if (client == clients_.end())
    throw not_ready("Unknown client. Client_id:" + std::to_string(id) + ", subscribe first");
  for (const auto& [other_id, other] : clients_) {
    if (other.program != program) continue;
    throw already_exists("Client ID " + std::to_string(id) + " trying to bind but Client ID " +
                         std::to_string(other_id) + " already owns this P4");
  }
  if (!known) throw not_found("Failed to find BfRtInfo for program " + program);
  client->second.program = program;
}

void Sessions::close(StreamId stream) {
  const std::lock_guard lock(mutex_);
  std::erase_if(clients_, [&](const auto& entry) { return entry.second.stream == stream; });
}

bool Sessions::is_subscribed(ClientId id) const {
  const std::lock_guard lock(mutex_);
  return clients_.contains(id);
}

std::string Sessions::program_of(ClientId id) const {
  const std::lock_guard lock(mutex_);
  const auto client = clients_.find(id);
  if (client != clients_.end() && client->second.program) return *client->second.program;
  throw unexpected("Unable to get bound_program of client " + std::to_string(id));
}

std::optional<ClientId> Sessions::owner_of(const std::string& program) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, client] : clients_) {
    if (client.program == program) return id;
  }
  return std::nullopt;
}

std::vector<Sessions::Client> Sessions::clients() const {
  const std::lock_guard lock(mutex_);
  std::vector<Client> all;
  all.reserve(clients_.size());
  for (const auto& [id, client] : clients_) all.push_back(client);
  return all;
}

}  // namespace turntable::bfrt_server
