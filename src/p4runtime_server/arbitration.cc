#include "p4runtime_server/arbitration.h"

#include <algorithm>

namespace turntable::p4runtime_server {

namespace {

// The election id, where the client wants to be a primary at all.
std::optional<std::pair<std::uint64_t, std::uint64_t>> election_id_of(
    const Arbitration::Update& update) {
  if (!update.has_election_id()) return std::nullopt;
  return std::pair(update.election_id().high(), update.election_id().low());
}

}  // namespace

void Arbitration::check(StreamId stream, const Update& asked) const {
  const auto client = clients_.find(stream);
  const bool is_new = client == clients_.end();
  if (asked.device_id() != kDeviceId) {
    throw Refusal(is_new ? grpc::StatusCode::NOT_FOUND : grpc::StatusCode::FAILED_PRECONDITION,
                  "there is no device " + std::to_string(asked.device_id()) + ", only " +
                      std::to_string(kDeviceId));
  }
  if (!is_new && client->second.role != asked.role().name()) {
    throw Refusal(grpc::StatusCode::FAILED_PRECONDITION,
                  "this stream has role \"" + client->second.role +
                      "\" already; open another for \"" + asked.role().name() + "\"");
  }
  if (is_new && clients_.size() >= kMostClients) {
    throw Refusal(grpc::StatusCode::RESOURCE_EXHAUSTED,
                  "there are " + std::to_string(kMostClients) + " clients already");
  }
  if (asked.role().ByteSizeLong() > kMostRoleBytes) {
    throw invalid("a role's name and configuration have at most " + std::to_string(kMostRoleBytes) +
                  " bytes");
  }
  if (!roles_.contains(asked.role().name()) && roles_.size() >= kMostRoles) {
    throw Refusal(grpc::StatusCode::RESOURCE_EXHAUSTED,
                  "there were " + std::to_string(kMostRoles) + " roles already");
  }
  const auto election_id = election_id_of(asked);
  const bool is_taken =
      election_id && std::any_of(clients_.begin(), clients_.end(), [&](const auto& other) {
        return other.first != stream && other.second.role == asked.role().name() &&
               other.second.election_id == election_id;
      });
  if (is_taken) throw invalid("another client of this role has this election id");
}

std::vector<Arbitration::Notice> Arbitration::update(StreamId stream, const Update& asked) {
  check(stream, asked);
  Client& client = clients_[stream];
  client = {asked.role().name(), election_id_of(asked)};
  Role& role = roles_[client.role];
  const bool was_primary = role.primary == stream;
  // Nothing is less than any election id, so a client without one is a backup.
  if (client.election_id && client.election_id >= role.highest) {
    role.highest = client.election_id;
    role.primary = stream;
    role.config.reset();
    if (asked.role().has_config()) role.config = asked.role().config();
    return notices(client.role);
  }
  if (!was_primary) return {notice(stream, client)};
  role.primary.reset();
  return notices(client.role);
}

std::vector<Arbitration::Notice> Arbitration::leave(StreamId stream) {
  const auto client = clients_.find(stream);
  if (client == clients_.end()) return {};
  const std::string name = client->second.role;
  clients_.erase(client);
  Role& role = roles_[name];
  if (role.primary != stream) return {};
  role.primary.reset();
  return notices(name);
}

void Arbitration::check_primary(const std::string& role, const p4::v1::Uint128& election_id) const {
  const auto found = roles_.find(role);
  if (found == roles_.end() && !role.empty())
    throw not_found("no client has role \"" + role + "\"");
  if (found == roles_.end() || !found->second.primary) {
    throw denied(
        "there is no primary: send a MasterArbitrationUpdate on a stream first, with an "
        "election id that is not below the highest so far");
  }
  if (found->second.highest != std::pair(election_id.high(), election_id.low()))
    throw denied("the primary has another election id");
}

bool Arbitration::is_primary(StreamId stream) const {
  const auto client = clients_.find(stream);
  return client != clients_.end() && roles_.at(client->second.role).primary == stream;
}

std::vector<StreamId> Arbitration::primaries() const {
  std::vector<StreamId> streams;
  for (const auto& [name, role] : roles_)
    if (role.primary) streams.push_back(*role.primary);
  return streams;
}

Arbitration::Notice Arbitration::notice(StreamId stream, const Client& client) const {
  const Role& role = roles_.at(client.role);
  Update update;
  update.set_device_id(kDeviceId);
  if (!client.role.empty()) update.mutable_role()->set_name(client.role);
  if (role.config) *update.mutable_role()->mutable_config() = *role.config;
  if (role.highest) {
    update.mutable_election_id()->set_high(role.highest->first);
    update.mutable_election_id()->set_low(role.highest->second);
  }
  google::rpc::Status& status = *update.mutable_status();
  if (role.primary == stream) {
    status.set_code(grpc::StatusCode::OK);
  } else if (role.primary) {
    status.set_code(grpc::StatusCode::ALREADY_EXISTS);
    status.set_message("another client is primary");
  } else {
    status.set_code(grpc::StatusCode::NOT_FOUND);
    status.set_message("there is no primary");
  }
  return {stream, std::move(update)};
}

// To all clients of a role; the primary hears of it last.
std::vector<Arbitration::Notice> Arbitration::notices(const std::string& role) const {
  std::vector<Notice> all;
  for (const auto& [stream, client] : clients_) {
    if (client.role == role) all.push_back(notice(stream, client));
  }
  std::stable_partition(all.begin(), all.end(),
                        [&](const Notice& each) { return roles_.at(role).primary != each.stream; });
  return all;
}

}  // namespace turntable::p4runtime_server
