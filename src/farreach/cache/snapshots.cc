#include "farreach/cache/snapshots.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/clock.h"
#include "common/command_error.h"

namespace turntable::cache {
namespace {

using Json = Snapshots::Json;

// Of one step. A snapshot waits at most so long for a server that does not answer; one that has
// gone is noticed at the next probe.
constexpr std::int64_t kStepDeadlineNs = 30'000'000'000;
constexpr std::int64_t kProbeNs = 20'000'000;
constexpr std::size_t kComplete = 4096;  // an iteration of a minute with a period of 15 ms

void require(const Message& answer, const char* who) {
  if (answer.text.empty()) return;
  throw CommandError("unavailable",
                     std::string(who) + " refused " + name_of(answer.type) + ": " + answer.text);
}

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

}  // namespace

Snapshots::~Snapshots() {
  if (next_ != 0) parts_.loop.cancel(next_);
}

net::Task<Json> Snapshots::take() {
  require_permission();
  const std::uint32_t epoch = parts_.epoch().number;
  const std::int64_t began_at_ns = realtime_ns();
  std::uint32_t id = 0;
  std::string failure;
  try {
    id = under_way_ = parts_.directory.next_id();
    net::Task<Json> one = take_one(id);
    last_snapshot_ = co_await one;
  } catch (const std::exception& error) {
    failure = error.what();
  }
  under_way_ = 0;
  if (!failure.empty()) give_up(id, epoch, failure);
  ++taken_;
  complete_.push_back({{"id", id},
                       {"began_at_ns", began_at_ns},
                       {"ended_at_ns", realtime_ns()},
                       {"sent_bytes", last_snapshot_.at("sent_bytes")},
                       {"received_bytes", last_snapshot_.at("received_bytes")}});
  if (complete_.size() > kComplete) complete_.pop_front();
  co_return last_snapshot_;
}

void Snapshots::require_permission() {
  const std::string what = "cache-controller snapshot: ";
  if (under_way_ != 0) {
    throw CommandError("wrong_state",
                       what + "snapshot " + std::to_string(under_way_) + " is under way");
  }
  if (!parts_.agent.is_up()) {
    ++failed_;
    last_failure_ = "there is no connection with the agent";
    throw CommandError("unavailable", what + last_failure_);
  }
  const std::string obstacle = parts_.obstacle();
  if (obstacle.empty()) return;
  ++refused_;
  throw CommandError("wrong_state", what + obstacle);
}

void Snapshots::give_up(std::uint32_t id, std::uint32_t epoch, const std::string& why) {
  ++failed_;
  last_failure_ = "snapshot " + std::to_string(id) + ": " + why;
  // Whatever the agent has of it ends.
  if (id != 0) parts_.agent.ask(request(MessageType::kFinish, {id, epoch}), [](const Message&) {});
  throw CommandError("unavailable", last_failure_ + "; the one before stays");
}

net::Task<Json> Snapshots::take_one(std::uint32_t id) {
  Run run{.id = id, .epoch = parts_.epoch().number, .servers = parts_.servers.sessions()};
  for (const auto& [client, list] : answered_lists_) {
    if (list == last_list_) run.confirmed.insert(client);
  }
  const std::int64_t began_ns = run.phase_began_ns = parts_.loop.now_ns();
  co_await ask_agent(run, MessageType::kBegin);
  end_phase(run, "begin_s");
  co_await ask_agent(run, MessageType::kPoint);
  end_phase(run, "point_s");
  co_await start_servers(run);
  end_phase(run, "servers_s");
  Message finished = co_await ask_agent(run, MessageType::kFinish);
  const Snapshot snapshot{.id = id, .records = std::move(finished.records)};
  end_phase(run, "switch_s");
  // A server that died and came back may have stored what lies behind the point; a recovery that
  // has begun has read the file, and collects the copies that this one would release.
  if (const std::string why = trouble(run); !why.empty()) throw CommandError("unavailable", why);
  parts_.directory.save(snapshot);
  end_phase(run, "file_s");
  release_copies(run, snapshot.records);
  release_servers(run);
  end_phase(run, "release_s");
  Json result = {{"id", id},
                 {"records", snapshot.records.size()},
                 {"duration_s", seconds(parts_.loop.now_ns() - began_ns)},
                 {"sent_bytes", run.sent_bytes},
                 {"received_bytes", run.received_bytes},
                 {"phases", run.phases},
                 {"path", parts_.directory.path().string()}};
  co_return result;
}

net::Task<Message> Snapshots::ask_agent(Run& run, MessageType type) {
  std::vector<Ask> agent(1, [this](Message asked, Unanswered::OnAnswer on_answer) {
    parts_.agent.ask(std::move(asked), std::move(on_answer));
  });
  Message question = request(type, {run.id, run.epoch});
  std::vector<Message> answers = co_await ask_all(run, std::move(agent), std::move(question));
  require(answers.front(), "the agent");
  co_return std::move(answers.front());
}

// One message to each process, whichever partitions it serves.
net::Task<void> Snapshots::start_servers(Run& run) {
  std::map<ServerSessions::SessionId, unsigned> processes;
  for (const auto& [partition, session] : run.servers) processes.emplace(session, partition);
  std::vector<Ask> servers;
  servers.reserve(processes.size());
  for (const auto& process : processes) {
    servers.emplace_back(
        [this, partition = process.second](Message asked, Unanswered::OnAnswer on_answer) {
          parts_.servers.ask(partition, std::move(asked), std::move(on_answer));
        });
  }
  Message question = request(MessageType::kStart, {run.id});
  if (!last_snapshot_.is_null()) question.numbers.push_back(last_snapshot_.at("id"));
  const std::vector<Message> answers =
      co_await ask_all(run, std::move(servers), std::move(question));
  for (const Message& answer : answers) require(answer, "a server");
}

// Nobody waits for the answers: a client's counts for the list after the next point.
void Snapshots::release_copies(Run& run, const std::vector<Record>& records) {
  std::vector<Record> list;
  list.reserve(records.size());
  for (const Record& record : records) {
    list.push_back({.key = record.key, .kind = record.kind, .number = record.number, .value = {}});
  }
  std::erase_if(answered_lists_, [&](const auto& client) { return client.second != last_list_; });
  last_list_ = run.id;
  for (const ClientSessions::SessionId client : parts_.clients.connected()) {
    const bool is_confirmed = run.confirmed.contains(client);
    Message question = request(MessageType::kReleaseCopies, {run.id, is_confirmed ? 1U : 0U}, list);
    run.sent_bytes += encoded_bytes(question);
    parts_.clients.ask(
        client, std::move(question),
        [this, client, id = run.id, still = std::weak_ptr<char>(alive_)](const Message& answer) {
          if (!still.expired() && answer.text.empty()) answered_lists_[client] = id;
        });
  }
}

void Snapshots::release_servers(Run& run) {
  std::set<ServerSessions::SessionId> told;
  for (const auto& [partition, session] : run.servers) {
    if (!told.insert(session).second) continue;
    Message message = request(MessageType::kRelease, {run.id});
    run.sent_bytes += encoded_bytes(message);
    parts_.servers.tell(partition, std::move(message));
  }
}

// ---------------------------------------------------------------------------------------------

// The answers of all to one question. Throws CommandError when somebody who takes part has gone, or
// is silent for too long.
net::Task<std::vector<Message>> Snapshots::ask_all(Run& run, std::vector<Ask> asks,
                                                   Message question) {
  std::vector<Message> answers(asks.size());
  if (asks.empty()) co_return answers;
  std::size_t left = asks.size();
  net::Completion<std::string> settled;  // with what went wrong, if anything
  const auto alive = std::make_shared<char>();
  for (std::size_t i = 0; i < asks.size(); ++i) {
    run.sent_bytes += encoded_bytes(question);
    asks[i](question, [&, i, still = std::weak_ptr<char>(alive)](const Message& answer) {
      if (still.expired()) return;
      run.received_bytes += encoded_bytes(answer);
      answers[i] = answer;
      if (--left == 0 && !settled.is_complete()) settled.complete("");
    });
  }
  probe(run, alive, settled, parts_.loop.now_ns() + kStepDeadlineNs);
  const std::string why = co_await settled;
  if (!why.empty()) throw CommandError("unavailable", why);
  co_return answers;
}

void Snapshots::probe(const Run& run, const std::weak_ptr<char>& alive,
                      net::Completion<std::string>& settled, std::int64_t deadline_ns) {
  parts_.loop.call_at(parts_.loop.now_ns() + kProbeNs, [this, &run, alive, &settled, deadline_ns] {
    if (alive.expired() || settled.is_complete()) return;
    std::string why = trouble(run);
    if (why.empty() && parts_.loop.now_ns() > deadline_ns) why = "no answer within 30 s";
    if (why.empty()) return probe(run, alive, settled, deadline_ns);
    settled.complete(std::move(why));
  });
}

std::string Snapshots::trouble(const Run& run) const {
  if (!parts_.agent.is_up()) return "the connection with the agent has broken";
  if (parts_.servers.sessions() != run.servers) {
    return "other servers are connected than when it began";
  }
  if (parts_.epoch().number != run.epoch) return "the agent has been configured since";
  return parts_.obstacle();
}

void Snapshots::end_phase(Run& run, const char* name) {
  const std::int64_t now = parts_.loop.now_ns();
  run.phases[name] = seconds(now - std::exchange(run.phase_began_ns, now));
}

// ---------------------------------------------------------------------------------------------

void Snapshots::set_period(std::int64_t period_ns, std::int64_t from_ns) {
  period_ns_ = period_ns;
  period_from_ns_ = from_ns;
  complete_.clear();
  schedule();
}

void Snapshots::schedule() {
  if (next_ != 0) parts_.loop.cancel(std::exchange(next_, 0));
  if (period_ns_ == 0) return;
  const std::int64_t since = std::max<std::int64_t>(0, parts_.loop.now_ns() - period_from_ns_);
  const std::int64_t at_ns = period_from_ns_ + (since / period_ns_ + 1) * period_ns_;
  next_ = parts_.loop.call_at(at_ns, [this] {
    next_ = 0;
    parts_.spawn(take_in_turn());
  });
}

// What goes wrong is in stats(); the next one may go on.
net::Task<void> Snapshots::take_in_turn() {
  try {
    net::Task<Json> one = take();
    co_await one;
  } catch (const CommandError&) {
    // Counted.
  }
  if (next_ == 0) schedule();
}

Json Snapshots::stats() const {
  Json result = {{"period_s", seconds(period_ns_)},
                 {"taken", taken_},
                 {"failed", failed_},
                 {"refused", refused_},
                 {"complete", complete_}};
  if (under_way_ != 0) result["under_way"] = under_way_;
  if (!last_failure_.empty()) result["last_failure"] = last_failure_;
  if (!last_snapshot_.is_null()) result["last_snapshot"] = last_snapshot_;
  return result;
}

}  // namespace turntable::cache
