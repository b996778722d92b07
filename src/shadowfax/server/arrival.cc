#include "shadowfax/server/arrival.h"

#include <algorithm>
#include <random>
#include <stdexcept>
#include <thread>

#include "shadowfax/wire.h"

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

  void take(std::uint64_t key, std::uint64_t value, bool is_tombstone) {
    settle(session_.take(key, value, is_tombstone));
  }
  void add(std::uint64_t key, std::uint64_t delta) { settle(session_.add(key, delta)); }
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
    if (status == Status::kOk) return;
    throw std::runtime_error(status == Status::kNoSpace
                                 ? "the store has no room for the records that come"
                                 : "the store's device does not give a record");
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
  if (records.size() % kRecordBytes != 0)
    throw std::invalid_argument("records of " + std::to_string(records.size()) +
                                " bytes; expected a multiple of " + std::to_string(kRecordBytes));
  Receiver receiver(store_);
  const auto* const bytes = reinterpret_cast<const std::byte*>(records.data());
  for (std::size_t at = 0; at < records.size(); at += kRecordBytes) {
    receiver.take(wire::read<std::uint64_t>(bytes + at), wire::read<std::uint64_t>(bytes + at + 8),
                  wire::read<std::uint8_t>(bytes + at + 16) != 0);
  }
  receiver.wait_for_all();
  records_ += records.size() / kRecordBytes;
}

void Arrival::finish() {
  {
    Receiver receiver(store_);
    for (const auto& addition : store_.awaited().end()) receiver.add(addition.key, addition.delta);
    receiver.wait_for_all();
  }
  checkpointer_.resume();
  checkpointer_.make();
}

}  // namespace turntable::shadowfax
