// What the switch has when an agent begins, and what a switch gets back that has been started again
// (docs/kvcache.md §7, §9).
#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "farreach/cache/agent.h"
#include "farreach/cache/switch_image.h"
#include "workload/key.h"

namespace turntable::cache {
namespace {

using State = Slots::State;

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

}  // namespace

// ---------------------------------------------------------------------------------------------
// Adoption

net::Task<void> Agent::adopt() {
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
    if (slots_.state(slot) == State::kEntering) questions.push_back(slot_frames_.load(slot));
  }
  number_adopted();
  counters_.found = questions.size();
  const std::vector<ControlFrame> found = co_await frames_.ask_all(std::move(questions));
  // Free slots may have been freed a moment ago by an agent that did not live to see its last
  // frame.
  co_await drain_all_ports();
  for (const ControlFrame& slot : found) {
    if (slot.valid == kNormal) {
      slots_.entered(slot.slot);
      continue;
    }
    ++counters_.found_in_transit;
    transits_.begin(slots_.key(slot.slot));
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

net::Task<void> Agent::finish_leaving(Slot slot, std::uint8_t valid) {
  const Key key = slots_.key(slot);
  co_await leave(slot, valid);
  slots_.release(slot);
  end_transit(key);
}

// ---------------------------------------------------------------------------------------------
// Recovery

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
net::Task<void> Agent::restore(Message request, Reply reply) {
  if (settings_.write_back) snapshot_.give_up("slots are restored");
  while (!transits_.empty()) co_await transits_.until_ended(transits_.any());
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
      admissions.push_back(slot_frames_.admission_of_newest(*slot, record));
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

}  // namespace turntable::cache
