// The cached set as it should be: warm-up, readmission, recovery.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "common/command_error.h"
#include "farreach/cache/controller.h"
#include "net/wait_for.h"
#include "workload/hottest.h"

namespace turntable::cache {
namespace {

using Json = Controller::Json;

constexpr std::size_t kAdmittedAtOnce = 2048;
constexpr std::size_t kFetchedAtOnce = 256;
constexpr std::int64_t kLookAgainNs = 10'000'000;
constexpr std::int64_t kLivesOnNs = 5'000'000'000;

std::uint64_t digest_in(const Message& cached_set) {
  if (cached_set.numbers.size() < 2) return 0;
  return std::uint64_t{cached_set.numbers[0]} << 32 | cached_set.numbers[1];
}

Message keys_request(MessageType type, const std::vector<Key>& keys,
                     std::vector<std::uint32_t> numbers = {}) {
  std::vector<Record> records;
  records.reserve(keys.size());
  for (const Key& key : keys) records.push_back(key_only(key));
  return request(type, std::move(numbers), std::move(records));
}

// `keys` in pieces of at most `size`.
std::vector<std::vector<Key>> pieces(const std::vector<Key>& keys, std::size_t size) {
  std::vector<std::vector<Key>> result;
  for (std::size_t at = 0; at < keys.size(); at += size) {
    const auto first = keys.begin() + static_cast<std::ptrdiff_t>(at);
    const std::size_t count = std::min(size, keys.size() - at);
    result.emplace_back(first, first + static_cast<std::ptrdiff_t>(count));
  }
  return result;
}

void require(const Message& answer, const std::string& who) {
  if (answer.text.empty()) return;
  throw CommandError("unavailable", who + " refused " + name_of(answer.type) + ": " + answer.text);
}

// As long as it lives, `command` alone changes what the switch holds, and nobody takes a snapshot.
class Changing {
 public:
  Changing(std::string& changing, const char* command) : changing_(changing) {
    if (!changing_.empty()) {
      throw CommandError("wrong_state", std::string("cache-controller ") + command + ": `" +
                                            changing_ +
                                            "` is under way and ends at its deadline at the " +
                                            "latest; wait, or send `configure`, which ends it");
    }
    changing_ = command;
  }
  ~Changing() { changing_.clear(); }
  Changing(const Changing&) = delete;
  Changing& operator=(const Changing&) = delete;

 private:
  std::string& changing_;
};

}  // namespace

net::Task<Json> Controller::warm_up(workload::Workload workload, std::uint64_t count) {
  std::vector<Key> hottest;
  for (const workload::KeyId id : workload::hottest_keys(workload, count)) {
    hottest.push_back(workload::wire_key(id));
  }
  {
    const Changing changing(changing_, "warm_up");
    co_await begin_anew();
  }
  expect(std::move(hottest));
  const bool restored = co_await restore();
  Json result = {{"count", expected_.size()},
                 {"digest", digest_text(expected_digest_.value())},
                 {"changed", restored}};
  co_return result;
}

// Records of stores that are no more would come back with a recovery: the file goes first.
net::Task<void> Controller::begin_anew() {
  const SwitchEpoch epoch = co_await ask_epoch();
  if (epoch.serves) co_return;
  directory_.discard();
  hold_all();
  Message asked = request(MessageType::kServe, {epoch.number});
  const Message serves = co_await ask_agent(std::move(asked));
  require(serves, "the agent");
  served(epoch.number);
}

// As the agent has it now. It may serve because of a command whose deadline came before its answer.
net::Task<SwitchEpoch> Controller::ask_epoch() {
  Message question = request(MessageType::kCachedSet);
  const Message found = co_await ask_agent(std::move(question));
  require(found, "the agent");
  const SwitchEpoch epoch = epoch_in(found);
  if (epoch.serves) served(epoch.number);
  co_return epoch;
}

// The agent has said so. It may have begun another epoch since.
void Controller::served(std::uint32_t epoch) {
  if (epoch_.number == epoch) epoch_.serves = true;
}

void Controller::expect(std::vector<Key> keys) {
  is_expected_known_ = true;
  expected_ = std::move(keys);
  expected_digest_ = {};
  for (const Key& key : expected_) expected_digest_.add(key);
}

net::Task<void> Controller::admit(std::vector<Key> keys) {
  for (const std::vector<Key>& piece : pieces(keys, kAdmittedAtOnce)) {
    Message admission = keys_request(MessageType::kAdmit, piece);
    const Message answer = co_await ask_agent(std::move(admission));
    require(answer, "the agent");
    const auto refused = std::count(answer.numbers.begin(), answer.numbers.end(), 0U);
    if (refused > 0) {
      throw CommandError("full", "the agent refused " + std::to_string(refused) + " of " +
                                     std::to_string(piece.size()) +
                                     " keys; expected a cache_size of at least " +
                                     std::to_string(expected_.size()));
    }
  }
}

// A controller that was started again goes on with what the switch has.
net::Task<Message> Controller::ask_cached_set() {
  Message question = request(MessageType::kCachedSet);
  Message found = co_await ask_agent(std::move(question));
  require(found, "the agent");
  if (!is_expected_known_) {
    std::vector<Key> keys;
    for (const Record& record : found.records) keys.push_back(record.key);
    expect(std::move(keys));
  }
  co_return found;
}

// Makes the switch's set the expected one; true if it was another.
net::Task<bool> Controller::restore() {
  const Message found = co_await ask_cached_set();
  if (digest_in(found) == expected_digest_.value() && found.records.size() == expected_.size()) {
    co_return false;
  }
  std::set<Key> wanted(expected_.begin(), expected_.end());
  std::vector<Key> surplus, missing;
  for (const Record& record : found.records) {
    if (wanted.erase(record.key) == 0) surplus.push_back(record.key);
  }
  std::copy_if(expected_.begin(), expected_.end(), std::back_inserter(missing),
               [&](const Key& key) { return wanted.contains(key); });
  for (const std::vector<Key>& piece : pieces(surplus, kAdmittedAtOnce)) {
    Message eviction = keys_request(MessageType::kEvict, piece);
    const Message answer = co_await ask_agent(std::move(eviction));
    require(answer, "the agent");
  }
  co_await admit(std::move(missing));
  co_return true;
}

net::Task<std::vector<Record>> Controller::fetch(unsigned partition, std::vector<Key> keys) {
  std::vector<Record> records;
  for (const std::vector<Key>& piece : pieces(keys, kFetchedAtOnce)) {
    Message question = keys_request(MessageType::kFetch, piece, {0});
    const Message answer = co_await ask_server(partition, std::move(question));
    require(answer, "the server of partition " + std::to_string(partition));
    records.insert(records.end(), answer.records.begin(), answer.records.end());
  }
  co_return records;
}

net::Task<Json> Controller::readmit(std::vector<unsigned> partitions, bool prefill) {
  const Changing changing(changing_, "readmit");
  const SwitchEpoch epoch = co_await ask_epoch();
  if (!epoch.serves) {
    throw CommandError("wrong_state", "cache-controller readmit: " + why_empty(epoch));
  }
  const std::set<unsigned> running(partitions.begin(), partitions.end());
  co_await until_nothing_lives_on(running);
  // Numbers of stores that are no more would make a recovery bring their records back.
  directory_.discard();
  const bool restored = co_await restore();
  std::size_t count = 0;
  holding_.insert(running.begin(), running.end());
  for (const unsigned partition : std::set<unsigned>(holding_)) {
    std::vector<Key> keys;
    std::copy_if(expected_.begin(), expected_.end(), std::back_inserter(keys),
                 [&](const Key& key) { return partition_of(key) == partition; });
    const bool runs = running.contains(partition);
    if (runs) count += keys.size();
    Message readmission = keys_request(MessageType::kReadmit, keys, {epoch.number});
    if (runs && prefill) readmission.records = co_await fetch(partition, keys);
    const Message answer = co_await ask_agent(std::move(readmission));
    require(answer, "the agent");
    if (!runs) holding_.erase(partition);
  }
  Json result = {
      {"keys", count}, {"digest", digest_text(expected_digest_.value())}, {"restored", restored}};
  co_return result;
}

// The file protects records of stores that live on, and copies of stores that are no more would
// come back with a recovery. Nodes that were prepared anew may still be about to say so.
net::Task<void> Controller::until_nothing_lives_on(const std::set<unsigned>& partitions) {
  const std::int64_t deadline_ns = loop_.now_ns() + kLivesOnNs;
  while (true) {
    const std::string what = co_await what_lives_on(partitions);
    if (what.empty()) co_return;
    if (loop_.now_ns() > deadline_ns) {
      throw CommandError("wrong_state", "cache-controller readmit: " + what);
    }
    co_await net::wait_for(loop_, kLookAgainNs);
  }
}

net::Task<std::string> Controller::what_lives_on(const std::set<unsigned>& partitions) {
  for (const unsigned served : servers_.partitions()) {
    if (partitions.contains(served)) continue;
    co_return "partition " + std::to_string(served) +
        " has a server and is not among \"partitions\"; expected all that are served, with stores "
        "that began anew (kvserver `prepare`)";
  }
  if (!settings_.write_back) co_return "";
  for (const ClientSessions::SessionId client : clients_.connected()) {
    Message question = request(MessageType::kCopies, {1});
    const Message answer = co_await ask_client(client, std::move(question));
    if (answer.records.empty()) continue;
    co_return "a client has copies of records of the stores before; send it `prepare` first";
  }
  co_return "";
}

// Of keys of all partitions: nobody knows which of them have been written.
void Controller::hold_all() {
  for (unsigned partition = 0; partition < settings_.scale; ++partition) {
    holding_.insert(partition);
  }
}

Recovery::Peers Controller::peers_of_recovery() {
  return {.ask_agent = [this](Message asked) { return ask_agent(std::move(asked)); },
          .ask_server = [this](unsigned partition,
                               Message asked) { return ask_server(partition, std::move(asked)); },
          .ask_client = [this](ClientSessions::SessionId session,
                               Message asked) { return ask_client(session, std::move(asked)); },
          .served = [this] { return servers_.partitions(); },
          .clients = [this] { return clients_.connected(); },
          .last_snapshot =
              [this] {
                std::optional<Snapshot> last = directory_.last();
                return last ? std::move(last->records) : std::vector<Record>();
              }};
}

net::Task<Json> Controller::recover(std::vector<unsigned> partitions, std::size_t clients,
                                    std::int64_t deadline_ns) {
  const Changing changing(changing_, "recover");
  RecoverySettings settings{.write_back = settings_.write_back,
                            .scale = settings_.scale,
                            .partitions = std::move(partitions),
                            .clients = clients,
                            .deadline_ns = deadline_ns};
  Recovery recovery(loop_, peers_of_recovery(), std::move(settings));
  Json result = co_await recovery.run(expected_);
  expect(recovery.cached());
  hold_all();
  served(recovery.epoch().number);
  result["digest"] = digest_text(expected_digest_.value());
  co_return result;
}

net::Task<Json> Controller::cached_set() {
  const Message found = co_await ask_cached_set();
  Json result = {{"count", found.records.size()},
                 {"digest", digest_text(digest_in(found))},
                 {"expected_digest", digest_text(expected_digest_.value())}};
  co_return result;
}

}  // namespace turntable::cache
