#include "shadowfax/server/cluster_member.h"

#include <bit>
#include <condition_variable>
#include <memory>
#include <optional>
#include <random>
#include <system_error>
#include <utility>

#include "net/ipv4.h"
#include "shadowfax/server/stoppable_pause.h"

namespace turntable::shadowfax {
namespace {

using Json = nlohmann::json;

constexpr double kEnrolSeconds = 30;
constexpr double kMetadataSeconds = 1;

std::string name_of(ServerNumber number) {
  return "server " + std::to_string(number);
}

std::string drawn_incarnation() {
  std::random_device random;
  return std::to_string(std::uint64_t{random()} << 32U | random());
}

std::uint64_t id_of(const Json& args) {
  return args.at("id").get<std::uint64_t>();
}

template <typename MakeAnswer>
ClusterMessage answer_with_records(const ClusterMessage& message, const MakeAnswer& make) {
  try {
    Asking::Answer answer = make();
    return answer_to(message, answer.json, std::move(answer.records));
  } catch (const std::exception& error) {
    return answer_to(message, {{"refused", error.what()}});
  }
}

}  // namespace

ClusterMember::ClusterMember(const ClusterSettings& settings, const std::string& address,
                             const std::vector<std::uint16_t>& ports, hybridlog::Store& store,
                             Checkpointer& checkpointer, CompactionGate& gate, Serving& serving,
                             NewerViews& newer_views, SourceLogs& logs, RangeCheck* ranges)
    : settings_(settings),
      incarnation_(drawn_incarnation()),
      store_(store),
      serving_(serving),
      newer_views_(newer_views),
      logs_(logs),
      ranges_(ranges),
      metadata_("the metadata service", settings.metadata,
                settings.credentials(name_of(settings.number))),
      arrival_(store, checkpointer, gate),
      pulled_(store),
      listener_(
          loop_, net::parse_ipv4("peers", address, settings.peer_port),
          settings.credentials(name_of(settings.number)),
          [this](SessionId session, const ClusterMessage& message) { received(session, message); },
          [](SessionId) {}),
      peer_port_(listener_.port()) {
  departure_.emplace(Departure::Place{
      .store = store,
      .checkpointer = checkpointer,
      .gate = gate,
      .serving = serving,
      .metadata = metadata_,
      .number = settings.number,
      .incarnation = incarnation_,
      .connect = [this](ServerNumber to, const Member& at) { return connect(to, at); },
      .resolve =
          [this](const std::stop_token& stop) {
            return resolver_->resolve(stop, settings_.gone_time);
          },
      .begin_cut =
          [this] {
            const std::lock_guard lock(mutex_);
            cuts_ = true;
          },
      .end_cut = [this](const ClusterState* owned) { end_cut(owned); },
      .gone_time = settings.gone_time,
      .at_step = settings.at_step});
  store_.awaited().give_up_after(settings.gone_time);
  logs_.begin({.connect = [this](ServerNumber to) { return connect_now(to, ", single records"); },
               .gone_time = settings.gone_time,
               .at_step = settings.at_step});
  resolver_.emplace(
      Resolver::Place{.store = store,
                      .checkpointer = checkpointer,
                      .metadata = metadata_,
                      .number = settings.number,
                      .incarnation = incarnation_,
                      .connect = [this](const Unresolved& what) { return connect_to_pull(what); },
                      .at_step = settings.at_step});
  answers_.emplace();
  fetches_.emplace();
  finishes_.emplace();
  enrol(address, ports);
  loop_thread_ = std::thread([this] { loop_.run(); });
  follower_ = std::thread([this] { follow(); });
}

// Who uses others ends before them: the loop, which asks all; the threads that answer; and what
// these ask. What they still post to the loop is dropped.
ClusterMember::~ClusterMember() {
  ends_.request_stop();
  logs_.end();  // sessions wait for it, and a checkpoint for them
  loop_.stop();
  loop_thread_.join();
  answers_.reset();
  fetches_.reset();
  finishes_.reset();
  departure_.reset();
  resolver_.reset();
  newer_views_.seen();
  follower_.join();
}

void ClusterMember::enrol(const std::string& address, const std::vector<std::uint16_t>& ports) {
  const ClusterState state = enrolled({{"server", settings_.number},
                                       {"incarnation", incarnation_},
                                       {"address", address},
                                       {"ports", ports},
                                       {"peer_port", peer_port_}});
  for (const Unresolved& each : state.unresolved) {
    if (each.target != settings_.number) continue;
    logs_.note_begin(each.id, each.log.begin);
    store_.elsewhere().begin(each.id, each.receives_from);
  }
  const hybridlog::Address recovered = store_.log().tail();
  adopt(state);
  if (state.migration && state.migration->source == settings_.number)
    departure_->resume(*state.migration, recovered);
}

// What an earlier process of this server has asked may still come, and an ENROL of it too: this one
// says which incarnation it replaces, and looks again where that was an older one's by then.
ClusterState ClusterMember::enrolled(Json member) {
  const Deadline deadline = Deadline::after_seconds(kEnrolSeconds);
  const auto ask = [&](ClusterMessageType type, const Json& args) {
    return state_of(metadata_.ask(type, args, deadline));
  };
  const auto noted = [&] {
    return ask(ClusterMessageType::kGet, Json::object()).incarnation_of(settings_.number);
  };
  for (std::string replaces = noted();;) {
    member["replaces"] = replaces;
    settings_.at_step("enrol");
    try {
      return ask(ClusterMessageType::kEnrol, member);
    } catch (const Refusal&) {
      std::string now = noted();
      if (now == replaces) throw;
      replaces = std::move(now);
    }
  }
}

ClusterState ClusterMember::look() {
  return state_of(metadata_.ask(ClusterMessageType::kGet, Json::object(),
                                Deadline::after_seconds(kMetadataSeconds)));
}

// Who gets a range back must not find what it had of a deleted key before: tombstones stay, to be
// sent. A migration that begins from here on stops the compaction before anything has another
// owner.
std::optional<hybridlog::CompactionSettings> ClusterMember::compaction() {
  const ClusterState state = look();
  const ServerNumber own = settings_.number;
  if (state.migration && (state.migration->source == own || state.migration->target == own))
    return std::nullopt;
  if (state.has_unresolved(own)) resolver_->request();
  bool is_pointed_to = false;
  for (const Unresolved& each : state.unresolved) {
    if (each.source != own) continue;
    ask_to_resolve(state, each.target);
    is_pointed_to = true;
  }
  if (is_pointed_to) return std::nullopt;
  return hybridlog::CompactionSettings{
      .is_wanted = [view = state.view,
                    own](std::uint64_t hash) { return view.owner_of(hash) == own; },
      .keeps_tombstones = true};
}

void ClusterMember::adopt(const ClusterState& state) {
  const std::lock_guard lock(mutex_);
  if (!cuts_ && state.view.number() >= serving_.now().view) serve(state);
}

// No state that somebody has got before comes between.
void ClusterMember::end_cut(const ClusterState* owned) {
  const std::lock_guard lock(mutex_);
  cuts_ = false;
  owned != nullptr ? serve(*owned) : serving_.go_on(serving_.now().view);
}

void ClusterMember::serve(const ClusterState& state) {
  // First: what is missing of a range must be known as missing when it is served.
  if (state.migration && state.migration->phase == Migration::Phase::kOwned &&
      state.migration->target == settings_.number)
    arrival_.begin(*state.migration);
  if (ranges_ != nullptr) ranges_->own(state.view.ranges_of(settings_.number));
  served_ = state.view;
  serving_.go_on(state.view.number());
}

View ClusterMember::served() {
  const std::lock_guard lock(mutex_);
  return served_.value();
}

void ClusterMember::follow() {
  for (std::uint64_t seen = 0; !ends_.stop_requested();) {
    seen = newer_views_.wait(seen);
    if (ends_.stop_requested()) return;
    try {
      adopt(look());
    } catch (const std::exception&) {
      // The batch comes again, until the metadata service is there again.
    }
  }
}

void ClusterMember::received(SessionId session, const ClusterMessage& message) {
  const auto send = [this, session](const ClusterMessage& answer) {
    loop_.post([this, session, answer] { listener_.send(session, answer); });
  };
  switch (message.type) {
    case ClusterMessageType::kHello:
      return listener_.send(session, answer_to(message, Json::object()));
    case ClusterMessageType::kMigrate:
      return migrate(session, message);
    case ClusterMessageType::kFetch:
      return fetches_->post([this, message, send](const std::stop_token&) {
        send(answer_with_records(message, [&] {
          settings_.at_step("look");
          return fetch(store_, Json::parse(message.json), message.records);
        }));
      });
    case ClusterMessageType::kPull:
      return answers_->post([this, message, send](const std::stop_token&) {
        send(answer_with_records(message, [&] {
          settings_.at_step("pull");
          return pulled_.answer(Json::parse(message.json));
        }));
      });
    case ClusterMessageType::kFinish:
      return finishes_->post([this, message, send](const std::stop_token&) {
        send(answer_to(message, answer(message)));
      });
    default:
      return answers_->post([this, message, send](const std::stop_token&) {
        send(answer_to(message, answer(message)));
      });
  }
}

Json ClusterMember::answer(const ClusterMessage& message) {
  try {
    const Json args = Json::parse(message.json);
    switch (message.type) {
      case ClusterMessageType::kResolve:
        resolver_->request();
        return Json::object();
      case ClusterMessageType::kStatus:
        return status();
      case ClusterMessageType::kPrepare:
        return prepare();
      case ClusterMessageType::kStage:
        return stage(id_of(args), message);
      case ClusterMessageType::kRecords:
        return take(id_of(args), message);
      case ClusterMessageType::kFinish:
        return finish(id_of(args), args);
      default:
        return {{"refused",
                 std::string(shadowfax::name_of(message.type)) + " is nothing for a server"}};
    }
  } catch (const std::exception& error) {
    return {{"refused", error.what()}};
  }
}

// The checkpoint waits for sessions, and nobody else for it. What has begun meanwhile keeps the
// range that is asked for away.
Json ClusterMember::prepare() {
  {
    const std::lock_guard lock(mutex_);
    require_may_receive();
    arrival_.forget_staged();
  }
  settings_.at_step("preparing");
  const hybridlog::Address receives_from = arrival_.prepare();
  const std::lock_guard lock(mutex_);
  require_may_receive();
  return {{"receives_from", receives_from},
          {"index_bits", std::countr_zero(store_.index().buckets())},
          {"most_value_bytes", store_.most_value_bytes()}};
}

// Throws Refusal. With the mutex.
void ClusterMember::require_may_receive() const {
  if (arrival_.id()) throw Refusal("another range is being received");
  if (departure_->may_cut()) {
    throw Refusal("a range is about to leave " + name_of(settings_.number) +
                  ", or it has not heard yet that this was cancelled; expected that it is over: "
                  "try again");
  }
}

Json ClusterMember::stage(std::uint64_t id, const ClusterMessage& message) {
  const std::lock_guard lock(mutex_);
  arrival_.stage(id, message.records);
  settings_.at_step("staged");
  return Json::object();
}

Json ClusterMember::take(std::uint64_t id, const ClusterMessage& message) {
  if (!receives(id)) return {{"complete", true}};
  const std::lock_guard lock(mutex_);
  if (arrival_.id() != id) return {{"complete", true}};  // meanwhile
  arrival_.take(message.records);
  settings_.at_step("taken");
  return {{"incarnation", incarnation_}};
}

// Nobody waits while the metadata service is told: it may be slow, or gone. Meanwhile, and before
// the mutex is had, another arrival may have begun: then this one is complete.
Json ClusterMember::finish(std::uint64_t id, const Json& args) {
  if (!receives(id)) return {{"complete", true}};
  if (args.at("incarnation") != incarnation_) return {{"complete", false}};
  const std::optional<SourceLog> rest = rest_of(args);
  Json complete = {{"id", id}, {"incarnation", incarnation_}};
  settings_.at_step("finish");
  {
    const std::lock_guard lock(mutex_);
    if (arrival_.id() != id) return {{"complete", true}};
    if (rest && !arrival_.has_all()) logs_.note_begin(id, rest->begin);
    arrival_.finish(rest);
    if (arrival_.rest()) {
      complete["begin"] = arrival_.rest()->begin;
      complete["until"] = arrival_.rest()->until;
    }
  }
  tell_complete(id, complete);
  {
    const std::lock_guard lock(mutex_);
    if (arrival_.id() == id) arrival_.end();
  }
  settings_.at_step("ended");
  return {{"complete", true}};
}

// Until it is noted: the source, which would ask again, may be dead by then. A service that cannot
// write its file refuses, and may be able to later.
void ClusterMember::tell_complete(std::uint64_t id, const Json& complete) {
  const auto ask = [this](ClusterMessageType type, const Json& args) {
    return metadata_.ask_patiently(type, args, {}, kLookSeconds, ends_.get_token()).json;
  };
  for (;;) {
    settings_.at_step("finished");
    try {
      ask(ClusterMessageType::kComplete, complete);
      return;
    } catch (const Refusal&) {
    }
    const ClusterState state = state_of(ask(ClusterMessageType::kGet, Json::object()));
    if (!state.migration || state.migration->id != id) return;
    pause(kPause, ends_.get_token());
  }
}

// False: the migration is complete. Throws Refusal where it has not begun.
bool ClusterMember::receives(std::uint64_t id) {
  {
    const std::lock_guard lock(mutex_);
    if (arrival_.id() == id) return true;
  }
  const ClusterState state = look();
  adopt(state);
  const std::lock_guard lock(mutex_);
  if (arrival_.id() == id) return true;
  if (state.migration && state.migration->id == id)
    throw Refusal("migration " + std::to_string(id) + " is not owned by this server");
  return false;
}

// Answered when the migration has begun, by its thread.
void ClusterMember::migrate(SessionId session, const ClusterMessage& message) {
  const auto tell = [this, session, message](const Json& json) {
    loop_.post(
        [this, session, message, json] { listener_.send(session, answer_to(message, json)); });
  };
  try {
    const Json args = Json::parse(message.json);
    departure_->begin(
        {.id = id_of(args),
         .range = {args.at("first").get<std::uint64_t>(), args.at("last").get<std::uint64_t>()},
         .target = args.at("target").get<ServerNumber>(),
         .sample_s = args.value("sample_s", 0.0),
         .indirection = args.value("indirection", false)},
        tell);
  } catch (const std::exception& error) {
    tell({{"refused", error.what()}});
  }
}

ClusterMember::Begun ClusterMember::begin_to_migrate(ServerNumber to, double share, double sample_s,
                                                     bool indirection) {
  const ClusterState state = look();
  if (!state.members.contains(to)) throw Refusal(name_of(to) + " has never been there");
  const auto range = state.view.share_of(settings_.number, share);
  if (!range) throw Refusal(name_of(settings_.number) + " owns nothing");
  const auto begun = std::make_shared<std::promise<Json>>();
  Begun answer = begun->get_future();
  departure_->begin({.id = state.next_id(),
                     .range = *range,
                     .target = to,
                     .sample_s = sample_s,
                     .indirection = indirection},
                    [begun](const Json& json) { begun->set_value(json); });
  return answer;
}

std::uint64_t ClusterMember::id_when_begun(Begun begun, Deadline deadline) {
  if (begun.wait_until(deadline.time_point()) != std::future_status::ready)
    throw NoAnswer("the migration does not begin in time");
  Json json;
  try {
    json = begun.get();
  } catch (const std::future_error&) {  // its thread had not come to it
    throw Refusal("the server is ending");
  }
  if (json.contains("refused")) throw Refusal(json.at("refused").get<std::string>());
  return json.at("id").get<std::uint64_t>();
}

void ClusterMember::resolve(Deadline deadline) {
  std::stop_source at_deadline;
  std::jthread waits([&](const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any().wait_until(lock, stop, deadline.time_point(),
                                             [] { return false; });
    if (!stop.stop_requested()) at_deadline.request_stop();
  });
  if (!resolver_->resolve(at_deadline.get_token()))
    throw NoAnswer("what this server points to in logs of others has not come in time");
}

// It does not matter whether it hears that: it is asked again.
void ClusterMember::ask_to_resolve(const ClusterState& state, ServerNumber target) {
  try {
    connect(target, state.members.at(target), ", a request")
        ->ask(ClusterMessageType::kResolve, Json::object(),
              Deadline::after_seconds(kMetadataSeconds));
  } catch (const std::exception&) {
  }
}

Json ClusterMember::status() {
  const std::lock_guard lock(mutex_);
  return {{"number", settings_.number},
          {"view", serving_.now().view},
          {"receives", arrival_.id() ? Json(*arrival_.id()) : Json()},
          {"records", arrival_.records()},
          {"log", {{"begin", store_.log().begin()}, {"tail", store_.log().tail()}}},
          {"staged", arrival_.staged()},
          {"fetched", logs_.answered()},
          {"resolver", resolver_->status()},
          {"departure", departure_->status()}};
}

std::unique_ptr<Asking> ClusterMember::connect_now(ServerNumber to, const std::string& what) {
  const ClusterState state = look();
  const auto found = state.members.find(to);
  if (found == state.members.end()) throw Refusal(name_of(to) + " has never been there");
  return connect(to, found->second, what);
}

std::unique_ptr<Asking> ClusterMember::connect_to_pull(const Unresolved& what) {
  return connect_now(what.source, ", all records of migration " + std::to_string(what.id));
}

// what: of a second connection to there.
std::unique_ptr<Asking> ClusterMember::connect(ServerNumber to, const Member& at,
                                               const std::string& what) {
  return std::make_unique<Asking>(
      name_of(to), net::parse_ipv4(name_of(to), at.address, at.peer_port),
      settings_.credentials(name_of(settings_.number) + " to " + name_of(to) + what),
      [this, to, at](const std::stop_token& stop) { return is_at(to, at, stop); });
}

// As far as is known: without the metadata service it stays where it was.
bool ClusterMember::is_at(ServerNumber server, const Member& at, const std::stop_token& stop) {
  try {
    const ClusterState state =
        state_of(metadata_.ask(ClusterMessageType::kGet, Json::object(),
                               Deadline::after_seconds(kMetadataSeconds), {}, stop));
    const auto found = state.members.find(server);
    return found != state.members.end() && found->second == at;
  } catch (const std::exception&) {
    return true;
  }
}

}  // namespace turntable::shadowfax
