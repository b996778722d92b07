#include "shadowfax/server/arrival.h"

#include <algorithm>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "shadowfax/server/moved_record.h"

namespace turntable::shadowfax {
namespace {

using hybridlog::Session;
using hybridlog::Status;

std::string drawn_name() {
  std::random_device random;
  const std::uint64_t number = std::uint64_t{random()} << 32U | random();
  return std::to_string(number);
}

// A session with what it needs, for operations that are waited for.
class Receiver {
 public:
  explicit Receiver(hybridlog::Store& store) : thread_(store.epoch()), session_(store, thread_) {
    thread_.protect();
  }

  void take(const MovedRecord& record) {
    settle(session_.take(record.key, record.value, record.is_tombstone));
  }
  void add(const hybridlog::Awaited::Addition& addition) {
    settle(addition.begins_as.empty() ? session_.add(addition.key, addition.delta)
                                      : session_.add_to_value(addition.key, addition.begins_as));
  }
  void wait_for_all() {
    while (session_.pending() > 0) go_on();
  }

 private:
  static constexpr std::size_t kMostPending = 64;

  void settle(Status status) {
    if (status != Status::kPending) require_done(status);
    while (session_.pending() > kMostPending) go_on();
  }
  void go_on() {
    session_.complete_pending(
        [](std::uint64_t, Session::Answer answer) { require_done(answer.status); });
    std::this_thread::yield();
  }
  static void require_done(Status status) {
    switch (status) {
      case Status::kOk:
        return;
      case Status::kNoSpace:
        throw std::runtime_error("the store has no room for the records that come");
      case Status::kWrongSize:
        throw std::runtime_error(
            "a value is longer than this store's; expected pages as large as the source's");
      default:
        throw std::runtime_error("the store's device does not give a record");
    }
  }

  hybridlog::Epoch::Thread thread_;
  Session session_;
};

}  // namespace

Arrival::Arrival(hybridlog::Store& store, Checkpointer& checkpointer, CompactionGate& gate)
    : store_(store), checkpointer_(checkpointer), gate_(gate), incarnation_(drawn_name()) {}

void Arrival::begin(const Migration& migration) {
  if (id_ == migration.id || migration.id <= ended_) return;
  if (!id_) gate_.close();
  checkpointer_.pause();
  // A chain that ends at the log's begin says nothing of the range either.
  store_.awaited().begin(migration.range, std::max(migration.receives_from, store_.log().begin()));
  id_ = migration.id;
  records_ = 0;
}

void Arrival::take(std::span<const std::uint8_t> records) {
  std::vector<MovedRecord> moved;
  for (hybridlog::Bytes rest = std::as_bytes(records); !rest.empty();
       rest = rest.subspan(moved.back().bytes())) {
    const std::optional<MovedRecord> record = next_record(rest);
    if (!record) {
      throw std::invalid_argument("records of " + std::to_string(records.size()) +
                                  " bytes; expected whole ones, not " +
                                  std::to_string(rest.size()) + " bytes at the end");
    }
    moved.push_back(*record);
  }
  Receiver receiver(store_);
  for (const MovedRecord& record : moved) receiver.take(record);
  receiver.wait_for_all();
  records_ += moved.size();
}

void Arrival::finish() {
  {
    Receiver receiver(store_);
    for (const auto& addition : store_.awaited().end()) receiver.add(addition);
    receiver.wait_for_all();
  }
  checkpointer_.resume();
  checkpointer_.make();
}

}  // namespace turntable::shadowfax
