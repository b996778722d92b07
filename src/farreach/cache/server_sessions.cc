#include "farreach/cache/server_sessions.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace turntable::cache {

void ServerSessions::begin_generation(unsigned scale) {
  if (scale != scale_) stores_.clear();
  scale_ = scale;
  servers_.clear();
  greetings_.clear();
  unanswered_.clear();
  asked_.clear();
}

std::uint32_t ServerSessions::store_of(unsigned partition) const {
  const auto store = stores_.find(partition);
  return store == stores_.end() ? 0 : store->second;
}

// ---------------------------------------------------------------------------------------------
// Questions

std::uint32_t ServerSessions::ask(unsigned partition, Message request,
                                  Unanswered::OnAnswer on_answer,
                                  std::optional<std::uint32_t> store) {
  request.store = store.value_or(store_of(partition));
  const Message& kept = unanswered_.add(std::move(request), std::move(on_answer));
  const std::uint32_t id = kept.id;
  const auto server = servers_.find(partition);
  const bool is_served = server != servers_.end();
  asked_[id] = {partition, kept.store, is_served ? server->second : 0};
  if (kept.store != 0 && kept.store != store_of(partition)) {
    fail(id);
  } else if (is_served) {
    send_(server->second, kept);
  }
  return id;
}

void ServerSessions::tell(unsigned partition, Message message) {
  if (servers_.contains(partition)) ask(partition, std::move(message), [](const Message&) {});
}

void ServerSessions::withdraw(std::uint32_t id) {
  asked_.erase(id);
  unanswered_.drop(id);
}

void ServerSessions::fail(std::uint32_t id) {
  const auto asked = asked_.extract(id);
  if (asked.empty()) return;  // withdrawn because another one failed
  const unsigned partition = asked.mapped().partition;
  ++for_other_stores_;
  unanswered_.fail(id, [&](const Message& request) {
    Message failure = failure_of(request, "the store of partition " + std::to_string(partition) +
                                              " began anew meanwhile (kvserver `prepare` without " +
                                              "\"keep_stores\"); this was for the one before");
    failure.store = store_of(partition);
    return failure;
  });
}

void ServerSessions::received(SessionId session, const Message& message) {
  if (message.is_answer) return settle(session, message);
  if (message.type == MessageType::kHello) return greeted(session, message);
  on_request_(message, [this, session](const Message& answer) { send_(session, answer); });
}

// What a process answered whose place another one has taken comes too late: the other one is asked.
void ServerSessions::settle(SessionId session, Message answer) {
  const auto asked = asked_.find(answer.id);
  if (asked != asked_.end()) answer.was_asked_before = asked->second.is_repeated;
  if (asked == asked_.end() || asked->second.session != session || !unanswered_.settle(answer)) {
    ++unexpected_answers_;
  } else {
    asked_.erase(answer.id);
  }
}

// ---------------------------------------------------------------------------------------------
// HELLO

void ServerSessions::greeted(SessionId session, const Message& message) {
  const auto hello = read_hello(message, scale_);
  if (!hello) {
    ++refused_hellos_;
    const std::string expected = scale_ == 0 ? "a controller that has got `configure`"
                                             : "version " + std::to_string(kMessagesVersion) +
                                                   " and scale " + std::to_string(scale_);
    return send_(session,
                 failure_of(message, "HELLO of another version or scale; expected " + expected));
  }
  if (is_served_by_another(session, *hello)) {
    ++refused_hellos_;
    return send_(session, failure_of(message, "another node serves one of these partitions"));
  }
  forget(session);
  Greeting& greeting = greetings_[session];
  greeting.hello = message;
  for (const auto& served : hello->served) {
    greeting.partitions.insert(served.partition);
  }
  const std::set<unsigned> partitions = greeting.partitions;
  take_stores(*hello);
  if (!hello->holds_writes) return accept(session, message.id, {});
  find_cached_(partitions, [this, session, id = message.id](const auto& cached) {
    accept(session, id, cached);
  });
}

// The listener has ended the session of an earlier incarnation of the same node.
bool ServerSessions::is_served_by_another(SessionId session, const ServerHello& hello) const {
  return std::any_of(hello.served.begin(), hello.served.end(), [&](const auto& served) {
    const auto server = servers_.find(served.partition);
    if (server != servers_.end() && server->second != session) return true;
    return std::any_of(greetings_.begin(), greetings_.end(), [&](const auto& greeting) {
      return greeting.first != session && greeting.second.partitions.contains(served.partition);
    });
  });
}

// From now on these stores are there, and what is for those before fails.
void ServerSessions::take_stores(const ServerHello& hello) {
  for (const auto& [partition, store] : hello.served) stores_[partition] = store;
  std::vector<std::uint32_t> late;
  for (const auto& [id, asked] : asked_) {
    if (asked.store != 0 && asked.store != store_of(asked.partition)) late.push_back(id);
  }
  for (const std::uint32_t id : late) fail(id);
}

void ServerSessions::accept(SessionId session, std::uint32_t hello_id,
                            const std::vector<CachedKey>& cached) {
  const auto greeting = greetings_.find(session);
  if (greeting == greetings_.end() || greeting->second.hello.id != hello_id) return;  // it has gone
  const Greeting accepted = std::move(greetings_.extract(greeting).mapped());
  Message answer = answer_to(accepted.hello, {kMessagesVersion});
  append_cached(cached, answer);
  send_(session, answer);
  for (const unsigned partition : accepted.partitions) servers_[partition] = session;
  send_unanswered(session);
}

void ServerSessions::send_unanswered(SessionId session) {
  unanswered_.for_each([&](const Message& request) {
    Asked& asked = asked_.at(request.id);
    const auto server = servers_.find(asked.partition);
    if (server == servers_.end() || server->second != session) return;
    asked.is_repeated = asked.session != 0;
    asked.session = session;
    asked.store = store_of(asked.partition);
    Message sent = request;
    sent.store = asked.store;
    send_(session, sent);
  });
}

void ServerSessions::forget(SessionId session) {
  greetings_.erase(session);
  std::erase_if(servers_, [session](const auto& server) { return server.second == session; });
}

std::set<unsigned> ServerSessions::asked() const {
  std::set<unsigned> partitions;
  for (const auto& [id, asked] : asked_) partitions.insert(asked.partition);
  return partitions;
}

std::set<unsigned> ServerSessions::partitions() const {
  std::set<unsigned> partitions;
  for (const auto& [partition, session] : servers_) partitions.insert(partition);
  return partitions;
}

}  // namespace turntable::cache
