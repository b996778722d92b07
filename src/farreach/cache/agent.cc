// What the agent is asked, by the controller and by the switch.
#include "farreach/cache/agent.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/clock.h"

namespace turntable::cache {
namespace {

using Operation = ControlFrame::Operation;

// From the clock, in steps of 65 us: admissions are slower, so that the next agent repeats none.
std::uint32_t first_admission() {
  return static_cast<std::uint32_t>(realtime_ns() >> 16U) & kLargestNumber;
}

std::vector<Record> keys_only(const std::vector<Key>& keys) {
  std::vector<Record> records;
  records.reserve(keys.size());
  for (const Key& key : keys) records.push_back(key_only(key));
  return records;
}

}  // namespace

Agent::Agent(Driver& driver, net::Timers& timers, AgentSettings settings,
             AskController ask_controller, std::function<void(const std::string&)> on_failure)
    : driver_(driver),
      timers_(timers),
      settings_(std::move(settings)),
      ask_controller_(
          [this, ask = std::move(ask_controller)](Message message, Unanswered::OnAnswer on_answer) {
            // An answer may come when nobody is there any more whom it concerns.
            ask(std::move(message), [alive = std::weak_ptr<void>(alive_),
                                     then = std::move(on_answer)](const Message& answer) {
              if (!alive.expired()) then(answer);
            });
          }),
      slots_(settings_.cache_size),
      slot_frames_(slots_, settings_.egress_ports, settings_.write_back),
      frames_(driver, timers),
      lookup_(driver, timers),
      random_(std::random_device{}()),
      epoch_{.number = settings_.epoch},
      last_admission_(first_admission()),
      snapshot_(driver, frames_, slots_, snapshot_hooks()),
      tasks_(timers, [on_failure = std::move(on_failure)](const std::exception_ptr& failure) {
        on_failure(net::message_of(failure));
      }) {}

// ---------------------------------------------------------------------------------------------
// Requests of the controller

void Agent::handle(const Message& request, Reply reply) {
  if (const std::string why = refusal_of(request, epoch_); !why.empty()) {
    ++counters_.refused_by_epoch;
    return reply(failure_of(request, why));
  }
  switch (request.type) {
    case MessageType::kHello:
      return greeted(request, reply);
    case MessageType::kHot:
      return settings_.admission ? spawn(admit_all(request, std::move(reply)))
                                 : refuse_all(request, reply);
    case MessageType::kAdmit:
      return spawn(admit_all(request, std::move(reply)));
    case MessageType::kEvict:
      return spawn(evict_all(request, std::move(reply)));
    case MessageType::kReadmit:
      return spawn(readmit_all(request, std::move(reply)));
    case MessageType::kSetNumbers:
      return set_numbers(request, reply);
    case MessageType::kBegin:
    case MessageType::kPoint:
    case MessageType::kFinish:
      return handle_snapshot(request, std::move(reply));
    case MessageType::kRestore:
      return spawn(restore(request, std::move(reply)));
    case MessageType::kServe:
      return serve(request, reply);
    case MessageType::kCachedSet:
      return cached_set(request, reply);
    case MessageType::kSlots:
      return list_slots(request, reply);
    default:
      ++counters_.unexpected;
      return reply(failure_of(request, "the agent knows no such request"));
  }
}

net::Task<void> Agent::admit_all(Message request, Reply reply) {
  std::vector<CachedKey> admitted;
  for (const Record& record : request.records) admitted.push_back({record.key, {}});
  std::size_t left = admitted.size();
  Settled all_done;
  for (std::size_t i = 0; i < admitted.size(); ++i) {
    spawn(admit_one(request.records[i], admitted[i].admission, left, all_done));
  }
  if (!admitted.empty()) co_await all_done;
  Message answer = answer_to(request);
  append_cached(admitted, answer);
  reply(answer);
}

void Agent::refuse_all(const Message& request, const Reply& reply) {
  counters_.refused += request.records.size();
  std::vector<CachedKey> refused;
  for (const Record& record : request.records) refused.push_back({record.key, {}});
  Message answer = answer_to(request);
  append_cached(refused, answer);
  reply(answer);
}

net::Task<void> Agent::admit_one(const Record& record, Admission& admission, std::size_t& left,
                                 Settled& all_done) {
  admission = co_await admit(record);
  if (--left == 0) all_done.complete(true);
}

net::Task<void> Agent::evict_all(Message request, Reply reply) {
  for (const Record& record : request.records) co_await evict(record.key);
  reply(answer_to(request));
}

net::Task<void> Agent::readmit_all(Message request, Reply reply) {
  co_await readmit(request.records);
  reply(answer_to(request));
}

// A controller has connected. A snapshot that it, or the one before, had begun is given up.
void Agent::greeted(const Message& request, const Reply& reply) {
  ++controllers_;
  spawn(forget_snapshot());
  reply(answer_to(request, {kMessagesVersion, epoch_.number, epoch_.serves ? 1U : 0U}));
}

net::Task<void> Agent::forget_snapshot() {
  snapshot_.give_up("the controller connected anew");
  co_return;
}

void Agent::handle_snapshot(const Message& request, Reply reply) {
  if (settings_.write_back) return snapshot_.handle(request, std::move(reply));
  ++counters_.unexpected;
  reply(failure_of(request, "only farreach has snapshots"));
}

// In the middle of an admission or eviction the numbers of keys differ for a moment.
void Agent::cached_set(const Message& request, const Reply& reply) {
  std::vector<std::uint32_t> numbers = {static_cast<std::uint32_t>(slots_.digest() >> 32U),
                                        static_cast<std::uint32_t>(slots_.digest()),
                                        settings_.cache_size, epoch_.number,
                                        epoch_.serves ? 1U : 0U};
  try {
    const std::size_t entries = driver_.count_entries(kCacheLookup);
    if (transits_.empty() && entries != slots_.used()) {
      return reply(failure_of(request, "the switch has " + std::to_string(entries) +
                                           " keys, the agent knows of " +
                                           std::to_string(slots_.used()) +
                                           ": has the switch been started again? Then send " +
                                           "switch-agent `configure` with \"fresh\""));
    }
    if (!request.numbers.empty()) numbers.push_back(is_untouched() ? 1 : 0);
  } catch (const std::exception& error) {
    return reply(failure_of(request, error.what()));
  }
  std::vector<Key> keys;
  for (const Slot slot : slots_.cached_slots()) keys.push_back(slots_.key(slot));
  reply(answer_to(request, std::move(numbers), keys_only(keys)));
}

// Admissions that wait for their slot are not in it: those of a controller before this one will be
// refused, and this one knows of its own.
void Agent::list_slots(const Message& request, const Reply& reply) {
  std::vector<CachedKey> keys;
  for (const Slot slot : slots_.used_slots()) {
    keys.push_back({slots_.key(slot), slots_.admission(slot)});
  }
  Message answer = answer_to(request);
  append_cached(keys, answer);
  reply(answer);
}

// ---------------------------------------------------------------------------------------------
// Frames of the CPU port

void Agent::received(const ControlFrame& frame) {
  if (frame.is_answer) return frames_.received(frame);
  if (frame.operation == Operation::kHot) return report_hot(frame.key);
  if (frame.operation == Operation::kCase1) return snapshot_.reported(frame);
  ++counters_.unexpected;
}

void Agent::report_hot(const Key& key) {
  const bool wanted = settings_.admission && !slots_.find(key) && !transits_.contains(key);
  if (!wanted || !reported_.emplace(key, true).second) return;
  ask_controller_(request(MessageType::kHot, {}, {key_only(key)}),
                  [this, key](const Message&) { reported_.erase(key); });
}

// ---------------------------------------------------------------------------------------------

void Agent::set_cache_size(std::uint32_t cache_size) {
  slots_.set_capacity(cache_size);
  settings_.cache_size = cache_size;
  for (const Slot slot : slots_.beyond()) spawn(evict(slots_.key(slot)));
}

SnapshotTaker::Hooks Agent::snapshot_hooks() {
  return {.spawn = [this](net::Task<void> task) { spawn(std::move(task)); },
          .is_quiet = [this] { return is_quiet(); },
          .load = [this](Slot slot) { return slot_frames_.load(slot); },
          .drain = [this] { return drain_all_ports(); }};
}

// When all are answered, no packet that was on its way through the switch before is any more.
net::Task<void> Agent::drain_all_ports() {
  std::vector<ControlFrame> questions = slot_frames_.loads_through_all_ports();
  co_await frames_.ask_all(std::move(questions));
}

}  // namespace turntable::cache
