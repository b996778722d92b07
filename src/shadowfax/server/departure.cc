#include "shadowfax/server/departure.h"

#include <bit>
#include <chrono>
#include <condition_variable>
#include <cstdio>
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

void wait(std::chrono::duration<double> time, const std::stop_token& stop) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any().wait_for(lock, stop, time, [] { return false; });
}

}  // namespace

Departure::Departure(Place place) : place_(std::move(place)) {}

Departure::~Departure() = default;

Json Departure::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void Departure::note(const char* step) {
  {
    const std::lock_guard lock(mutex_);
    status_["step"] = step;
    status_[std::string(step) + "_ns"] = realtime_ns();
  }
  place_.at_step(step);
}

void Departure::start(std::function<void(const std::stop_token&)> work) {
  if (is_busy_.exchange(true)) throw Refusal("a migration from this server is under way");
  {
    const std::lock_guard lock(mutex_);
    status_ = Json::object();
  }
  thread_ = std::jthread([this, work = std::move(work)](const std::stop_token& stop) {
    try {
      const CompactionGate::Closed closed(place_.gate);
      work(stop);
    } catch (const Stopped&) {
    } catch (const std::exception& error) {
      std::fprintf(stderr, "hlserver: the migration: %s\n", error.what());
      const std::lock_guard lock(mutex_);
      status_["why"] = error.what();
    }
    may_cut_ = false;
    is_busy_ = false;
  });
}

void Departure::begin(const Order& order, std::function<void(const Json&)> begun) {
  if (order.target == place_.number)
    throw Refusal("from server " + std::to_string(order.target) + " to itself");
  if (!(order.sample_s >= 0 && order.sample_s <= kMostSampleSeconds)) {
    throw std::invalid_argument("sampling for " + std::to_string(order.sample_s) +
                                " s; expected 0 to " + std::to_string(kMostSampleSeconds));
  }
  start([this, order, begun = std::move(begun)](const std::stop_token& stop) {
    run(order, begun, stop);
  });
}

// What is served by now has records as well, which no checkpoint may ever have.
void Departure::resume(const Migration& migration, Address recovered) {
  start([this, migration, recovered](const std::stop_token& stop) {
    note("resumed");
    {
      const std::lock_guard lock(mutex_);
      status_["id"] = migration.id;
    }
    if (migration.phase == Migration::Phase::kPrepared) {
      cancel(migration.id, "the source was killed before the cut", stop);
    } else {
      move(migration, recovered, stop);
    }
  });
}

void Departure::run(const Order& order, const std::function<void(const Json&)>& begun,
                    const std::stop_token& stop) {
  may_cut_ = true;
  Migration migration{.range = order.range, .source = place_.number, .target = order.target};
  try {
    note("prepare");
    reach(order.target, stop);
    const Deadline soon = Deadline::after_seconds(kBeginSeconds);
    const Json prepared =
        target_->ask(ClusterMessageType::kPrepare, Json::object(), soon, {}, stop);
    require_long_values(prepared, order.target);
    prepared.at("receives_from").get_to(migration.receives_from);
    const auto own_bits = std::countr_zero(place_.store.index().buckets());
    migration.indirection =
        order.indirection && prepared.value("index_bits", UINT32_MAX) <=
                                 static_cast<std::uint32_t>(own_bits) + kMostFurtherBits;
    const Json state = place_.metadata.ask(ClusterMessageType::kBegin,
                                           {{"first", order.range.first},
                                            {"last", order.range.last},
                                            {"source", place_.number},
                                            {"target", order.target},
                                            {"receives_from", migration.receives_from},
                                            {"indirection", migration.indirection}},
                                           soon, {}, stop);
    state.at("id").get_to(migration.id);
  } catch (const Stopped&) {
    begun({{"refused", "the server is ending"}});
    throw;
  } catch (const std::exception& error) {
    begun({{"refused", error.what()}});
    throw;
  }
  begun({{"id", migration.id}});
  {
    const std::lock_guard lock(mutex_);
    status_["id"] = migration.id;
    status_["indirection"] = migration.indirection;
  }
  Address end = 0;
  try {
    note("prepared");
    resolve(stop);
    // So that the cut's has little to write, and what is used from now on has new records.
    const hybridlog::Checkpoint made = place_.checkpointer.make();
    std::vector<std::uint64_t> hot;
    if (order.sample_s > 0) hot = sample(order, made.cut, stop);
    end = cut(migration, hot, stop);
  } catch (const std::system_error& error) {
    return cancel(migration.id, error.what(), stop);
  } catch (const Refusal& refusal) {
    return cancel(migration.id, refusal.what(), stop);
  }
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
  if (!place_.resolve(stop)) throw Stopped();
}

std::vector<std::uint64_t> Departure::sample(const Order& order, Address from,
                                             const std::stop_token& stop) {
  note("sampling");
  hybridlog::Sampling& sampling = place_.store.sampling();
  sampling.begin(order.range, from);
  wait(std::chrono::duration<double>(order.sample_s), stop);
  sampling.end();
  if (stop.stop_requested()) throw Stopped();
  constexpr std::size_t kMostKeys = kMostSampledBytes / MovedRecord::kHeaderBytes;
  return sampled_keys(place_.store, order.range, from, kMostKeys);
}

// Returns an address above all records of the range. Where it throws, the range is still this
// server's. Nothing is served from the cut until it is known who owns the range: which number the
// view has then, and whether there is one, the metadata service alone can say.
Address Departure::cut(const Migration& migration, const std::vector<std::uint64_t>& hot,
                       const std::stop_token& stop) {
  note("cut");
  place_.begin_cut();
  Address end = 0;
  Json owned;
  try {
    place_.checkpointer.make({.all_prepared = [&] { place_.serving.wait(); },
                              .all_crossed = [&] { end = place_.store.log().tail(); }});
    note("kept");
    if (!hot.empty()) send_sampled(migration, hot, stop);
    owned = ask_metadata(ClusterMessageType::kOwn, {{"id", migration.id}}, stop);
  } catch (const Stopped&) {
    throw;
  } catch (...) {
    place_.end_cut(nullptr);
    throw;
  }
  const ClusterState state = state_of(owned);
  place_.end_cut(&state);
  note("owned");
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

void Departure::cancel(std::uint64_t id, const std::string& why, const std::stop_token& stop) {
  may_cut_ = false;
  try {
    ask_metadata(ClusterMessageType::kCancel, {{"id", id}}, stop);
  } catch (const Refusal&) {
    // Somebody else has.
  }
  {
    const std::lock_guard lock(mutex_);
    status_["why"] = why;
  }
  note("cancelled");
}

void Departure::move(const Migration& migration, Address end, const std::stop_token& stop) {
  may_cut_ = false;
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
  enum class Sent : std::uint8_t { kTaken, kToAnother, kNotNeeded };
  const auto send = [&] {
    const Json answer = ask_target(migration, ClusterMessageType::kRecords, {{"id", migration.id}},
                                   std::exchange(bytes, {}), stop);
    place_.at_step("move");
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
      if (bytes.size() < kChainsBytes) continue;
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
  wait(kPause, stop);
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
