#include "bfrt_server/notifier.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "bfrt/values.h"
#include "bfrt_server/failure.h"
#include "bfrt_server/table_access.h"
#include "common/command_error.h"

namespace turntable::bfrt_server {
namespace {

using Json = nlohmann::json;

// How long a change of ports, or the end of this object, may go unnoticed.
constexpr std::chrono::milliseconds kTurn{200};
constexpr double kTurnSeconds = 0.2;

}  // namespace

Notifier::Notifier(SwitchKeeper& keeper, Sessions& sessions, ClientStreams& streams)
    : keeper_(keeper), sessions_(sessions), streams_(streams), thread_([this] { run(); }) {}

Notifier::~Notifier() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Notifier::watch_ports(ClientId client, bool enable, RunningSwitch& running) {
  auto now = running.ports().up(running.link());
  const std::lock_guard lock(mutex_);
  if (!enable) {
    port_watchers_.erase(client);
    return;
  }
  if (port_watchers_.empty()) ports_before_ = std::move(now);
  port_watchers_.insert(client);
}

bool Notifier::watches_ports(ClientId client) const {
  const std::lock_guard lock(mutex_);
  return port_watchers_.contains(client);
}

void Notifier::set_aging(std::uint32_t table, ClientId client, const bfrt_proto::IdleTable& aging) {
  bfrt_proto::IdleTable kept = aging;
  // Intervals are for who is told.
  if (aging.idle_table_mode() == bfrt_proto::IdleTable::IDLE_TABLE_POLL_MODE) {
    kept.clear_ttl_query_interval();
    kept.clear_max_ttl();
    kept.clear_min_ttl();
  }
  const std::lock_guard lock(mutex_);
  aging_[table] = {kept, client};
}

bfrt_proto::IdleTable Notifier::aging(std::uint32_t table) const {
  const std::lock_guard lock(mutex_);
  const auto found = aging_.find(table);
  return found == aging_.end() ? bfrt_proto::IdleTable() : found->second.attribute;
}

bool Notifier::stopped_within(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return wake_.wait_for(lock, time, [&] { return stopping_; });
}

void Notifier::run() {
  bool waited = false;
  while (!stopped_within(waited ? std::chrono::milliseconds(0) : kTurn)) {
    waited = false;
    try {
      const auto running = keeper_.current();
      if (learner(*running)) {
        pass_digests_on(*running);  // waits for them for a turn
        waited = true;
      }
      tell_of_ports(*running);
      tell_of_ages(*running);
    } catch (const Failure&) {  // no switch: the next turn looks again
    } catch (const CommandError&) {
    }
  }
}

std::optional<ClientId> Notifier::learner(const RunningSwitch& running) {
  const auto owner = sessions_.owner_of(running.program());
  bool learns = false;
  if (owner) {
    streams_.with(*owner, [&](const ClientStream& stream) {
      learns = stream.notifications().enable_learn_notifications();
    });
  }
  return learns ? owner : std::nullopt;
}

// Digests are only taken out of the switch's queue while somebody wants them.
void Notifier::pass_digests_on(RunningSwitch& running) {
  const Json result = running.link().call("digest_wait", {{"deadline_s", kTurnSeconds}});
  const auto client = learner(running);
  if (client && !result.at("digests").empty()) send_digests(running, *client, result.at("digests"));
}

// A list has what came of one kind in one pipe without another between.
void Notifier::send_digests(RunningSwitch& running, ClientId client, const Json& digests) {
  bfrt_proto::StreamMessageResponse message;
  const auto flush = [&] {
    if (message.digest().data_size() == 0) return;
    streams_.with(client, [&](ClientStream& stream) { stream.send(message); });
    message.Clear();
  };
  for (const Json& digest : digests) {
    const auto* filter = running.schema().learn_filter(digest.at("name").get<std::string>());
    if (filter == nullptr) continue;
    const auto pipe = digest.at("pipe").get<std::uint32_t>();
    if (message.digest().digest_id() != filter->id || message.digest().target().pipe_id() != pipe)
      flush();
    message.mutable_digest()->set_digest_id(filter->id);
    message.mutable_digest()->mutable_target()->set_pipe_id(pipe);
    auto* data = message.mutable_digest()->add_data();
    for (const bfrt::Field& field : filter->fields)
      bfrt::set_datum(field, digest.at("fields").at(field.name), *data->add_fields());
  }
  flush();
}

void Notifier::tell_of_ports(RunningSwitch& running) {
  std::set<ClientId> watchers;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(port_watchers_, [&](ClientId id) { return !sessions_.is_subscribed(id); });
    watchers = port_watchers_;
  }
  if (watchers.empty()) return;
  const bfrt::Table* table = running.described("$PORT");
  for (const auto& [port, up] : changed_ports(running)) {
    bfrt_proto::StreamMessageResponse message;
    auto* change = message.mutable_port_status_change_notification();
    change->set_port_up(up);
    change->mutable_table_entry()->set_table_id(table->id);
    bfrt::set_key(table->keys.front(), port,
                  *change->mutable_table_entry()->mutable_key()->add_fields());
    for (const ClientId watcher : watchers)
      streams_.with(watcher, [&](ClientStream& stream) { stream.send(message); });
  }
}

// Since it was last asked. A port that is just added was down before.
std::map<DevPort, bool> Notifier::changed_ports(RunningSwitch& running) {
  auto now = running.ports().up(running.link());
  const std::lock_guard lock(mutex_);
  std::map<DevPort, bool> changed;
  for (const auto& [port, up] : now) {
    const auto before = ports_before_.find(port);
    if (up != (before != ports_before_.end() && before->second)) changed[port] = up;
  }
  for (const auto& [port, up] : ports_before_) {
    if (up && !now.contains(port)) changed[port] = false;
  }
  ports_before_ = std::move(now);
  return changed;
}

// The switch is asked each turn, however long the client's ttl_query_interval is.
void Notifier::tell_of_ages(RunningSwitch& running) {
  std::map<std::uint32_t, ClientId> watched;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, table] : aging_) {
      const bool notifies =
          table.attribute.idle_table_mode() == bfrt_proto::IdleTable::IDLE_TABLE_NOTIFY_MODE;
      if (table.attribute.enable() && notifies) watched[id] = table.client;
    }
  }
  for (const auto& [id, client] : watched) {
    const bfrt::Table* table = running.schema().table(id);
    if (table == nullptr) continue;  // of another program
    const Json answer = running.link().call("aging_events", {{"table", table->name}});
    for (const Json& event : answer.at("events")) tell_of_age(*table, event, client);
  }
}

void Notifier::tell_of_age(const bfrt::Table& table, const Json& event, ClientId client) {
  bfrt_proto::StreamMessageResponse message;
  auto* told = message.mutable_idle_timeout_notification();
  const bool is_active = event.at("state") == "ENTRY_ACTIVE";
  told->set_type(is_active ? bfrt_proto::IdleTimeoutNotification::ENTRY_ACTIVE
                           : bfrt_proto::IdleTimeoutNotification::ENTRY_IDLE);
  told->mutable_target()->set_pipe_id(event.value("pipe", kAllPipes));
  told->mutable_table_entry()->set_table_id(table.id);
  Json key = event.at("key");
  if (event.contains("priority")) key["$MATCH_PRIORITY"] = event.at("priority");
  for (const bfrt::Field& field : table.keys) {
    bfrt::set_key(field, key.at(field.name),
                  *told->mutable_table_entry()->mutable_key()->add_fields());
  }
  streams_.with(client, [&](ClientStream& stream) {
    const auto wanted = stream.notifications();
    if (is_active ? wanted.enable_entry_active_notifications()
                  : wanted.enable_idletimeout_notifications()) {
      stream.send(message);
    }
  });
}

}  // namespace turntable::bfrt_server
