#include "cache/agent.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>

#include "cache/switch_image.h"
#include "cache/wait_for.h"
#include "common/clock.h"
#include "workload/key.h"

namespace turntable::cache {
namespace {

using Operation = ControlFrame::Operation;
using State = Slots::State;

constexpr std::int64_t kStoreAgainNs = 100'000'000;

// From the clock, in steps of 65 us: admissions are slower, so that the next agent repeats none.
std::uint32_t first_admission() {
  return static_cast<std::uint32_t>(realtime_ns() >> 16U) & kLargestNumber;
}

// Whether a cell of `outcome` counts requests.
bool is_of_request(std::size_t cell) {
  switch (static_cast<p4::Outcome>(cell % p4::kWithCase3)) {
    case p4::Outcome::kUnknown:
    case p4::Outcome::kMalformed:
    case p4::Outcome::kNumbersUsedUp:
    case p4::Outcome::kFillTaken:
    case p4::Outcome::kFillRefused:
    case p4::Outcome::kControl:
      return false;
    default:
      return true;
  }
}

// Once it is in its slot: a record that is not known, or is large, is its server's to answer.
bool is_served(const Record& record) {
  return record.kind == Record::Kind::kValue || record.kind == Record::Kind::kDeleted;
}

std::vector<Record> keys_only(const std::vector<Key>& keys) {
  std::vector<Record> records;
  records.reserve(keys.size());
  for (const Key& key : keys) records.push_back(key_only(key));
  return records;
}

}  // namespace

Agent::Agent(Driver& driver, Timers& timers, AgentSettings settings, AskController ask_controller,
             std::function<void(const std::string&)> on_failure)
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
      frames_(driver, timers),
      lookup_(driver, timers),
      random_(std::random_device{}()),
      epoch_{.number = settings_.epoch},
      last_admission_(first_admission()),
      snapshot_(driver, frames_, slots_, snapshot_hooks()),
      tasks_(timers, [on_failure = std::move(on_failure)](const std::exception_ptr& failure) {
        on_failure(message_of(failure));
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

Task<void> Agent::admit_all(Message request, Reply reply) {
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

Task<void> Agent::admit_one(const Record& record, Admission& admission, std::size_t& left,
                            Settled& all_done) {
  admission = co_await admit(record);
  if (--left == 0) all_done.complete(true);
}

Task<void> Agent::evict_all(Message request, Reply reply) {
  for (const Record& record : request.records) co_await evict(record.key);
  reply(answer_to(request));
}

Task<void> Agent::readmit_all(Message request, Reply reply) {
  co_await readmit(request.records);
  reply(answer_to(request));
}

// A controller has connected. A snapshot that it, or the one before, had begun is given up.
void Agent::greeted(const Message& request, const Reply& reply) {
  ++controllers_;
  spawn(forget_snapshot());
  reply(answer_to(request, {kMessagesVersion, epoch_.number, epoch_.serves ? 1U : 0U}));
}

Task<void> Agent::forget_snapshot() {
  snapshot_.give_up("the controller connected anew");
  co_return;
}

void Agent::handle_snapshot(const Message& request, Reply reply) {
  if (settings_.write_back) return snapshot_.handle(request, std::move(reply));
  ++counters_.unexpected;
  reply(failure_of(request, "only farreach has snapshots"));
}

void Agent::serve(const Message& request, const Reply& reply) {
  try {
    begin_serving();
  } catch (const std::exception& error) {
    return reply(failure_of(request, error.what()));
  }
  reply(answer_to(request));
}

// Of NetCache's switch the servers have everything; it keeps no mark of its own.
void Agent::begin_serving() {
  if (epoch_.serves) return;
  if (settings_.write_back) snapshot_.serve();
  epoch_.serves = true;
}

void Agent::set_numbers(const Message& request, const Reply& reply) {
  if (request.numbers[0] > kLargestNumber) {
    ++counters_.unexpected;
    return reply(failure_of(request, "expected a number of at most 30 bits"));
  }
  try {
    driver_.write_register(kNumbers, 0,
                           std::vector<std::uint64_t>(kSlotsOfSwitch, request.numbers[0]));
  } catch (const std::exception& error) {
    return reply(failure_of(request, error.what()));
  }
  reply(answer_to(request));
}

// In the middle of an admission or eviction the numbers of keys differ for a moment.
void Agent::cached_set(const Message& request, const Reply& reply) {
  std::vector<std::uint32_t> numbers = {static_cast<std::uint32_t>(slots_.digest() >> 32U),
                                        static_cast<std::uint32_t>(slots_.digest()),
                                        settings_.cache_size, epoch_.number,
                                        epoch_.serves ? 1U : 0U};
  try {
    const std::size_t entries = driver_.count_entries(kCacheLookup);
    if (in_transit_.empty() && entries != slots_.used()) {
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

// No request has passed the switch since it was started, or since its numbers were set.
bool Agent::is_untouched() {
  const std::vector<std::uint64_t> cells = driver_.read_register(kNumbers, 0, kSlotsOfSwitch);
  if (std::adjacent_find(cells.begin(), cells.end(), std::not_equal_to<>()) != cells.end()) {
    return false;
  }
  const std::vector<std::uint64_t> outcomes = driver_.read_counter(kOutcomes);
  for (std::size_t cell = 0; cell < outcomes.size(); ++cell) {
    if (is_of_request(cell) && outcomes[cell] > 0) return false;
  }
  return true;
}

// From where it awaits nothing any more, a second request finds all of it done, or nothing.
Task<void> Agent::restore(Message request, Reply reply) {
  if (settings_.write_back) snapshot_.give_up("slots are restored");
  while (!in_transit_.empty()) co_await until_settled(in_transit_.begin()->first);
  if (restored_by_ == request.id) co_return reply(answer_to(request));
  try {
    write_restored(request.records);
    begin_serving();
  } catch (const std::exception& error) {
    co_return reply(failure_of(request, error.what()));
  }
  restored_by_ = request.id;
  reply(answer_to(request));
}

// What has been admitted since the switch was started, or restored before, goes: no packet knows
// its slot.
void Agent::empty_untouched_switch() {
  if (slots_.used() == 0) return;
  driver_.clear_register("valid.cells");
  driver_.write_tables(Driver::Json::array({{{"op", "clear"}, {"table", kCacheLookup}}}));
  for (const Slot slot : slots_.cached_slots()) {
    tell_evicted(slot);
    slots_.leave(slot);
    slots_.release(slot);
  }
}

void Agent::write_restored(const std::vector<Record>& records) {
  if (!is_untouched()) {
    throw std::runtime_error(
        "requests have passed the switch; expected one that has been started again and does not "
        "forward them yet, and switch-agent `configure` with \"fresh\"");
  }
  if (records.size() > slots_.capacity()) {
    throw std::runtime_error(std::to_string(records.size()) + " records for the " +
                             std::to_string(slots_.capacity()) +
                             " slots of the cache; give switch-agent a larger cache_size");
  }
  empty_untouched_switch();
  const auto number = static_cast<std::uint32_t>(driver_.read_register(kNumbers, 0, 1).at(0));
  std::vector<ControlFrame> admissions;
  admissions.reserve(records.size());
  try {
    for (const Record& record : records) {
      if (record.number > kLargestNumber || !workload::key_id_from_wire(record.key) ||
          slots_.find(record.key)) {
        throw std::runtime_error("record " + std::to_string(admissions.size()) +
                                 " has a key that came before, a key that no server has, or a " +
                                 "number of more than 30 bits");
      }
      const std::optional<Slot> slot = slots_.enter(record.key);
      slots_.set_admission(*slot, next_admission(number));
      admissions.push_back(admission_of_newest(*slot, record));
    }
    write_slots(driver_, admissions);
  } catch (...) {
    for (const ControlFrame& frame : admissions) {
      slots_.leave(frame.slot);
      slots_.release(frame.slot);
    }
    throw;
  }
  for (const ControlFrame& frame : admissions) slots_.entered(frame.slot);
  counters_.restored += admissions.size();
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
  const bool wanted = settings_.admission && !slots_.find(key) && !in_transit_.contains(key);
  if (!wanted || !reported_.emplace(key, true).second) return;
  ask_controller_(request(MessageType::kHot, {}, {key_only(key)}),
                  [this, key](const Message&) { reported_.erase(key); });
}

// ---------------------------------------------------------------------------------------------
// Admission

Task<Admission> Agent::admit(Record record) {
  const std::uint64_t controller = controllers_;
  co_await until_key_may_change(record.key);
  if (const auto slot = slots_.find(record.key)) co_return slots_.admission(*slot);
  if (!workload::key_id_from_wire(record.key)) {  // no server has such keys
    ++counters_.refused;
    co_return Admission();
  }
  const Key key = record.key;
  begin_transit(key);
  const Admission admission = co_await enter(std::move(record), controller);
  end_transit(key);
  co_return admission;
}

Task<Admission> Agent::enter(Record record, std::uint64_t controller) {
  const std::vector<Slot> found = co_await make_room(record.key);
  if (found.empty()) {
    ++counters_.refused;
    co_return Admission();
  }
  const Slot slot = found.front();
  if (controller != controllers_) {
    ++counters_.refused;
    slots_.leave(slot);
    slots_.release(slot);
    co_return Admission();
  }
  const Admission admitted = next_admission(numbered_up_to(record));
  slots_.set_admission(slot, admitted);
  co_await frames_.ask(admission(slot, record));
  co_await lookup_.insert(record.key, slot);
  co_await frames_.ask(set_valid(slot, kNormal));
  slots_.entered(slot);
  ++counters_.admitted;
  // The cache has become smaller meanwhile.
  if (slot >= slots_.capacity()) spawn(evict(record.key));
  co_return admitted;
}

Admission Agent::next_admission(std::uint32_t number) {
  last_admission_ = admission_after(last_admission_);
  return {.id = last_admission_, .number = number};
}

// The largest number of any write of a key that no packet finds in the switch yet. Only a record
// that the switch is going to serve must not be older than a write.
std::uint32_t Agent::numbered_up_to(const Record& record) {
  if (settings_.write_back || !is_served(record)) return 0;
  const std::uint32_t cell = workload::slot_of(*workload::key_id_from_wire(record.key));
  return static_cast<std::uint32_t>(driver_.read_register(kNumbers, cell, 1).at(0));
}

// Keys whose servers began anew have slots that hold records of before. No request is under way, so
// a slot may be written although it is valid, and what its server has is the newest record.
Task<void> Agent::readmit(std::vector<Record> records) {
  snapshot_.give_up("slots are written anew");
  ++rewriting_;
  std::vector<ControlFrame> frames;
  for (const Record& record : records) {
    while (in_transit_.contains(record.key)) co_await until_settled(record.key);
    const std::optional<Slot> slot = slots_.find(record.key);
    if (!slot) continue;
    // To a fill that was on its way it is another admission.
    if (settings_.write_back) slots_.set_admission(*slot, next_admission());
    frames.push_back(admission_of_newest(*slot, record));
  }
  co_await frames_.ask_all(std::move(frames));
  --rewriting_;
  if (is_quiet()) snapshot_.quiet();
}

// ---------------------------------------------------------------------------------------------
// Eviction

Task<void> Agent::evict(Key key) {
  co_await until_key_may_change(key);
  const std::optional<Slot> slot = slots_.find(key);
  if (!slot) co_return;
  begin_transit(key);
  slots_.leave(*slot);
  co_await leave(*slot, kNormal);
  slots_.release(*slot);
  end_transit(key);
}

// A slot that is kEntering for `newcomer`; none if all are taken and no key is cached that could
// go.
Task<std::vector<Slot>> Agent::make_room(Key newcomer) {
  while (true) {
    if (const auto free = slots_.enter(newcomer)) co_return std::vector<Slot>(1, *free);
    if (slots_.cached() == 0) co_return std::vector<Slot>();
    const std::vector<Slot> sampled = slots_.sample(settings_.victims_sampled, random_);
    std::vector<ControlFrame> questions;
    questions.reserve(sampled.size());
    for (const Slot slot : sampled) questions.push_back(load(slot));
    std::vector<ControlFrame> loaded = co_await frames_.ask_all(std::move(questions));
    std::stable_sort(loaded.begin(), loaded.end(),
                     [](const auto& a, const auto& b) { return a.frequency < b.frequency; });
    // Meanwhile others may have chosen the same victim.
    const auto victim = std::find_if(loaded.begin(), loaded.end(), [this](const auto& frame) {
      return slots_.state(frame.slot) == State::kCached && slots_.key(frame.slot) == frame.key;
    });
    if (victim == loaded.end()) continue;
    const Slot slot = victim->slot;
    const Key key = slots_.key(slot);
    begin_transit(key);
    slots_.leave(slot);
    co_await leave(slot, kNormal);
    // Before others learn that the victim has left: they would take its slot.
    const bool belongs = slot < slots_.capacity();
    if (belongs) {
      slots_.hand_over(slot, newcomer);
    } else {
      slots_.release(slot);
    }
    end_transit(key);
    if (belongs) co_return std::vector<Slot>(1, slot);
  }
}

// From the slot's present `valid` to a slot that no packet knows.
Task<void> Agent::leave(Slot slot, std::uint8_t valid) {
  if (valid != kIgnored) {
    if (settings_.write_back) {
      co_await frames_.ask(set_valid(slot, kBeingEvicted));
      const ControlFrame loaded = co_await frames_.ask(load(slot));
      snapshot_.evicted(loaded);
      // An ADMITTED record came from the server; number 0 is what the load has written there.
      if (state_of(loaded.cell) != kAdmitted && number_of(loaded.cell) != 0) {
        co_await write_back(record_of(loaded));
      }
    }
    co_await frames_.ask(set_valid(slot, kIgnored));
  }
  tell_evicted(slot);
  co_await lookup_.remove(slots_.key(slot));
  // Through the queue of the old key's server: when it is answered, no packet that found the key
  // here is on its way to the slot's registers. A frame that only reads does no harm if a copy of
  // it comes late.
  co_await frames_.ask(load(slot));
  ++counters_.evicted;
}

// The slot answers nothing any more.
void Agent::tell_evicted(Slot slot) {
  Message told = request(MessageType::kEvicted);
  append_cached({{slots_.key(slot), slots_.admission(slot)}}, told);
  ask_controller_(std::move(told), [](const Message&) {});
}

// Until a server has stored it: the slot may be all there is of the record.
Task<void> Agent::write_back(Record record) {
  while (true) {
    Settled stored;
    std::vector<std::uint32_t> numbers;
    if (snapshot_.token() != 0) numbers.push_back(snapshot_.token());
    ask_controller_(request(MessageType::kStore, std::move(numbers), {record}),
                    [&stored](const Message& answer) { stored.complete(answer.text.empty()); });
    if (co_await stored) break;
    ++counters_.store_failures;
    co_await wait_for(timers_, kStoreAgainNs);
  }
  ++counters_.written_back;
}

void Agent::set_cache_size(std::uint32_t cache_size) {
  slots_.set_capacity(cache_size);
  settings_.cache_size = cache_size;
  for (const Slot slot : slots_.beyond()) spawn(evict(slots_.key(slot)));
}

// ---------------------------------------------------------------------------------------------
// Start

Task<void> Agent::adopt() {
  epoch_.serves = settings_.write_back ? snapshot_.adopt() : !settings_.fresh;
  for (const Driver::Json& entry : driver_.read_table(kCacheLookup)) {
    if (!entry.contains("key")) continue;  // the default entry
    const auto slot = entry.at("data").at("slot");
    slots_.occupy(
        Slot(std::stoul(slot.is_string() ? slot.get<std::string>() : slot.dump(), nullptr, 0)),
        key_of_lookup(entry.at("key")));
  }
  std::vector<ControlFrame> questions;
  for (Slot slot = 0; slot < kSlotsOfSwitch; ++slot) {
    if (slots_.state(slot) == State::kEntering) questions.push_back(load(slot));
  }
  number_adopted();
  counters_.found = questions.size();
  const std::vector<ControlFrame> found = co_await frames_.ask_all(std::move(questions));
  // Free slots may have been freed a moment ago by an agent that did not live to see its last
  // frame.
  co_await drain_all_ports(0);
  for (const ControlFrame& slot : found) {
    if (slot.valid == kNormal) {
      slots_.entered(slot.slot);
      continue;
    }
    ++counters_.found_in_transit;
    begin_transit(slots_.key(slot.slot));
    slots_.leave(slot.slot);
    spawn(finish_leaving(slot.slot, slot.valid));
  }
  for (const Slot slot : slots_.beyond()) spawn(evict(slots_.key(slot)));
}

// What was admitted by another agent: as if it had just been, since nobody knows better.
void Agent::number_adopted() {
  std::vector<std::uint64_t> numbers(kSlotsOfSwitch);
  if (!settings_.write_back) numbers = driver_.read_register(kNumbers, 0, kSlotsOfSwitch);
  const Admission adopted = next_admission();
  for (const Slot slot : slots_.used_slots()) {
    const auto id = workload::key_id_from_wire(slots_.key(slot));
    const std::size_t cell = id ? workload::slot_of(*id) : 0;
    slots_.set_admission(slot,
                         {.id = adopted.id, .number = static_cast<std::uint32_t>(numbers[cell])});
  }
}

Task<void> Agent::finish_leaving(Slot slot, std::uint8_t valid) {
  const Key key = slots_.key(slot);
  co_await leave(slot, valid);
  slots_.release(slot);
  end_transit(key);
}

Task<void> Agent::drain_all_ports(Slot slot) {
  const std::set<std::uint16_t> ports(settings_.egress_ports.begin(), settings_.egress_ports.end());
  std::vector<ControlFrame> questions;
  for (const std::uint16_t port : ports) {
    questions.push_back(frame(Operation::kLoad, slot));
    questions.back().egress_port = port;
  }
  co_await frames_.ask_all(std::move(questions));
}

// ---------------------------------------------------------------------------------------------

void Agent::begin_transit(const Key& key) {
  in_transit_.emplace(key, std::vector<Settled*>());
}

void Agent::end_transit(const Key& key) {
  const auto node = in_transit_.extract(key);
  for (Settled* const waiting : node.mapped()) waiting->complete(true);
  if (is_quiet()) snapshot_.quiet();
}

Task<void> Agent::until_settled(Key key) {
  Settled settled;
  in_transit_.at(key).push_back(&settled);
  co_await settled;
}

// Until no admission or eviction of the key is under way, and a snapshot does not forbid another.
Task<void> Agent::until_key_may_change(Key key) {
  while (true) {
    if (snapshot_.holds_changes()) {
      co_await snapshot_.until_released();
    } else if (in_transit_.contains(key)) {
      co_await until_settled(key);
    } else {
      co_return;
    }
  }
}

SnapshotTaker::Hooks Agent::snapshot_hooks() {
  return {.spawn = [this](Task<void> task) { spawn(std::move(task)); },
          .is_quiet = [this] { return is_quiet(); },
          .load = [this](Slot slot) { return load(slot); },
          .drain = [this] { return drain_all_ports(0); }};
}

std::uint16_t Agent::egress_port_of(const Key& key) const {
  const auto id = workload::key_id_from_wire(key);
  if (!id) return settings_.egress_ports.front();
  const auto partitions = static_cast<unsigned>(settings_.egress_ports.size());
  return settings_.egress_ports[workload::partition_of(workload::slot_of(*id), partitions)];
}

ControlFrame Agent::frame(Operation operation, Slot slot) const {
  ControlFrame frame{.operation = operation, .slot = slot, .key = slots_.key(slot)};
  frame.egress_port = egress_port_of(frame.key);
  return frame;
}

ControlFrame Agent::set_valid(Slot slot, std::uint8_t valid) const {
  ControlFrame result = frame(Operation::kSetValid, slot);
  result.valid = valid;
  return result;
}

ControlFrame Agent::load(Slot slot) const {
  return frame(Operation::kLoad, slot);
}

// What is admitted while requests are under way. FarReach trusts no record then: the first GET, or
// a write, brings the newest one, and the epoch tells this admission from all others. NetCache
// blocks the key's writes meanwhile, so what it is given is the newest.
ControlFrame Agent::admission(Slot slot, const Record& record) {
  if (!settings_.write_back) return admission_of_newest(slot, record);
  ControlFrame result = frame(Operation::kAdmit, slot);
  put_record(key_only(record.key), result);
  result.cell = kAdmitted | slots_.admission(slot).id;
  return result;
}

// `record` is the newest of its key, if it is known at all.
ControlFrame Agent::admission_of_newest(Slot slot, const Record& record) {
  if (!is_served(record) && settings_.write_back) return admission(slot, record);
  ControlFrame result = frame(Operation::kAdmit, slot);
  put_record(record, result);
  result.cell = is_served(record) ? kLatest | record.number : kSuperseded;
  return result;
}

}  // namespace turntable::cache
