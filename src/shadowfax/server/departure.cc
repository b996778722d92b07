#include "shadowfax/server/departure.h"

#include <bit>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "hybridlog/chain_scan.h"
#include "hybridlog/indirection.h"
#include "hybridlog/log_scan.h"
#include "shadowfax/server/moved_record.h"
#include "shadowfax/server/peer_limits.h"
#include "shadowfax/server/sample.h"
#include "shadowfax/server/stoppable_pause.h"

namespace turntable::shadowfax {
namespace {

using Json = nlohmann::json;
using hybridlog::Address;

constexpr double kBeginSeconds = 30;
// An indirection is a record that is written, whether it was sent before or not, unless memory has
// it: a message must be taken before it is sent again because there is no answer.
constexpr std::size_t kChainsBytes = std::size_t{64} << 10U;
constexpr std::size_t kMostSampledBytes = std::size_t{128} << 10U;
constexpr double kMostSampleSeconds = 3600;
// Of buckets, by which a target may have more than this server: so many records an indirection is.
constexpr std::uint32_t kMostFurtherBits = 6;

// This server is ending: everything stays as it is.
struct Stopped {};

std::string way_of(const Departure::Order& order) {
  return Json{{"sample_s", order.sample_s}, {"indirection", order.indirection}}.dump();
}

}  // namespace

Departure::Departure(Place place) : place_(std::move(place)) {}

Departure::~Departure() = default;

Json Departure::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

Json Departure::all() const {
  const std::lock_guard lock(mutex_);
  Json all = Json::array();
  for (const Json& each : before_) all.push_back(each);
  if (!status_.is_null()) all.push_back(status_);
  return all;
}

void Departure::note(const char* step) {
  {
    const std::lock_guard lock(mutex_);
    status_["step"] = step;
    status_[std::string(step) + "_ns"] = realtime_ns();
  }
  place_.at_step(step);
}

void Departure::start(const Order& asked, std::vector<OnBegun> asks, TaskThread::Task work) {
  if (is_busy_.exchange(true)) throw Refusal("a migration from this server is under way");
  {
    const std::lock_guard lock(mutex_);
    Json before = std::exchange(status_, Json::object());
    if (!before.is_null()) before_.push_back(std::move(before));
    if (before_.size() >= kMostTold) before_.pop_front();
    asked_ = asked;
    is_resumed_ = has_begun_ = asks.empty();
    asks_ = std::move(asks);
  }
  thread_.post([this, work = std::move(work)](const std::stop_token& stop) {
    std::string why = "the server is ending";
    try {
      const CompactionGate::Closed closed(place_.gate);
      work(stop);
    } catch (const Stopped&) {
    } catch (const std::exception& error) {
      if (!stop.stop_requested()) why = error.what();
      std::fprintf(stderr, "hlserver: the migration: %s\n", error.what());
      const std::lock_guard lock(mutex_);
      status_["why"] = why;
    }
    may_cut_ = false;
    const std::vector<OnBegun> refused = take_refused();
    is_busy_ = false;  // first: who hears that it is refused may ask for another one at once
    for (const OnBegun& each : refused) each({{"refused", why}});
  });
}

bool Departure::is_asked_again(const Order& order, const OnBegun& begun) {
  {
    const std::lock_guard lock(mutex_);
    if (!asked_ || !order.is_for_migration_of(*asked_)) return false;
    if (!is_resumed_ && order != *asked_) {
      throw Refusal("migration " + std::to_string(order.id) + " was asked for with " +
                    way_of(*asked_) + ", and is now with " + way_of(order) +
                    "; expected the same: it goes on as it was asked for first");
    }
    if (!has_begun_) {
      asks_.push_back(begun);
      return true;
    }
  }
  begun({{"id", order.id}});
  return true;
}

void Departure::tell_begun(std::uint64_t id) {
  std::vector<OnBegun> asks;
  {
    const std::lock_guard lock(mutex_);
    has_begun_ = true;
    asks = std::exchange(asks_, {});
  }
  for (const OnBegun& each : asks) each({{"id", id}});
}

// Those who asked for one that has not begun.
std::vector<Departure::OnBegun> Departure::take_refused() {
  const std::lock_guard lock(mutex_);
  if (!has_begun_) asked_.reset();
  return std::exchange(asks_, {});
}

void Departure::begin(const Order& order, const OnBegun& begun) {
  if (order.target == place_.number)
    throw Refusal("from server " + std::to_string(order.target) + " to itself");
  if (!(order.sample_s >= 0 && order.sample_s <= kMostSampleSeconds)) {
    throw std::invalid_argument("sampling for " + std::to_string(order.sample_s) +
                                " s; expected 0 to " + std::to_string(kMostSampleSeconds));
  }
  if (is_asked_again(order, begun)) return;
  start(order, {begun}, [this, order](const std::stop_token& stop) {
    const Migration migration = prepare(order, stop);
    tell_begun(migration.id);
    run(migration, order, stop);
  });
}

// What is served by now has records as well, which no checkpoint may ever have.
void Departure::resume(const Migration& migration, Address recovered) {
  const Order asked{.id = migration.id, .range = migration.range, .target = migration.target};
  start(asked, {}, [this, migration, recovered](const std::stop_token& stop) {
    note("resumed");
    {
      const std::lock_guard lock(mutex_);
      status_["id"] = migration.id;
    }
    move(migration, recovered, stop);
  });
}

// Returns what the metadata service has noted.
Migration Departure::prepare(const Order& order, const std::stop_token& stop) {
  may_cut_ = true;
  note("prepare");
  state_of(ask_metadata(ClusterMessageType::kGet, Json::object(), stop)).require_next(order.id);
  reach(order.target, stop);
  const Json prepared = target_->ask(ClusterMessageType::kPrepare, Json::object(),
                                     Deadline::after_seconds(kBeginSeconds), {}, stop);
  require_long_values(prepared, order.target);
  const auto own_bits = std::countr_zero(place_.store.index().buckets());
  const Migration migration{
      .id = order.id,
      .range = order.range,
      .source = place_.number,
      .target = order.target,
      .receives_from = prepared.at("receives_from").get<Address>(),
      .indirection =
          order.indirection && prepared.value("index_bits", UINT32_MAX) <=
                                   static_cast<std::uint32_t>(own_bits) + kMostFurtherBits};
  try {
    place_.metadata.ask(ClusterMessageType::kBegin,
                        {{"id", migration.id},
                         {"incarnation", place_.incarnation},
                         {"first", order.range.first},
                         {"last", order.range.last},
                         {"source", place_.number},
                         {"target", order.target},
                         {"receives_from", migration.receives_from},
                         {"indirection", migration.indirection}},
                        Deadline::after_seconds(kBeginSeconds), {}, stop);
  } catch (const NoAnswer& error) {
    cancel(migration.id, error.what(), stop);  // it may be begun yet, and nobody would end it
    throw;
  }
  const std::lock_guard lock(mutex_);
  status_["id"] = migration.id;
  status_["indirection"] = migration.indirection;
  return migration;
}

void Departure::run(const Migration& migration, const Order& order, const std::stop_token& stop) {
  Address end = 0;
  std::optional<ClusterState> owned;
  try {
    note("prepared");
    resolve(stop);
    // So that the cut's has little to write, and what is used from now on has new records.
    const hybridlog::Checkpoint made = place_.checkpointer.make();
    std::vector<std::uint64_t> hot;
    if (order.sample_s > 0) hot = sample(order, made.cut, stop);
    end = cut(migration, hot, stop);
    owned =
        state_of(ask_metadata(ClusterMessageType::kOwn,
                              {{"id", migration.id}, {"incarnation", place_.incarnation}}, stop));
  } catch (const std::exception& error) {
    owned = cancel(migration.id, error.what(), stop);
  }
  // Nothing is served from the cut to here: who owns the range, and which number the view has, the
  // metadata service alone can say.
  place_.end_cut(owned ? &*owned : nullptr);
  may_cut_ = false;
  if (!owned) return note("cancelled");
  note("owned");
  move(migration, end, stop);
}

// Once the target owns the range nobody could help it to a value that its pages do not take.
void Departure::require_long_values(const Json& prepared, ServerNumber target) const {
  const auto most = prepared.at("most_value_bytes").get<std::size_t>();
  const std::size_t own = place_.store.most_value_bytes();
  if (most >= own) return;
  const std::string whose = "server " + std::to_string(target);
  throw Refusal(whose + " takes values of at most " + std::to_string(most) + " bytes; expected " +
                std::to_string(own) + ", as this server's may be: begin " + whose +
                " with --page-bits " + std::to_string(std::bit_width(own)) +
                " or more, and with new files");
}

// What it sends does not point on.
void Departure::resolve(const std::stop_token& stop) {
  const ClusterState state = state_of(ask_metadata(ClusterMessageType::kGet, Json::object(), stop));
  if (!state.has_unresolved(place_.number)) return;
  note("resolving");
  if (place_.resolve(stop)) return;
  if (stop.stop_requested()) throw Stopped();
  throw Refusal(
      "a server does not answer in whose log this one has records of its keys; expected that it is "
      "there again: try again then");
}

std::vector<std::uint64_t> Departure::sample(const Order& order, Address from,
                                             const std::stop_token& stop) {
  note("sampling");
  hybridlog::Sampling& sampling = place_.store.sampling();
  sampling.begin(order.range, from);
  pause(std::chrono::duration<double>(order.sample_s), stop);
  sampling.end();
  if (stop.stop_requested()) throw Stopped();
  constexpr std::size_t kMostKeys = kMostSampledBytes / MovedRecord::kHeaderBytes;
  return sampled_keys(place_.store, order.range, from, kMostKeys);
}

// Returns an address above all records of the range: a checkpoint has them, the target what is hot.
Address Departure::cut(const Migration& migration, const std::vector<std::uint64_t>& hot,
                       const std::stop_token& stop) {
  note("cut");
  place_.begin_cut();
  Address end = 0;
  place_.checkpointer.make({.all_prepared = [&] { place_.serving.wait(); },
                            .all_crossed = [&] { end = place_.store.log().tail(); }});
  note("kept");
  if (!hot.empty()) send_sampled(migration, hot, stop);
  return end;
}

// Nobody changes them any more. They come once more with all others, so they may be lost.
void Departure::send_sampled(const Migration& migration, const std::vector<std::uint64_t>& hot,
                             const std::stop_token& stop) {
  const SampledRecords records = records_of(place_.store, hot, kMostSampledBytes);
  try {
    if (!target_) reach(migration.target, stop);
    target_->ask(ClusterMessageType::kStage, {{"id", migration.id}},
                 Deadline::after_seconds(kLookSeconds), records.bytes, stop);
    const std::lock_guard lock(mutex_);
    status_["sampled"] = records.count;
  } catch (const NoAnswer&) {
    if (stop.stop_requested()) throw Stopped();
  } catch (const Refusal& refusal) {
    const std::lock_guard lock(mutex_);
    status_["why"] = refusal.what();
  }
  note("sampled");
}

// Asked until it is known which of the two holds: a refusal alone says neither. The metadata
// service may have owned the range when an answer was lost, and may do so yet as long as nothing
// was kept.
std::optional<ClusterState> Departure::cancel(std::uint64_t id, const std::string& why,
                                              const std::stop_token& stop) {
  {
    const std::lock_guard lock(mutex_);
    status_["why"] = why;
  }
  for (;;) {
    try {
      ask_metadata(ClusterMessageType::kCancel,
                   {{"id", id}, {"source", place_.number}, {"incarnation", place_.incarnation}},
                   stop);
      return std::nullopt;
    } catch (const Refusal& refusal) {
      ClusterState now = state_of(ask_metadata(ClusterMessageType::kGet, Json::object(), stop));
      const bool is_under_way = now.migration && now.migration->id == id;
      if (is_under_way && now.migration->phase == Migration::Phase::kOwned) return now;
      if (!is_under_way && now.last_migration >= id) return std::nullopt;
      pause_after(refusal.what(), stop);
    }
  }
}

void Departure::move(const Migration& migration, Address end, const std::stop_token& stop) {
  note("moving");
  for (;;) {
    try {
      // False: the target was killed, and lacks what it had taken since its last checkpoint.
      if (send_all(migration, end, stop)) break;
    } catch (const std::system_error& error) {
      pause_after(error.what(), stop);  // this server's device
    }
  }
  note("complete");
}

// Everything once. False: to another incarnation of the target than at the beginning.
bool Departure::send_all(const Migration& migration, Address end, const std::stop_token& stop) {
  std::vector<std::uint8_t> bytes;
  Json incarnation;
  std::uint64_t sent = 0, indirections = 0;
  // From then on, if nothing is sent. A long log, or a large index, may have few of the range: the
  // target hears all the same that this server is there.
  Deadline silent = Deadline::never();
  enum class Sent : std::uint8_t { kTaken, kToAnother, kNotNeeded };
  const auto send = [&] {
    const Json answer = ask_target(migration, ClusterMessageType::kRecords, {{"id", migration.id}},
                                   std::exchange(bytes, {}), stop);
    place_.at_step("move");
    silent = Deadline::after(place_.gone_time / 3);
    if (answer.value("complete", false)) return Sent::kNotNeeded;
    if (incarnation.is_null()) incarnation = answer.at("incarnation");
    return answer.at("incarnation") == incarnation ? Sent::kTaken : Sent::kToAnother;
  };
  if (const Sent first = send(); first == Sent::kNotNeeded) return true;
  Json finished = {{"id", migration.id}};
  if (migration.indirection) {
    hybridlog::ChainScan scan(place_.store, migration.range, end);
    const auto on_record = [&](const hybridlog::ScannedRecord& record) {
      append(bytes, record);
      ++sent;
    };
    const auto on_rest = [&](std::uint64_t hash, Address address) {
      append(bytes, hybridlog::Indirection{.hash = hash,
                                           .migration = migration.id,
                                           .range = migration.range,
                                           .address = address,
                                           .bits = scan.bits(),
                                           .log = place_.number});
      ++indirections;
    };
    while (scan.next(kChainsBytes, on_record, on_rest)) {
      place_.at_step("chains");
      if (bytes.size() < kChainsBytes && !silent.passed()) continue;
      if (const Sent done = send(); done != Sent::kTaken) return done == Sent::kNotNeeded;
    }
    if (indirections > 0) {
      finished["begin"] = place_.store.log().begin();
      finished["until"] = scan.until();
    }
  } else {
    hybridlog::LogScan scan(place_.store, migration.range, end);
    std::vector<hybridlog::ScannedRecord> records;
    while (scan.next_page(records)) {
      for (const hybridlog::ScannedRecord& record : records) {
        append(bytes, record);
        ++sent;
        if (bytes.size() < kMessageBytes) continue;
        if (const Sent done = send(); done != Sent::kTaken) return done == Sent::kNotNeeded;
      }
      place_.at_step("page");
      if (!silent.passed()) continue;
      if (const Sent done = send(); done != Sent::kTaken) return done == Sent::kNotNeeded;
    }
  }
  if (!bytes.empty())
    if (const Sent done = send(); done != Sent::kTaken) return done == Sent::kNotNeeded;
  {
    const std::lock_guard lock(mutex_);
    status_["records"] = sent;
    status_["indirections"] = indirections;
  }
  note("moved");
  finished["incarnation"] = incarnation;
  const Json answer = ask_target(migration, ClusterMessageType::kFinish, finished, {}, stop);
  return answer.value("complete", false);
}

// Until it has answered: it may be killed and begun again, at another place.
Json Departure::ask_target(const Migration& migration, ClusterMessageType type, const Json& args,
                           const std::vector<std::uint8_t>& records, const std::stop_token& stop) {
  for (bool is_known = target_ != nullptr;; is_known = false) {
    try {
      if (!is_known) reach(migration.target, stop);
      return target_->ask_patiently(type, args, records, kLookSeconds, stop).json;
    } catch (const NoAnswer&) {
      if (stop.stop_requested()) throw Stopped();
    } catch (const Refusal& refusal) {
      pause_after(refusal.what(), stop);  // it may have room by then
    }
  }
}

// What fails is tried again a little later.
void Departure::pause_after(const char* why, const std::stop_token& stop) {
  {
    const std::lock_guard lock(mutex_);
    status_["why"] = why;
  }
  pause(kPause, stop);
  if (stop.stop_requested()) throw Stopped();
}

Json Departure::ask_metadata(ClusterMessageType type, const Json& args,
                             const std::stop_token& stop) {
  for (;;) {
    try {
      return place_.metadata.ask(type, args, Deadline::after_seconds(kLookSeconds), {}, stop);
    } catch (const NoAnswer&) {
      if (stop.stop_requested()) throw Stopped();
    }
  }
}

void Departure::reach(ServerNumber target, const std::stop_token& stop) {
  const ClusterState state = state_of(ask_metadata(ClusterMessageType::kGet, Json::object(), stop));
  const auto found = state.members.find(target);
  if (found == state.members.end())
    throw Refusal("server " + std::to_string(target) + " has never been there");
  if (target_ && found->second == target_at_) return;
  target_at_ = found->second;
  target_.reset();
  target_ = place_.connect(target, target_at_);
}

}  // namespace turntable::shadowfax
