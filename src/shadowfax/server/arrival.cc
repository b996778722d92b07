#include "shadowfax/server/arrival.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

#include "shadowfax/server/receiver.h"

namespace turntable::shadowfax {

Arrival::Arrival(hybridlog::Store& store, Checkpointer& checkpointer, CompactionGate& gate)
    : store_(store), checkpointer_(checkpointer), gate_(gate) {}

void Arrival::forget_staged() {
  staged_for_ = 0;
  staged_.clear();
}

void Arrival::stage(std::uint64_t id, std::span<const std::uint8_t> records) {
  parsed(records);
  if (id_ == id || id <= ended_) return;  // it comes too late, and will be sent once more
  staged_for_ = id;
  staged_.assign(records.begin(), records.end());
}

void Arrival::begin(const Migration& migration) {
  if (id_ == migration.id || migration.id <= ended_) return;
  if (!id_) gate_.close();
  checkpointer_.pause();
  // A chain that ends at the log's begin says nothing of the range either.
  store_.awaited().begin(migration.range, std::max(migration.receives_from, store_.log().begin()));
  id_ = migration.id;
  receives_from_ = migration.receives_from;
  records_ = staged_records_ = 0;
  has_all_ = is_kept_ = false;
  rest_.reset();
  const std::vector<std::uint8_t> staged = std::exchange(staged_, {});
  if (std::exchange(staged_for_, 0) != migration.id) return;
  try {
    take(staged);
    staged_records_ = records_;
  } catch (const std::runtime_error&) {
    // No room: all is sent once more, until there is.
  }
}

void Arrival::take(std::span<const std::uint8_t> records) {
  const std::vector<MovedRecord> moved = parsed(records);
  if (has_all_) return;  // its source was killed, and sends them again
  Receiver receiver(store_);
  // The time in which this server takes them is none in which their source is silent.
  for (const MovedRecord& record : moved) {
    store_.awaited().heard();
    receiver.take(record);
  }
  receiver.wait_for_all();
  store_.awaited().heard();
  records_ += moved.size();
}

// A checkpoint has an addition that is left, or the record with it. So none is made from where they
// are taken to where all are made: one that is under way has ended (while it is prepared it is
// given up, as the source was heard), and none is begun while nothing is awaited. Indirection
// records count before a key that is not there becomes one that is nowhere.
void Arrival::finish(const std::optional<SourceLog>& rest) {
  if (!has_all_) {
    rest_ = rest;
    store_.awaited().heard();
    checkpointer_.pause([&] {
      if (rest_) store_.elsewhere().begin(*id_, receives_from_);
      std::ranges::move(store_.awaited().end(), std::back_inserter(left_));
    });
    has_all_ = true;
  }
  for (; !left_.empty(); left_.pop_back()) {  // where it fails it is tried again
    Receiver receiver(store_);
    receiver.add(left_.back());
    receiver.wait_for_all();
  }
  if (is_kept_) return;
  checkpointer_.resume();
  checkpointer_.make();
  is_kept_ = true;
}

}  // namespace turntable::shadowfax
