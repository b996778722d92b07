#include "shadowfax/server/resolver.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <utility>

#include "shadowfax/server/peer_limits.h"
#include "shadowfax/server/receiver.h"

namespace turntable::shadowfax {
namespace {

using Json = nlohmann::json;

// This server is ending: everything stays as it is.
struct Stopped {};

void require_not_stopped(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Stopped();
}

}  // namespace

Resolver::Resolver(Place place)
    : place_(std::move(place)), thread_([this](const std::stop_token& stop) { work(stop); }) {}

void Resolver::request() {
  const std::lock_guard lock(mutex_);
  ++asked_;
  changed_.notify_all();
}

bool Resolver::resolve(const std::stop_token& stop, std::chrono::nanoseconds silence) {
  std::unique_lock lock(mutex_);
  const std::uint64_t own = ++asked_, looks = looks_;
  changed_.notify_all();
  const auto is_gone = [&] {
    if (looks_ == looks) return false;  // what was before says nothing: it may be there again
    const auto now = std::chrono::steady_clock::now();
    return std::ranges::any_of(silent_since_,
                               [&](const auto& each) { return now - each.second > silence; });
  };
  const auto is_over = [&] { return done_ >= own || is_gone(); };
  while (!changed_.wait_for(lock, stop, kPause, is_over) && !stop.stop_requested()) {
  }
  return done_ >= own;
}

void Resolver::note(ServerNumber source, bool is_silent) {
  const std::lock_guard lock(mutex_);
  if (is_silent) {
    silent_since_.try_emplace(source, std::chrono::steady_clock::now());
  } else {
    silent_since_.erase(source);
  }
}

Json Resolver::status() const {
  const std::lock_guard lock(mutex_);
  Json status = {{"records", records_}, {"resolved", resolved_}};
  if (!why_.empty()) status["why"] = why_;
  return status;
}

// What fails is tried again a little later.
void Resolver::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return done_ < asked_; }) && !stop.stop_requested()) {
    const std::uint64_t asked = asked_;
    lock.unlock();
    std::string why;
    try {
      resolve_all(stop);
    } catch (const Stopped&) {
      return;
    } catch (const std::exception& error) {
      why = error.what();
    }
    lock.lock();
    why_ = why;
    if (why.empty()) {
      done_ = asked;
      changed_.notify_all();
    } else {
      changed_.wait_for(lock, stop, kPause, [] { return false; });
    }
  }
}

void Resolver::resolve_all(const std::stop_token& stop) {
  const ClusterState state = state_of(place_.metadata.ask(
      ClusterMessageType::kGet, Json::object(), Deadline::after_seconds(kLookSeconds), {}, stop));
  std::string why;
  for (const Unresolved& each : state.unresolved) {
    if (each.target != place_.number) continue;
    try {
      resolve(each, stop);
    } catch (const std::exception& error) {  // another one's source may be there
      why = error.what();
    }
  }
  {
    const std::lock_guard lock(mutex_);
    ++looks_;
  }
  if (!why.empty()) throw std::runtime_error(why);
}

void Resolver::resolve(const Unresolved& what, const std::stop_token& stop) {
  place_.at_step("resolve");
  if (place_.store.elsewhere().floor_of(what.id)) {
    pull(what, stop);
    place_.store.elsewhere().end(what.id);
  }
  place_.at_step("resolved");
  if (!place_.checkpointer.wait_for_one(stop)) throw Stopped();
  place_.at_step("covered");
  place_.metadata.ask(ClusterMessageType::kResolved,
                      {{"id", what.id}, {"incarnation", place_.incarnation}},
                      Deadline::after_seconds(kLookSeconds), {}, stop);
  place_.at_step("told");
  const std::lock_guard lock(mutex_);
  ++resolved_;
}

// All of it, from where an earlier attempt has come to.
void Resolver::pull(const Unresolved& what, const std::stop_token& stop) {
  for (bool is_last = false; !is_last;) {
    const Asking::Answer answer = next(what, stop);
    const std::vector<MovedRecord> records = parsed(answer.records);
    {
      Receiver receiver(place_.store);
      for (const MovedRecord& record : records) receiver.take(record);
      receiver.wait_for_all();
    }
    ++pulls_.at(what.id).sequence;
    {
      const std::lock_guard lock(mutex_);
      records_ += records.size();
    }
    place_.at_step("pulled");
    is_last = answer.json.at("is_last");
  }
  pulls_.erase(what.id);
}

// Throws NoAnswer where it is to be waited for longer; Refusal where the source was begun again: it
// is asked from the beginning then.
Asking::Answer Resolver::next(const Unresolved& what, const std::stop_token& stop) {
  Pull& pull = pulls_[what.id];
  if (!pull.source) pull.source = place_.connect(what);
  if (!pull.question) {
    pull.question = pull.source->begin(ClusterMessageType::kPull, {{"id", what.id},
                                                                   {"first", what.range.first},
                                                                   {"last", what.range.last},
                                                                   {"begin", what.log.begin},
                                                                   {"until", what.log.until},
                                                                   {"sequence", pull.sequence}});
  }
  std::optional<Asking::Answer> answer;
  try {
    answer = pull.question->wait(Deadline::after_seconds(kLookSeconds), stop);
  } catch (const std::exception&) {
    note(what.source, /*is_silent=*/false);
    pulls_.erase(what.id);
    throw;
  }
  require_not_stopped(stop);
  note(what.source, /*is_silent=*/!answer);
  if (answer) {
    pull.question.reset();
    return *std::move(answer);
  }
  if (!pull.source->is_there(stop)) {  // it has begun again, and has not been asked yet
    note(what.source, /*is_silent=*/false);
    pulls_.erase(what.id);
  }
  throw NoAnswer("server " + std::to_string(what.source) +
                 " does not answer; it is asked for what this server points to");
}

}  // namespace turntable::shadowfax
