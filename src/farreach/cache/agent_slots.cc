// Keys get slots and lose them while requests go on (docs/kvcache.md §7).
#include <algorithm>

#include "farreach/cache/agent.h"
#include "net/wait_for.h"
#include "workload/key.h"

namespace turntable::cache {
namespace {

using State = Slots::State;

constexpr std::int64_t kStoreAgainNs = 100'000'000;

}  // namespace

// ---------------------------------------------------------------------------------------------
// Admission

net::Task<Admission> Agent::admit(Record record) {
  const std::uint64_t controller = controllers_;
  co_await until_key_may_change(record.key);
  if (const auto slot = slots_.find(record.key)) co_return slots_.admission(*slot);
  if (!workload::key_id_from_wire(record.key)) {  // no server has such keys
    ++counters_.refused;
    co_return Admission();
  }
  const Key key = record.key;
  transits_.begin(key);
  const Admission admission = co_await enter(std::move(record), controller);
  end_transit(key);
  co_return admission;
}

net::Task<Admission> Agent::enter(Record record, std::uint64_t controller) {
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
  co_await frames_.ask(slot_frames_.admission(slot, record));
  co_await lookup_.insert(record.key, slot);
  co_await frames_.ask(slot_frames_.set_valid(slot, kNormal));
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
net::Task<void> Agent::readmit(std::vector<Record> records) {
  snapshot_.give_up("slots are written anew");
  ++rewriting_;
  std::vector<ControlFrame> frames;
  for (const Record& record : records) {
    while (transits_.contains(record.key)) co_await transits_.until_ended(record.key);
    const std::optional<Slot> slot = slots_.find(record.key);
    if (!slot) continue;
    // To a fill that was on its way it is another admission.
    if (settings_.write_back) slots_.set_admission(*slot, next_admission());
    frames.push_back(slot_frames_.admission_of_newest(*slot, record));
  }
  co_await frames_.ask_all(std::move(frames));
  --rewriting_;
  if (is_quiet()) snapshot_.quiet();
}

// ---------------------------------------------------------------------------------------------
// Eviction

net::Task<void> Agent::evict(Key key) {
  co_await until_key_may_change(key);
  const std::optional<Slot> slot = slots_.find(key);
  if (!slot) co_return;
  transits_.begin(key);
  slots_.leave(*slot);
  co_await leave(*slot, kNormal);
  slots_.release(*slot);
  end_transit(key);
}

// A slot that is kEntering for `newcomer`; none if all are taken and no key is cached that could
// go.
net::Task<std::vector<Slot>> Agent::make_room(Key newcomer) {
  while (true) {
    if (const auto free = slots_.enter(newcomer)) co_return std::vector<Slot>(1, *free);
    if (slots_.cached() == 0) co_return std::vector<Slot>();
    const std::vector<Slot> sampled = slots_.sample(settings_.victims_sampled, random_);
    std::vector<ControlFrame> questions;
    questions.reserve(sampled.size());
    for (const Slot slot : sampled) questions.push_back(slot_frames_.load(slot));
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
    transits_.begin(key);
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
net::Task<void> Agent::leave(Slot slot, std::uint8_t valid) {
  if (valid != kIgnored) {
    if (settings_.write_back) {
      co_await frames_.ask(slot_frames_.set_valid(slot, kBeingEvicted));
      const ControlFrame loaded = co_await frames_.ask(slot_frames_.load(slot));
      snapshot_.evicted(loaded);
      // An ADMITTED record came from the server; number 0 is what the load has written there.
      if (state_of(loaded.cell) != kAdmitted && number_of(loaded.cell) != 0) {
        co_await write_back(record_of(loaded));
      }
    }
    co_await frames_.ask(slot_frames_.set_valid(slot, kIgnored));
  }
  tell_evicted(slot);
  co_await lookup_.remove(slots_.key(slot));
  // Through the queue of the old key's server: when it is answered, no packet that found the key
  // here is on its way to the slot's registers. A frame that only reads does no harm if a copy of
  // it comes late.
  co_await frames_.ask(slot_frames_.load(slot));
  ++counters_.evicted;
}

// The slot answers nothing any more.
void Agent::tell_evicted(Slot slot) {
  Message told = request(MessageType::kEvicted);
  append_cached({{slots_.key(slot), slots_.admission(slot)}}, told);
  ask_controller_(std::move(told), [](const Message&) {});
}

// Until a server has stored it: the slot may be all there is of the record.
net::Task<void> Agent::write_back(Record record) {
  while (true) {
    Settled stored;
    std::vector<std::uint32_t> numbers;
    if (snapshot_.token() != 0) numbers.push_back(snapshot_.token());
    ask_controller_(request(MessageType::kStore, std::move(numbers), {record}),
                    [&stored](const Message& answer) { stored.complete(answer.text.empty()); });
    if (co_await stored) break;
    ++counters_.store_failures;
    co_await net::wait_for(timers_, kStoreAgainNs);
  }
  ++counters_.written_back;
}

// ---------------------------------------------------------------------------------------------

// Until no admission or eviction of the key is under way, and a snapshot does not forbid another.
net::Task<void> Agent::until_key_may_change(Key key) {
  while (true) {
    if (snapshot_.holds_changes()) {
      co_await snapshot_.until_released();
    } else if (transits_.contains(key)) {
      co_await transits_.until_ended(key);
    } else {
      co_return;
    }
  }
}

void Agent::end_transit(const Key& key) {
  transits_.end(key);
  if (is_quiet()) snapshot_.quiet();
}

}  // namespace turntable::cache
