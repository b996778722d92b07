// Questions to agent, servers and clients, and what is relayed between them.
#include "farreach/cache/controller.h"

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "net/wait_for.h"

namespace turntable::cache {
namespace {

constexpr std::int64_t kStoreAgainNs = 100'000'000;

// Awaits an answer that may come when nobody waits any more. `ask` returns the question's id: who
// gives up waiting has not asked, and nobody must do it later.
template <typename Ask, typename Withdraw>
net::Task<Message> answer_of(Ask ask, Withdraw withdraw) {
  struct Question {
    Withdraw withdraw;
    std::optional<std::uint32_t> id;
    ~Question() {
      if (id) withdraw(*id);
    }
  };
  net::Completion<Message> answered;
  const auto alive = std::make_shared<char>();
  Question question{std::move(withdraw), std::nullopt};
  question.id = ask([&answered, alive = std::weak_ptr<char>(alive)](const Message& answer) {
    if (!alive.expired()) answered.complete(answer);
  });
  Message answer = co_await answered;
  co_return answer;
}

}  // namespace

Controller::Controller(net::EventLoop& loop, ServerSessions& servers, ClientSessions& clients,
                       SnapshotDirectory& directory, const net::Credentials& credentials,
                       const ControllerSettings& settings)
    : loop_(loop),
      servers_(servers),
      clients_(clients),
      directory_(directory),
      settings_(settings),
      agent_(std::make_unique<MessageLink>(
          loop, settings_.agent, credentials,
          [] { return request(MessageType::kHello, {kMessagesVersion}); },
          [this](const Message& asked) { handle_agent(asked); },
          [this](const Message& greeted) {
            epoch_ = greeted.numbers.size() == 3 ? SwitchEpoch{.number = greeted.numbers[1],
                                                               .serves = greeted.numbers[2] != 0}
                                                 : SwitchEpoch();
          })),
      snapshots_({.loop = loop,
                  .agent = *agent_,
                  .servers = servers,
                  .clients = clients,
                  .directory = directory,
                  .spawn = [this](net::Task<void> task) { spawn(std::move(task)); },
                  .epoch = [this] { return epoch_; },
                  .obstacle = [this] { return obstacle(); }}),
      admissions_(loop, peers_of_admissions()),
      tasks_(loop, [this](const std::exception_ptr& failure) { task_failed(failure); }) {
  hold_all();
}

// Whoever waits for it waits on: that is a defect, and must be seen.
void Controller::task_failed(const std::exception_ptr& failure) {
  ++counters_.failed_tasks;
  last_failed_task_ = net::message_of(failure);
  std::cerr << "cache-controller: a task failed: " << last_failed_task_ << std::endl;
}

net::Task<Message> Controller::ask_agent(Message request) {
  return answer_of(
      [this, asked = std::move(request)](Unanswered::OnAnswer on_answer) mutable {
        return agent_->ask(std::move(asked), std::move(on_answer));
      },
      [this](std::uint32_t id) { agent_->withdraw(id); });
}

net::Task<Message> Controller::ask_server(unsigned partition, Message request,
                                          std::optional<std::uint32_t> store) {
  return answer_of(
      [this, partition, asked = std::move(request), store](Unanswered::OnAnswer on_answer) mutable {
        return servers_.ask(partition, std::move(asked), std::move(on_answer), store);
      },
      [this](std::uint32_t id) { servers_.withdraw(id); });
}

// The answer of a client that has gone is a failure.
net::Task<Message> Controller::ask_client(ClientSessions::SessionId session, Message request) {
  return answer_of(
      [this, session, asked = std::move(request)](Unanswered::OnAnswer on_answer) mutable {
        clients_.ask(session, std::move(asked), std::move(on_answer));
        return 0U;
      },
      [](std::uint32_t) {});  // a client that has gone is asked no more by itself
}

std::string Controller::waits_for() const {
  std::vector<std::string> whom;
  if (agent_->unanswered() > 0) whom.emplace_back("switch-agent");
  const std::set<unsigned> served = servers_.partitions();
  for (const unsigned partition : servers_.asked()) {
    whom.push_back("the server of partition " + std::to_string(partition) +
                   (served.contains(partition) ? "" : " (there is none: start kvserver for it)"));
  }
  if (clients_.unanswered() > 0) whom.emplace_back("clients' copies");
  std::string text;
  for (const std::string& name : whom) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "nobody" : text;
}

// What a snapshot of such a switch would lack, it would make clients and this directory forget.
std::string Controller::obstacle() const {
  if (!changing_.empty()) return "`" + changing_ + "` is under way";
  return epoch_.serves ? "" : why_empty(epoch_);
}

// ---------------------------------------------------------------------------------------------
// Relays

void Controller::handle(const Message& request, Reply reply) {
  switch (request.type) {
    case MessageType::kHot:
      counters_.hot += request.records.size();
      return spawn(relay_to_agent(request, std::move(reply)));
    case MessageType::kEvict:
      return spawn(relay_to_agent(request, std::move(reply)));
    default:
      ++counters_.unexpected;
      reply(failure_of(request, "the controller knows no such request"));
  }
}

void Controller::handle_agent(const Message& request) {
  switch (request.type) {
    case MessageType::kStore:
      return spawn(relay_store(request));
    case MessageType::kHot:
      counters_.hot += request.records.size();
      return spawn(admit_for_agent(request));
    case MessageType::kEvicted:
      return relay_evicted(request);
    default:
      ++counters_.unexpected;
      agent_->send(failure_of(request, "the controller knows no such request"));
  }
}

net::Task<void> Controller::relay_to_agent(Message asked, Reply reply) {
  Message relayed = request(asked.type, {}, asked.records);
  const std::size_t asked_bytes = encoded_bytes(relayed);
  Message answer = co_await ask_agent(std::move(relayed));
  (asked.type == MessageType::kHot ? counters_.admission_bytes : counters_.eviction_bytes) +=
      asked_bytes + encoded_bytes(answer);
  for (const CachedKey& hot : read_cached(answer)) counters_.admitted += hot.admission.id != 0;
  Message result = answer_to(asked, std::move(answer.numbers), std::move(answer.records));
  result.text = std::move(answer.text);
  reply(result);
}

// The slot stays as it is until its records are stored.
net::Task<void> Controller::relay_store(Message asked) {
  for (auto& [partition, records] : by_partition(asked.records)) {
    if (partition == settings_.scale) continue;  // the agent admits no such keys
    Message relayed = request(MessageType::kStore, asked.numbers, std::move(records));
    co_await store(partition, std::move(relayed));
  }
  const Message answer = answer_to(asked);
  counters_.eviction_bytes += encoded_bytes(asked) + encoded_bytes(answer);
  agent_->send(answer);
}

// A server that fails is asked again; but a store that began anew must not get what its predecessor
// lacked: whoever began it has given that up.
net::Task<void> Controller::store(unsigned partition, Message asked) {
  std::uint32_t store = servers_.store_of(partition);  // 0: there has been none yet
  while (true) {
    Message again = asked;
    const Message answer = co_await ask_server(partition, std::move(again), store);
    if (answer.text.empty()) break;
    if (answer.store != 0) {
      counters_.records_of_old_stores += asked.records.size();
      co_return;
    }
    if (store == 0) store = servers_.store_of(partition);  // whose server has failed
    ++counters_.store_failures;
    co_await net::wait_for(loop_, kStoreAgainNs);
  }
  counters_.records_stored += asked.records.size();
}

// NetCache: the switch reports its hot keys itself.
net::Task<void> Controller::admit_for_agent(Message asked) {
  std::vector<CachedKey> settled;
  for (const Record& hot : asked.records) {
    const unsigned partition = partition_of(hot.key);
    settled.push_back({hot.key, {}});
    if (partition == settings_.scale) continue;
    settled.back().admission = co_await admissions_.admit(partition, hot.key);
    counters_.admitted += settled.back().admission.id != 0;
  }
  Message answer = answer_to(asked);
  append_cached(settled, answer);
  counters_.admission_bytes += encoded_bytes(asked) + encoded_bytes(answer);
  agent_->send(answer);
}

void Controller::relay_evicted(const Message& asked) {
  for (const CachedKey& evicted : read_cached(asked)) {
    const unsigned partition = partition_of(evicted.key);
    if (partition == settings_.scale) continue;
    Message told = request(MessageType::kEvicted);
    append_cached({evicted}, told);
    servers_.tell(partition, std::move(told));
  }
  const Message answer = answer_to(asked);
  counters_.eviction_bytes += encoded_bytes(asked) + encoded_bytes(answer);
  agent_->send(answer);
}

Admissions::Peers Controller::peers_of_admissions() {
  return {.ask_agent = [this](Message asked) { return ask_agent(std::move(asked)); },
          .ask_server = [this](unsigned partition,
                               Message asked) { return ask_server(partition, std::move(asked)); },
          .partition_of = [this](const Key& key) { return partition_of(key); }};
}

void Controller::find_cached(const std::set<unsigned>& partitions, ServerSessions::Found found) {
  spawn(admissions_.find_cached(partitions, std::move(found)));
}

// ---------------------------------------------------------------------------------------------

std::map<unsigned, std::vector<Record>> Controller::by_partition(
    const std::vector<Record>& records) {
  std::map<unsigned, std::vector<Record>> grouped;
  for (const Record& record : records) grouped[partition_of(record.key)].push_back(record);
  if (grouped.contains(settings_.scale)) ++counters_.unexpected;
  return grouped;
}

unsigned Controller::partition_of(const Key& key) const {
  const auto id = workload::key_id_from_wire(key);
  return id ? workload::partition_of(workload::slot_of(*id), settings_.scale) : settings_.scale;
}

}  // namespace turntable::cache
