#include "shadowfax/server/receiver.h"

#include <stdexcept>
#include <string>
#include <thread>

namespace turntable::shadowfax {
namespace {

using hybridlog::Indirection;
using hybridlog::Session;
using hybridlog::Status;

constexpr std::size_t kMostTakes = 64;
constexpr std::uint64_t kAddition = 1;  // a context: of what take() begins it is 0

void require_done(Status status) {
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

}  // namespace

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

void Receiver::take(const MovedRecord& record) {
  if (record.kind == MovedRecord::Kind::kIndirection)
    return settle(session_.point(Indirection::of(record.key, record.value.data())));
  if (waiting_.contains(record.key)) wait_for_all();
  const Status status =
      session_.take(record.key, record.value, record.kind == MovedRecord::Kind::kTombstone);
  if (status == Status::kPending) waiting_.insert(record.key);
  settle(status);
}

void Receiver::add(const hybridlog::Awaited::Addition& addition) {
  const Status status = addition.begins_as.empty()
                            ? session_.add(addition.key, addition.delta, kAddition)
                            : session_.add_to_value(addition.key, addition.begins_as, kAddition);
  settle(status == Status::kWrongSize ? Status::kOk : status);
}

void Receiver::wait_for_all() {
  while (session_.pending() > 0) go_on();
  waiting_.clear();
}

void Receiver::settle(Status status) {
  if (status != Status::kPending) require_done(status);
  while (session_.pending() > kMostTakes) go_on();
}

void Receiver::go_on() {
  session_.complete_pending([](std::uint64_t context, Session::Answer answer) {
    if (context == kAddition && answer.status == Status::kWrongSize) return;
    require_done(answer.status);
  });
  std::this_thread::yield();
}

}  // namespace turntable::shadowfax
