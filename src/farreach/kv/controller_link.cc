#include "farreach/kv/controller_link.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/deadline.h"
#include "farreach/cache/server_hello.h"

namespace turntable::kv {
namespace {

using cache::Message;
using cache::MessageType;
using Kind = cache::Record::Kind;

constexpr std::size_t kKeysPerReport = 256;
constexpr std::int64_t kAskAgainNs = 100'000'000;
constexpr std::chrono::seconds kLoopDeadline{10};

// What cannot be done for the controller; it gets the text.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

void check(Store::Result result, const RecordStore& records) {
  if (result == Store::Result::kError) throw Failure("the store failed: " + records.first_error());
}

workload::KeyId id_of(const cache::Key& key) {
  const auto id = workload::key_id_from_wire(key);
  if (!id) throw Failure("a key does not begin with eight zero bytes: no key of this system");
  return *id;
}

std::uint32_t first_number(const Message& request) {
  if (request.numbers.empty()) {
    throw Failure(std::string(cache::name_of(request.type)) + " without its number");
  }
  return request.numbers.front();
}

}  // namespace

ControllerLink::ControllerLink(const sockaddr_in& controller, net::Credentials credentials,
                               unsigned scale)
    : controller_(controller), credentials_(std::move(credentials)), scale_(scale) {}

ControllerLink::~ControllerLink() {
  stop();
}

void ControllerLink::start(std::vector<Server> servers) {
  servers_ = std::move(servers);
  link_.emplace(
      loop_, controller_, credentials_, [this] { return hello(); },
      [this](const Message& request) { answer(request); },
      [this](const Message& answer) { greeted(answer); });
  thread_ = std::thread([this] { loop_.run(); });
}

void ControllerLink::stop() {
  if (!thread_.joinable()) return;
  loop_.stop();
  thread_.join();
  link_.reset();
}

nlohmann::json ControllerLink::statistics() {
  const auto read = [this] {
    return nlohmann::json{{"connected", link_->is_up()},
                          {"refused", refused_},
                          {"unexpected_answers", link_->unexpected_answers()},
                          {"unknown_keys", unknown_keys_},
                          {"evictions_asked", evictions_asked_}};
  };
  return loop_.tasks().call(read, Deadline::after(kLoopDeadline));
}

void ControllerLink::wake() {
  loop_.post([this] { take(); });
}

Message ControllerLink::hello() const {
  cache::ServerHello hello{.scale = scale_, .served = {}};
  for (const Server& server : servers_) {
    hello.served.push_back({server.partition, server.store});
    hello.holds_writes = hello.holds_writes || server.keys->holds_writes();
  }
  return cache::message_of(hello);
}

void ControllerLink::greeted(const Message& answer) {
  std::map<const Server*, std::vector<CachedKeys::Listed>> cached;
  for (const auto& [key, admission] : cache::read_cached(answer, /*first=*/1)) {
    const auto id = workload::key_id_from_wire(key);
    const Server* const server = id ? find_server(*id) : nullptr;
    if (server != nullptr) cached[server].push_back({*id, admission});
  }
  for (const Server& server : servers_) server.keys->synchronize(cached[&server]);
}

void ControllerLink::take() {
  for (Server& server : servers_) {
    for (auto keys = server.keys->take_reports(kKeysPerReport); !keys.empty();
         keys = server.keys->take_reports(kKeysPerReport)) {
      report(server, keys);
    }
    auto evictions = server.keys->take_evictions();
    evictions_asked_ += evictions.size();
    ask_evictions(server, std::move(evictions));
  }
}

void ControllerLink::report(Server& server, const std::vector<workload::KeyId>& keys) {
  std::vector<cache::Record> records;
  for (const workload::KeyId key : keys) {
    try {
      records.push_back(record_of(server, workload::wire_key(key)));
    } catch (const Failure&) {
      server.keys->settle(key, {});  // the worker says that the store failed
    }
  }
  if (records.empty()) return;
  std::vector<cache::CachedKey> asked;
  asked.reserve(records.size());
  for (const cache::Record& record : records) asked.push_back({record.key, {}});
  link_->ask(cache::request(MessageType::kHot, {}, std::move(records)),
             [keys = server.keys, asked](const Message& answer) {
               const auto settled = cache::read_cached(answer);
               const auto& outcomes = settled.size() == asked.size() ? settled : asked;
               for (const auto& [key, admission] : outcomes) keys->settle(id_of(key), admission);
             });
}

// A write waits for each, and nothing else may ever let it in: asked for until they are answered.
void ControllerLink::ask_evictions(Server& server, std::vector<CachedKeys::Eviction> evictions) {
  std::erase_if(evictions, [&](const auto& eviction) { return !server.keys->waits_for(eviction); });
  if (evictions.empty()) return;
  std::vector<cache::Record> records;
  records.reserve(evictions.size());
  for (const auto& [key, admission] : evictions) {
    records.push_back(cache::key_only(workload::wire_key(key)));
  }
  link_->ask(cache::request(MessageType::kEvict, {}, std::move(records)),
             [this, &server, evictions](const Message& answer) {
               if (answer.text.empty()) {
                 for (const auto& eviction : evictions) server.keys->eviction_answered(eviction);
               } else {
                 loop_.call_at(loop_.now_ns() + kAskAgainNs,
                               [this, &server, evictions] { ask_evictions(server, evictions); });
               }
             });
}

void ControllerLink::answer(const Message& request) {
  Message told;
  try {
    require_store(request);
    told = do_what(request);
  } catch (const Failure& failure) {
    told = cache::failure_of(request, failure.what());
  }
  if (!told.text.empty()) ++refused_;
  link_->send(told);
}

void ControllerLink::require_store(const Message& request) const {
  const auto is_meant = [&](const Server& server) { return server.store == request.store; };
  if (request.store == 0 || std::any_of(servers_.begin(), servers_.end(), is_meant)) return;
  throw Failure(std::string(cache::name_of(request.type)) + " is for a store that is not here");
}

Message ControllerLink::do_what(const Message& request) {
  switch (request.type) {
    case MessageType::kFetch:
      return fetch(request);
    case MessageType::kSettled:
      return settle(request);
    case MessageType::kStore:
    case MessageType::kReplay:
      return store(request);
    case MessageType::kEvicted:
      return evicted(request);
    case MessageType::kStart:
      return take_snapshot(request);
    case MessageType::kRelease:
      return release_snapshots(request);
    case MessageType::kMaxNumber:
      return largest_number(request);
    case MessageType::kFence:
      return fence(request);
    default:
      throw Failure(std::string("kvserver does not answer ") + cache::name_of(request.type));
  }
}

// A record that cannot be read is not admitted: its mark ends.
Message ControllerLink::fetch(const Message& request) {
  const bool marks = first_number(request) != 0;
  if (marks) mark(request.records);
  try {
    std::vector<cache::Record> records;
    for (const cache::Record& wanted : request.records) {
      records.push_back(record_of(server_of(wanted.key), wanted.key));
    }
    return cache::answer_to(request, {}, std::move(records));
  } catch (const Failure&) {
    for (const cache::Record& wanted : request.records) {
      if (marks) server_of(wanted.key).keys->settle(id_of(wanted.key), {});
    }
    throw;
  }
}

void ControllerLink::mark(const std::vector<cache::Record>& wanted) {
  std::map<CachedKeys*, std::vector<workload::KeyId>> marks;
  for (const cache::Record& record : wanted) {
    Server& server = server_of(record.key);
    if (!server.keys->holds_writes()) throw Failure("only netcache's servers mark keys");
    marks[server.keys].push_back(id_of(record.key));
  }
  for (auto& [keys, ids] : marks) keys->mark(ids);
}

Message ControllerLink::settle(const Message& request) {
  const auto settled = cache::read_cached(request);
  if (settled.size() != request.records.size()) {
    throw Failure("SETTLED needs an admission for each key");
  }
  for (const auto& [key, admission] : settled) {
    server_of(key).keys->settle(id_of(key), admission);
  }
  return cache::answer_to(request);
}

// With a token it may hold what was written after that snapshot's point. Nothing is applied if one
// key is not served here.
Message ControllerLink::store(const Message& request) {
  const std::uint32_t token = request.numbers.empty() ? 0 : request.numbers.front();
  std::map<Server*, std::vector<RecordStore::Update>> updates;
  for (const cache::Record& record : request.records) {
    Server& server = server_of(record.key);
    if (record.kind != Kind::kValue && record.kind != Kind::kDeleted) continue;
    updates[&server].push_back({.key = workload::store_key(id_of(record.key)),
                                .record = {.value = record.value,
                                           .number = record.number,
                                           .exists = record.kind == Kind::kValue}});
  }
  std::size_t newer = 0, missed = 0;
  for (auto& [server, all] : updates) {
    check(server->records->take_snapshot(token), *server->records);
    const auto applied = server->records->apply_all(std::move(all));
    check(applied.result, *server->records);
    newer += applied.newer;
    missed += applied.missed;
  }
  if (request.type == MessageType::kReplay) {
    return cache::answer_to(
        request, {static_cast<std::uint32_t>(newer), static_cast<std::uint32_t>(missed)});
  }
  return cache::answer_to(request);
}

// Keys that are not served here concern nobody here.
Message ControllerLink::evicted(const Message& request) {
  for (const auto& [key, admission] : cache::read_cached(request)) {
    const auto id = workload::key_id_from_wire(key);
    Server* const server = id ? find_server(*id) : nullptr;
    if (server == nullptr) {
      ++unknown_keys_;
    } else {
      server->keys->evicted(*id, admission.id);
    }
  }
  return cache::answer_to(request);
}

// Snapshots of ids that were given up go; the last complete one stays until this one is.
Message ControllerLink::take_snapshot(const Message& request) {
  const std::uint32_t id = first_number(request);
  for (Server& server : servers_) {
    check(server.records->take_snapshot(id), *server.records);
    if (request.numbers.size() > 1) server.records->release_snapshots(id, request.numbers[1]);
  }
  return cache::answer_to(request);
}

Message ControllerLink::release_snapshots(const Message& request) {
  for (Server& server : servers_) server.records->release_snapshots(first_number(request));
  return cache::answer_to(request);
}

Message ControllerLink::largest_number(const Message& request) {
  Server& server = server_of(first_number(request));
  std::uint32_t largest = 0;
  check(server.records->largest_number(largest), *server.records);
  return cache::answer_to(request, {largest});
}

Message ControllerLink::fence(const Message& request) {
  if (request.numbers.size() != 2) throw Failure("FENCE needs a number and a partition");
  RecordStore& records = *server_of(request.numbers[1]).records;
  check(records.fence(request.numbers[0]), records);
  return cache::answer_to(request);
}

ControllerLink::Server& ControllerLink::server_of(std::uint32_t partition) {
  for (Server& server : servers_) {
    if (server.partition == partition) return server;
  }
  throw Failure("partition " + std::to_string(partition) + " of " + std::to_string(scale_) +
                " is not served here");
}

ControllerLink::Server* ControllerLink::find_server(workload::KeyId key) {
  const unsigned partition = workload::partition_of(workload::slot_of(key), scale_);
  for (Server& server : servers_) {
    if (server.partition == partition) return &server;
  }
  return nullptr;
}

ControllerLink::Server& ControllerLink::server_of(const cache::Key& key) {
  return server_of(workload::partition_of(workload::slot_of(id_of(key)), scale_));
}

cache::Record ControllerLink::record_of(Server& server, const cache::Key& key) {
  cache::Record told = cache::key_only(key);
  Record record;
  const auto found = server.records->fetch(workload::store_key(id_of(key)), bytes_, record);
  check(found, *server.records);
  if (found == Store::Result::kNotFound) return told;
  told.number = record.number;
  if (!record.exists) {
    told.kind = Kind::kDeleted;
  } else if (record.value.size() > cache::kMaxCachedBytes) {
    told.kind = Kind::kLarge;
  } else {
    told.kind = Kind::kValue;
    told.value.assign(record.value.begin(), record.value.end());
  }
  return told;
}

}  // namespace turntable::kv
