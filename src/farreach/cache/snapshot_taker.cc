#include "farreach/cache/snapshot_taker.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace turntable::cache {
namespace {

constexpr const char* kOutcomes = "outcome";
constexpr auto kPutCase1 = static_cast<std::size_t>(p4::Outcome::kPutCase1);
constexpr auto kDeleteCase1 = static_cast<std::size_t>(p4::Outcome::kDeleteCase1);

// The switch's table, and its default action until the switch serves (p4/farreach/snapshot.p4).
constexpr const char* kTable = "snapshot";
constexpr const char* kNotServing = "no_snapshot";

Driver::Json default_of(const char* action) {
  return {{"op", "set_default"}, {"table", kTable}, {"action", action}};
}

// Admissions and evictions have their turn in between.
constexpr std::size_t kLoadedAtOnce = 256;

// Nothing of a slot that has no record of its own: its server has the newest.
std::optional<Record> record_in(const ControlFrame& frame) {
  const std::uint32_t state = state_of(frame.cell);
  const bool has_record = state == kLatest || (state == kSuperseded && number_of(frame.cell) != 0);
  return has_record ? std::optional(record_of(frame)) : std::nullopt;
}

}  // namespace

SnapshotTaker::SnapshotTaker(Driver& driver, FrameExchange& frames, const Slots& slots, Hooks hooks)
    : driver_(driver), frames_(frames), slots_(slots), hooks_(std::move(hooks)) {}

void SnapshotTaker::handle(const Message& request, Reply reply) {
  if (request.numbers.empty() || request.numbers[0] == 0) {
    return reply(failure_of(request, "expected the snapshot's id, which is not 0"));
  }
  switch (request.type) {
    case MessageType::kBegin:
      return hooks_.spawn(begin(request, std::move(reply)));
    case MessageType::kPoint:
      return hooks_.spawn(point(request, std::move(reply)));
    default:
      return hooks_.spawn(finish(request, std::move(reply)));
  }
}

// ---------------------------------------------------------------------------------------------
// Up to the point

net::Task<void> SnapshotTaker::begin(Message request, Reply reply) {
  const std::uint32_t id = request.numbers[0];
  const bool came_twice = holds_changes() && id_ == id;
  if (!came_twice) {
    if (id <= id_) {
      co_return reply(failure_of(
          request, "ids of snapshots only grow, and " + std::to_string(id_) + " has been begun"));
    }
    give_up("snapshot " + std::to_string(id) + " was begun");
    id_ = id;
    phase_ = Phase::kWaiting;
  }
  while (is_in(Phase::kWaiting, id) && !hooks_.is_quiet()) co_await changed();
  if (is_in(Phase::kWaiting, id) && !is_drained_) {
    co_await hooks_.drain();
    is_drained_ = true;
  }
  if (is_in(Phase::kWaiting, id)) {
    places_.clear();
    for (const Slot slot : slots_.cached_slots()) places_[slots_.key(slot)].slot = slot;
    phase_ = Phase::kBegun;
  }
  reply(is_in(Phase::kBegun, id) ? answer_to(request) : failure_of(request, gone(id)));
}

net::Task<void> SnapshotTaker::point(Message request, Reply reply) {
  const std::uint32_t id = request.numbers[0];
  if (is_in(Phase::kBegun, id)) {
    reported_.clear();
    is_loaded_ = false;
    case1_before_ = case1_count();
    write_flag(id);
    phase_ = Phase::kTaking;
    is_drained_ = false;
    hooks_.spawn(load_all(id));
  }
  reply(is_in(Phase::kTaking, id) ? answer_to(request) : failure_of(request, gone(id)));
  notify();
  co_return;
}

// ---------------------------------------------------------------------------------------------
// After it

net::Task<void> SnapshotTaker::load_all(std::uint32_t id) {
  std::vector<std::pair<Key, Slot>> left;
  for (const auto& [key, place] : places_) left.emplace_back(key, place.slot);
  while (!left.empty()) {
    std::vector<ControlFrame> questions;
    for (; !left.empty() && questions.size() < kLoadedAtOnce; left.pop_back()) {
      const auto& [key, slot] = left.back();
      if (!places_.at(key).seen) questions.push_back(hooks_.load(slot));
    }
    const std::vector<ControlFrame> answers = co_await frames_.ask_all(std::move(questions));
    if (!is_in(Phase::kTaking, id)) co_return;
    for (const ControlFrame& answer : answers) see(answer.key, answer);
  }
  is_loaded_ = true;
  notify();
}

void SnapshotTaker::reported(const ControlFrame& frame) {
  const bool is_ours = phase_ == Phase::kTaking || phase_ == Phase::kFinishing;
  if (!is_ours || frame.token != id_ || !reported_.insert(frame.slot).second) {
    ++counters_.late_reports;
    return;
  }
  ++counters_.reports;
  see(frame.key, frame);
}

void SnapshotTaker::evicted(const ControlFrame& loaded) {
  if (phase_ == Phase::kTaking) see(loaded.key, loaded);
}

void SnapshotTaker::see(const Key& key, const ControlFrame& frame) {
  const auto found = places_.find(key);
  if (found == places_.end() || found->second.seen) return;
  found->second.seen = true;
  found->second.record = record_in(frame);
}

net::Task<void> SnapshotTaker::finish(Message request, Reply reply) {
  const std::uint32_t id = request.numbers[0];
  if (holds_changes() && id_ == id) give_up("it was ended before its point");
  while (is_in(Phase::kTaking, id) && !is_loaded_) co_await changed();
  if (is_in(Phase::kTaking, id)) co_await conclude(id);
  while (is_in(Phase::kFinishing, id)) co_await changed();
  reply(finished_ == id ? answer_to(request, {}, cut_) : failure_of(request, gone(id)));
}

net::Task<void> SnapshotTaker::conclude(std::uint32_t id) {
  phase_ = Phase::kFinishing;
  write_flag(std::nullopt);
  co_await hooks_.drain();
  if (!is_in(Phase::kFinishing, id)) co_return;
  is_drained_ = true;
  const std::uint64_t counted = case1_count() - case1_before_;
  if (counted != reported_.size()) {
    co_return give_up("the switch sent " + std::to_string(counted) + " CASE1 reports and " +
                      std::to_string(reported_.size()) + " have come");
  }
  cut_.clear();
  for (auto& [key, place] : places_) {
    if (place.record) cut_.push_back(std::move(*place.record));
  }
  places_.clear();
  finished_ = id;
  ++counters_.taken;
  phase_ = Phase::kIdle;
  notify();
}

void SnapshotTaker::give_up(const std::string& why) {
  if (!is_under_way()) return;
  if (phase_ == Phase::kTaking) write_flag(std::nullopt);
  phase_ = Phase::kIdle;
  why_given_up_ = why;
  ++counters_.given_up;
  places_.clear();
  notify();
}

std::string SnapshotTaker::gone(std::uint32_t id) const {
  const std::string snapshot = "snapshot " + std::to_string(id);
  if (id != id_ || why_given_up_.empty()) return snapshot + " is not under way here";
  return snapshot + " was given up: " + why_given_up_;
}

// ---------------------------------------------------------------------------------------------

bool SnapshotTaker::adopt() {
  is_drained_ = false;
  if (driver_.read_default(kTable).ends_with(kNotServing)) return false;
  write_flag(std::nullopt);
  return true;
}

void SnapshotTaker::forget(Driver& driver) {
  driver.write_tables(Driver::Json::array({default_of(kNotServing)}));
}

void SnapshotTaker::write_flag(std::optional<std::uint32_t> token) {
  Driver::Json update = default_of(token ? "in_snapshot" : "between_snapshots");
  if (token) update["data"] = {{"token", *token}};
  driver_.write_tables(Driver::Json::array({update}));
}

std::uint64_t SnapshotTaker::case1_count() {
  const std::vector<std::uint64_t> outcomes = driver_.read_counter(kOutcomes);
  return outcomes.at(kPutCase1) + outcomes.at(kDeleteCase1);
}

net::Task<void> SnapshotTaker::until_released() {
  while (holds_changes()) co_await changed();
}

void SnapshotTaker::quiet() {
  if (phase_ == Phase::kWaiting) notify();
}

net::Task<void> SnapshotTaker::changed() {
  net::Completion<bool> change;
  waiting_.push_back(&change);
  co_await change;
}

// Whoever waits goes on at once, and looks itself whether it may.
void SnapshotTaker::notify() {
  for (net::Completion<bool>* const waiting : std::exchange(waiting_, {})) waiting->complete(true);
}

}  // namespace turntable::cache
