#include "kv/controller_link.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <stdexcept>

#include "common/deadline.h"

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

workload::KeyId id_of(const PacketKey& key) {
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

ControllerLink::ControllerLink(const sockaddr_in& controller, cache::Credentials credentials,
                               unsigned scale)
    : controller_(controller), credentials_(std::move(credentials)), scale_(scale) {}

ControllerLink::~ControllerLink() {
  stop();
}

void ControllerLink::start(std::vector<Server> servers) {
  servers_ = std::move(servers);
  link_.emplace(
      loop_, controller_, credentials_, [this] { return hello(); },
      [this](const Message& request) { answer(request); });
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
                          {"unknown_keys", unknown_keys_}};
  };
  return loop_.tasks().call(read, Deadline::after(kLoopDeadline));
}

void ControllerLink::wake() {
  loop_.post([this] { take(); });
}

Message ControllerLink::hello() {
  std::vector<std::uint32_t> numbers = {cache::kMessagesVersion, scale_};
  for (Server& server : servers_) {
    numbers.push_back(server.partition);
    if (server.hot_keys != nullptr) server.hot_keys->forget_cached();
    if (server.gate != nullptr) server.gate->marker_gone();
  }
  return cache::request(MessageType::kHello, std::move(numbers));
}

void ControllerLink::take() {
  for (Server& server : servers_) {
    if (server.hot_keys != nullptr) {
      for (auto keys = server.hot_keys->take(kKeysPerReport); !keys.empty();
           keys = server.hot_keys->take(kKeysPerReport)) {
        report(server, keys);
      }
    }
    if (server.gate != nullptr) ask_evictions(server, server.gate->take_evictions());
  }
}

void ControllerLink::report(Server& server, const std::vector<PacketKey>& keys) {
  std::vector<cache::Record> records;
  for (const PacketKey& key : keys) {
    try {
      records.push_back(record_of(server, key));
    } catch (const Failure&) {
      server.hot_keys->settle(key, /*cached=*/false);  // the worker says that the store failed
    }
  }
  if (records.empty()) return;
  std::vector<PacketKey> asked;
  asked.reserve(records.size());
  for (const cache::Record& record : records) asked.push_back(record.key);
  link_->ask(cache::request(MessageType::kHot, {}, std::move(records)),
             [hot_keys = server.hot_keys, asked](const Message& answer) {
               for (std::size_t i = 0; i < asked.size(); ++i) {
                 const bool cached =
                     i < answer.numbers.size() &&
                     answer.numbers[i] == static_cast<std::uint32_t>(cache::Outcome::kCached);
                 hot_keys->settle(asked[i], cached);
               }
             });
}

void ControllerLink::ask_evictions(Server& server, const std::vector<workload::KeyId>& keys) {
  if (keys.empty()) return;
  std::vector<cache::Record> records;
  records.reserve(keys.size());
  for (const workload::KeyId key : keys)
    records.push_back(cache::key_only(workload::wire_key(key)));
  link_->ask(cache::request(MessageType::kEvict, {}, std::move(records)),
             [this, &server, keys](const Message& answer) {
               if (answer.text.empty()) {
                 for (const workload::KeyId key : keys) server.gate->evicted(key);
               } else {
                 // A write waits for it, and nothing else can let it in.
                 loop_.call_at(loop_.now_ns() + kAskAgainNs,
                               [this, &server, keys] { ask_evictions(server, keys); });
               }
             });
}

void ControllerLink::answer(const Message& request) {
  const auto answer = [&]() -> Message {
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
        return cache::failure_of(
            request, std::string("kvserver does not answer ") + cache::name_of(request.type));
    }
  };
  Message told;
  try {
    told = answer();
  } catch (const Failure& failure) {
    told = cache::failure_of(request, failure.what());
  }
  if (!told.text.empty()) ++refused_;
  link_->send(told);
}

Message ControllerLink::fetch(const Message& request) {
  const bool mark = first_number(request) != 0;
  if (mark) {
    std::map<WriteGate*, std::vector<workload::KeyId>> marks;
    for (const cache::Record& wanted : request.records) {
      Server& server = server_of(wanted.key);
      if (server.gate == nullptr) throw Failure("only netcache's servers mark keys");
      marks[server.gate].push_back(id_of(wanted.key));
    }
    for (auto& [gate, keys] : marks) gate->mark(keys);
  }
  std::vector<cache::Record> records;
  for (const cache::Record& wanted : request.records) {
    records.push_back(record_of(server_of(wanted.key), wanted.key));
  }
  return cache::answer_to(request, {}, std::move(records));
}

Message ControllerLink::settle(const Message& request) {
  if (request.numbers.size() != request.records.size()) {
    throw Failure("SETTLED needs an outcome for each key");
  }
  for (std::size_t i = 0; i < request.records.size(); ++i) {
    const PacketKey& key = request.records[i].key;
    WriteGate* gate = server_of(key).gate;
    if (gate == nullptr) continue;
    gate->settle(id_of(key),
                 request.numbers[i] == static_cast<std::uint32_t>(cache::Outcome::kCached));
  }
  return cache::answer_to(request);
}

// STORE comes from evictions: those keys may become hot again. With a token it may hold what was
// written after that snapshot's point. Nothing is applied if one key is not served here.
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
  std::size_t newer = 0;
  for (auto& [server, all] : updates) {
    check(server->records->take_snapshot(token), *server->records);
    const auto applied = server->records->apply_all(std::move(all));
    check(applied.result, *server->records);
    newer += applied.newer;
  }
  if (request.type == MessageType::kReplay) {
    return cache::answer_to(request, {static_cast<std::uint32_t>(newer)});
  }
  for (const cache::Record& record : request.records) {
    Server& server = server_of(record.key);
    if (server.hot_keys != nullptr) server.hot_keys->evicted(record.key);
  }
  return cache::answer_to(request);
}

// Keys that are not served here concern nobody here.
Message ControllerLink::evicted(const Message& request) {
  for (const cache::Record& record : request.records) {
    const auto id = workload::key_id_from_wire(record.key);
    Server* const server = id ? find_server(*id) : nullptr;
    if (server == nullptr) {
      ++unknown_keys_;
    } else if (server->hot_keys != nullptr) {
      server->hot_keys->evicted(record.key);
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

ControllerLink::Server& ControllerLink::server_of(const PacketKey& key) {
  return server_of(workload::partition_of(workload::slot_of(id_of(key)), scale_));
}

cache::Record ControllerLink::record_of(Server& server, const PacketKey& key) {
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
