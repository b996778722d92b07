#include "shadowfax/server/arrival.h"

#include <algorithm>
#include <random>
#include <stdexcept>
#include <thread>
#include <unordered_set>
#include <utility>
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

  // The newest record of a key comes first, and must be there before an older one comes.
  void take(const MovedRecord& record) {
    if (waiting_.contains(record.key)) wait_for_all();
    const Status status = session_.take(record.key, record.value, record.is_tombstone);
    if (status == Status::kPending) waiting_.insert(record.key);
    settle(status);
  }
  void add(const hybridlog::Awaited::Addition& addition) {
    settle(addition.begins_as.empty() ? session_.add(addition.key, addition.delta)
                                      : session_.add_to_value(addition.key, addition.begins_as));
  }
  void wait_for_all() {
    while (session_.pending() > 0) go_on();
    waiting_.clear();
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
  std::unordered_set<std::uint64_t> waiting_;  // keys whose records may be pending
};

std::vector<MovedRecord> parsed(std::span<const std::uint8_t> records) {
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
  return moved;
}

}  // namespace

Arrival::Arrival(hybridlog::Store& store, Checkpointer& checkpointer, CompactionGate& gate)
    : store_(store), checkpointer_(checkpointer), gate_(gate), incarnation_(drawn_name()) {}

hybridlog::Address Arrival::prepare() {
  staged_for_ = 0;
  staged_.clear();
  return checkpointer_.make().end;
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
  records_ = staged_records_ = 0;
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
