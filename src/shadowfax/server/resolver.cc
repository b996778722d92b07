#include "shadowfax/server/resolver.h"

#include <chrono>
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

bool Resolver::resolve(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const std::uint64_t own = ++asked_;
  changed_.notify_all();
  return changed_.wait(lock, stop, [&] { return done_ >= own; });
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
  for (const Unresolved& each : state.unresolved) {
    if (each.target != place_.number) continue;
    place_.at_step("resolve");
    if (place_.store.elsewhere().floor_of(each.id)) {
      pull(each, stop);
      place_.store.elsewhere().end(each.id);
    }
    place_.at_step("resolved");
    if (!place_.checkpointer.wait_for_one(stop)) throw Stopped();
    place_.at_step("covered");
    place_.metadata.ask(ClusterMessageType::kResolved, {{"id", each.id}},
                        Deadline::after_seconds(kLookSeconds), {}, stop);
    place_.at_step("told");
    const std::lock_guard lock(mutex_);
    ++resolved_;
  }
}

void Resolver::pull(const Unresolved& what, const std::stop_token& stop) {
  while (!pull_once(what, stop)) require_not_stopped(stop);
}

// All of it. False: the source was begun again, or does not answer.
bool Resolver::pull_once(const Unresolved& what, const std::stop_token& stop) {
  const std::unique_ptr<Asking> source = place_.connect(what.source);
  for (std::uint64_t sequence = 0;; ++sequence) {
    Asking::Answer answer;
    try {
      answer = source->ask_for_records(ClusterMessageType::kPull,
                                       {{"id", what.id},
                                        {"first", what.range.first},
                                        {"last", what.range.last},
                                        {"begin", what.log.begin},
                                        {"until", what.log.until},
                                        {"sequence", sequence}},
                                       Deadline::after_seconds(kLookSeconds), {}, stop);
    } catch (const NoAnswer&) {
      return false;
    }
    require_not_stopped(stop);
    const std::vector<MovedRecord> records = parsed(answer.records);
    {
      Receiver receiver(place_.store);
      for (const MovedRecord& record : records) receiver.take(record);
      receiver.wait_for_all();
    }
    {
      const std::lock_guard lock(mutex_);
      records_ += records.size();
    }
    place_.at_step("pulled");
    if (answer.json.at("is_last")) return true;
  }
}

}  // namespace turntable::shadowfax
